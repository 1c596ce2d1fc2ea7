// SPDX-License-Identifier: Apache-2.0
// Ranges, strings, and arithmetic that can fail in other ways than overflow.
#include "Machine.h"
#include "llvm/Support/MathExtras.h"

using namespace gc3;
using namespace gc3::sema;

bool Machine::shift(const Instruction &in) {
  int64_t value = numbers[in.b], by = numbers[in.c];
  if (by < 0 || by > 63)
    return fail(DiagId::BadOperand, "shift by " + std::to_string(by) + "; it must be 0 to 63");
  if (in.op == Op::ShiftRight) {
    numbers[in.a] = value >> by;
    return true;
  }
  auto shifted = static_cast<int64_t>(static_cast<uint64_t>(value) << by);
  if (shifted >> by != value)
    return fail(DiagId::Overflow, std::to_string(value) + " << " + std::to_string(by) + " overflows a 64-bit int");
  numbers[in.a] = shifted;
  return true;
}

bool Machine::arithmetic(const Instruction &in) {
  int64_t *r = numbers;
  if (in.op == Op::LoadParam) {
    if (!params[in.b].known)
      return fail(DiagId::NotConstant,
                  "param '" + code.paramNames[in.b] + "' has no value yet; params are evaluated in order");
    r[in.a] = params[in.b].number;
    return true;
  }
  if (in.op == Op::ShiftLeft || in.op == Op::ShiftRight)
    return shift(in);
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  int64_t value = r[in.b];
  if (in.op == Op::Log2) {
    if (value < 1 || !llvm::isPowerOf2_64(static_cast<uint64_t>(value)))
      return fail(DiagId::BadOperand, "log2(" + std::to_string(value) + "): not a power of two");
    r[in.a] = llvm::Log2_64(static_cast<uint64_t>(value));
    return true;
  }
  if (in.op == Op::Negate || in.op == Op::Abs) {
    if (value == least)
      return fail(DiagId::Overflow, "the negative of " + std::to_string(value) + " overflows a 64-bit int");
    r[in.a] = in.op == Op::Abs && value >= 0 ? value : -value;
    return true;
  }
  int64_t divisor = r[in.c];
  if (divisor == 0)
    return fail(DiagId::DivisionByZero,
                std::to_string(value) + (in.op == Op::Divide ? " / 0" : " % 0") + ": division by zero");
  if (divisor == -1) { // INT64_MIN / -1 overflows, and INT64_MIN % -1 traps
    if (in.op == Op::Divide && value == least)
      return fail(DiagId::Overflow, "the quotient overflows a 64-bit int");
    r[in.a] = in.op == Op::Divide ? -value : 0;
    return true;
  }
  int64_t quotient = value / divisor, remainder = value % divisor;
  bool floors = remainder != 0 && (remainder < 0) != (divisor < 0);
  r[in.a] = in.op == Op::Divide ? quotient - floors : remainder + (floors ? divisor : 0);
  return true;
}

static bool isEmptyRange(int64_t first, int64_t last, int64_t step) {
  return step > 0 ? first >= last : first <= last;
}

bool Machine::rangeBegin(const Instruction &in, const Instruction *&pc) {
  const int64_t *range = numbers + in.a;
  if (range[2] == 0)
    return fail(DiagId::BadOperand, "a range by 0 has no end");
  if (isEmptyRange(range[0], range[1], range[2]))
    pc = frames.back().function->code.data() + in.b;
  return true;
}

bool Machine::addString(uint32_t target, const std::string &text) {
  if (text.size() > StringPool::MaxLength)
    return fail(DiagId::ListBudget, "a string longer than " + std::to_string(StringPool::MaxLength) + " bytes");
  numbers[target] = code.strings.add(text);
  if (code.strings.full())
    return fail(DiagId::ListBudget,
                "all strings together are longer than " + std::to_string(StringPool::MaxTotal) + " bytes");
  return true;
}

bool Machine::stringInstruction(const Instruction &in) {
  if (in.op == Op::LengthString) {
    numbers[in.a] = static_cast<int64_t>(code.strings[numbers[in.b]].size());
    return true;
  }
  if (in.op == Op::Format) {
    return addString(in.a, format(code.types[in.c], in.b));
  }
  if (in.op == Op::Join) {
    std::string text;
    for (uint32_t i = 0; i < in.c; ++i)
      text += code.strings[numbers[in.b + i]];
    return countSteps(text.size() / 64) && addString(in.a, text);
  }
  std::string text = code.strings[numbers[in.a]].str();
  if (in.op == Op::FailAssert)
    return fail(DiagId::AssertFailed, text);
  constexpr uint64_t maxRemarks = 1000;
  if (++remarks <= maxRemarks)
    diags.remark(here(), remarks == maxRemarks ? text + " (further remarks of this program are omitted)" : text);
  return true;
}

std::string Machine::formatChunk(const ChunkRef &ref) {
  return chunkRange(ref.index, ref.count) + " of '" + (program ? program->bufferName(ref.buffer) : "") + "' on rank " +
         std::to_string(ref.rank);
}

static std::string formatNumber(Type type, int64_t value, const StringPool &strings, const ir::ProgramInfo *program) {
  if (type.is(Type::Bool))
    return value ? "true" : "false";
  if (type.is(Type::String))
    return strings[value].str();
  if (type.is(Type::Protocol))
    return ir::name(static_cast<ir::Protocol>(value));
  if (!type.is(Type::Buffer))
    return std::to_string(value);
  if (program)
    return program->bufferName(static_cast<ir::BufferId>(value));
  return value == ir::InputBuffer ? "input" : value == ir::OutputBuffer ? "output" : "scratch";
}

void Machine::formatList(std::string &text, Type element, const ListRef &list) {
  text += '[';
  for (size_t i = 0; i < list.size() && text.size() <= StringPool::MaxLength; ++i) {
    text += i == 0 ? "" : ", ";
    if (element.isList())
      formatList(text, element.element(), list.get()->lists[i]);
    else if (element.is(Type::Chunk))
      text += formatChunk(list.get()->chunks[i]);
    else
      text += formatNumber(element, list.get()->ints[i], code.strings, program);
  }
  text += ']';
}

std::string Machine::text(Type type, const ParamValue &value) {
  if (!type.isList())
    return formatNumber(type, value.number, code.strings, nullptr);
  std::string text;
  formatList(text, type.element(), value.list);
  return text;
}

std::string Machine::format(Type type, uint32_t reg) {
  if (type.is(Type::Chunk))
    return formatChunk(refs[reg]);
  if (!type.isList())
    return formatNumber(type, numbers[reg], code.strings, program);
  std::string text;
  formatList(text, type.element(), listRegisters[reg]);
  return text;
}
