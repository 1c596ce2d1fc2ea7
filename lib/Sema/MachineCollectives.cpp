// SPDX-License-Identifier: Apache-2.0
// Passes the arguments and clauses of a collective to its builder.
#include "Machine.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace gc3;
using namespace gc3::sema;

static std::string hashed(llvm::StringRef text) {
  return "#" + llvm::utohexstr(llvm::xxHash64(text), true);
}

/// Appends a number, bool, protocol or string as .gc3 writes it, and a buffer as a number.
static void writeScalar(std::string &text, Type type, int64_t value, const StringPool &strings) {
  if (type.is(Type::Bool)) {
    text += value ? "true" : "false";
  } else if (type.is(Type::Protocol)) {
    text += ir::name(static_cast<ir::Protocol>(value));
  } else if (type.is(Type::String)) {
    text += '"';
    for (const char c : strings[value])
      (text += c == '"' || c == '\\' ? "\\" : "") += c;
    text += '"';
  } else {
    text += std::to_string(value);
  }
}

/// Appends the list without blanks. Replaces long texts by their hash. Returns false if that exceeds the step budget.
bool Machine::writeList(std::string &text, Type element, const ListRef &list) {
  text += '[';
  for (size_t i = 0; i < list.size(); ++i) {
    text += i == 0 ? "" : ",";
    if (!element.isList())
      writeScalar(text, element, list.get()->ints[i], code.strings);
    else if (!writeList(text, element.element(), list.get()->lists[i]))
      return false;
    if (text.size() > StringPool::MaxLength) {
      if (!countSteps(text.size() / 8))
        return false;
      text = hashed(text);
    }
  }
  text += ']';
  return true;
}

/// Adds an argument to the form of the collective. If its text is long, or has other characters than printable ASCII,
/// the form has a hash of it.
bool Machine::nameArgument(const Instruction &in) {
  static constexpr size_t longest = 256;
  const Type type = code.types[in.c];
  std::string value;
  if (!type.isList())
    writeScalar(value, type, numbers[in.a], code.strings);
  else if (!writeList(value, type.element(), listRegisters[in.a]))
    return false;
  if (value.size() > longest || value[0] == '#' || !llvm::all_of(value, llvm::isPrint))
    value = hashed(value);
  collective->addArgument(code.strings[in.b].str() + " = " + value);
  return true;
}

bool Machine::setOwners(const Instruction &in) {
  std::vector<int64_t> owners;
  if (in.op == Op::SetOwner)
    owners.push_back(numbers[in.a]);
  else if (const List *list = listRegisters[in.a].get())
    owners = list->ints;
  return collective->setOwners(in.extra, owners);
}

bool Machine::collectiveInstruction(const Instruction &in, const Instruction *&pc) {
  const int64_t *r = numbers;
  bool good = true;
  if (in.op == Op::AddToValue)
    good = collective->addToValue(r[in.a], r[in.b]);
  else if (in.op == Op::Ensure)
    good = collective->ensure(r[in.a], r[in.b], here());
  else if (in.op == Op::EnsureAll)
    good = collective->ensureAll(r[in.a], r[in.a + 1], r[in.a + 2], r[in.b], here());
  else if (in.op == Op::JumpIfValue)
    pc = collective->hasValue() ? frames.back().function->code.data() + in.a : pc;
  else if (in.op == Op::ResetValue)
    collective->resetValue();
  else if (in.op == Op::BeginValue)
    collective->beginValue();
  else if (in.op == Op::EndValue)
    collective->endValue();
  else if (in.op == Op::NameArgument)
    return nameArgument(in);
  else if (in.op == Op::SetRanks)
    good = collective->setRanks(r[in.a]);
  else if (in.op == Op::RankCount)
    numbers[in.a] = collective->ranks();
  else if (in.op == Op::SetShape)
    good = collective->setShape(in.extra, in.a == NoRegister ? 1 : r[in.a], r[in.b]);
  else if (in.op == Op::SetAlias)
    good = collective->setAlias(in.extra, r[in.a], r[in.a + 1], r[in.a + 2], r[in.a + 3]);
  else
    good = setOwners(in);
  return good || fail(collective->failure);
}
