// SPDX-License-Identifier: Apache-2.0
// List instructions of the machine. New elements count as steps, and live elements count against the list budget. Both
// limits are checked before memory is allocated.
#include "Machine.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::sema;

bool Machine::listBudgetFailure() {
  return fail(DiagId::ListBudget,
              "lists hold more than " + std::to_string(options.maxListElements) + " elements in all here");
}

bool Machine::listInstruction(const Instruction &in, const Instruction *&pc) {
  ListRef *r = listRegisters;
  if (in.op >= Op::GetInt && in.op <= Op::TakeList)
    return getElement(in);
  if (in.op >= Op::SetInt && in.op <= Op::SetList)
    return setElement(in);
  if (in.op >= Op::AppendInt && in.op <= Op::AppendList)
    return appendElement(in);
  if (in.op >= Op::EachInt && in.op <= Op::EachList)
    return eachElement(in, pc);
  if (in.op == Op::ListRange)
    return listRange(in);
  if (in.op == Op::Concat)
    return concat(in);
  if (in.op == Op::MinList || in.op == Op::MaxList)
    return extreme(in);
  if (in.op == Op::LoadParamList && !params[in.b].known)
    return fail(DiagId::NotConstant,
                "param '" + code.paramNames[in.b] + "' has no value yet; params are evaluated in order");
  if (in.op == Op::LoadParamList) {
    r[in.a] = params[in.b].list;
  } else if (in.op == Op::MoveList) {
    r[in.a] = in.extra ? std::move(r[in.b]) : r[in.b];
  } else if (in.op == Op::Length) {
    numbers[in.a] = static_cast<int64_t>(r[in.b].size());
  } else if (in.op == Op::EqualLists) {
    numbers[in.a] = equal(r[in.b], r[in.c]);
    return countSteps(r[in.b].size());
  } else {
    r[in.a].reset(); // NewList
  }
  return true;
}

bool Machine::listRange(const Instruction &in) {
  const int64_t *range = numbers + in.b;
  if (range[2] == 0)
    return fail(DiagId::BadOperand, "a range by 0 has no end");
  bool up = range[2] > 0;
  uint64_t span = 0, step = up ? static_cast<uint64_t>(range[2]) : 0 - static_cast<uint64_t>(range[2]);
  if (up ? range[0] < range[1] : range[0] > range[1])
    span = up ? static_cast<uint64_t>(range[1]) - static_cast<uint64_t>(range[0])
              : static_cast<uint64_t>(range[0]) - static_cast<uint64_t>(range[1]);
  uint64_t count = span / step + (span % step != 0);
  listRegisters[in.a].reset();
  if (count == 0)
    return true;
  List *list = own(listRegisters[in.a], File::Int, count, budget);
  if (!list)
    return listBudgetFailure();
  list->ints.resize(count);
  for (uint64_t i = 0; i < count; ++i)
    list->ints[i] = static_cast<int64_t>(static_cast<uint64_t>(range[0]) + i * static_cast<uint64_t>(range[2]));
  return countSteps(count);
}

bool Machine::appendElement(const Instruction &in) {
  File file = in.op == Op::AppendInt ? File::Int : in.op == Op::AppendChunk ? File::Chunk : File::List;
  List *list = own(listRegisters[in.a], file, 1, budget);
  if (!list)
    return listBudgetFailure();
  if (file == File::Int)
    list->ints.push_back(numbers[in.b]);
  else if (file == File::Chunk)
    list->chunks.push_back(refs[in.b]);
  else
    list->lists.push_back(listRegisters[in.b]);
  return countSteps(1);
}

static std::string outOfRange(int64_t index, size_t size) {
  return "index " + std::to_string(index) + " of a list with " + quantity(size, "element");
}

bool Machine::getElement(const Instruction &in) {
  int64_t index = numbers[in.c];
  ListRef &list = listRegisters[in.b];
  if (index < 0 || static_cast<size_t>(index) >= list.size())
    return fail(DiagId::IndexOutOfRange, outOfRange(index, list.size()));
  auto i = static_cast<size_t>(index);
  if (in.op == Op::GetInt) {
    numbers[in.a] = list.get()->ints[i];
  } else if (in.op == Op::GetChunk) {
    refs[in.a] = list.get()->chunks[i];
  } else if (in.op == Op::GetList) {
    ListRef element = list.get()->lists[i]; // a copy, because the target register can be `list`
    listRegisters[in.a] = std::move(element);
  } else {
    List *owned = own(list, File::List, 0, budget);
    if (!owned)
      return listBudgetFailure();
    ListRef element = std::move(owned->lists[i]);
    listRegisters[in.a] = std::move(element);
  }
  return true;
}

bool Machine::setElement(const Instruction &in) {
  int64_t index = numbers[in.b];
  ListRef &list = listRegisters[in.a];
  if (index < 0 || static_cast<size_t>(index) >= list.size())
    return fail(DiagId::IndexOutOfRange, outOfRange(index, list.size()));
  auto i = static_cast<size_t>(index);
  bool shared = list.get()->references != 1;
  uint64_t copied = shared ? list.size() : 0;
  List *owned = own(list, list.get()->file, 0, budget);
  if (!owned)
    return listBudgetFailure();
  if (in.op == Op::SetInt)
    owned->ints[i] = numbers[in.c];
  else if (in.op == Op::SetChunk)
    owned->chunks[i] = refs[in.c];
  else
    owned->lists[i] = in.extra ? std::move(listRegisters[in.c]) : listRegisters[in.c];
  return countSteps(copied);
}

bool Machine::eachElement(const Instruction &in, const Instruction *&pc) {
  const ListRef &list = listRegisters[in.c];
  auto i = static_cast<size_t>(numbers[in.b]);
  if (i >= list.size())
    return true;
  if (in.op == Op::EachInt) {
    numbers[in.a] = list.get()->ints[i];
  } else if (in.op == Op::EachChunk) {
    refs[in.a] = list.get()->chunks[i];
  } else {
    listRegisters[in.a] = list.get()->lists[i];
  }
  ++numbers[in.b];
  ++pc;
  return true;
}

bool Machine::concat(const Instruction &in) {
  ListRef *r = listRegisters;
  if (in.a == in.c && in.a != in.b) {
    ListRef left = r[in.b];
    if (!countSteps(left.size() + r[in.c].size()))
      return false;
    if (!append(left, r[in.c], budget))
      return listBudgetFailure();
    r[in.a] = std::move(left);
    return true;
  }
  bool inPlace = in.a == in.b && r[in.a].get() && r[in.a].get()->references == 1;
  if (!countSteps(r[in.c].size() + (inPlace ? 0 : r[in.b].size())))
    return false;
  if (in.a != in.b)
    r[in.a] = r[in.b];
  return append(r[in.a], r[in.c], budget) || listBudgetFailure();
}

bool Machine::extreme(const Instruction &in) {
  const ListRef &list = listRegisters[in.b];
  bool isMin = in.op == Op::MinList;
  if (list.size() == 0)
    return fail(DiagId::BadOperand, std::string(isMin ? "min" : "max") + " of an empty list");
  const std::vector<int64_t> &values = list.get()->ints;
  numbers[in.a] =
      isMin ? *std::min_element(values.begin(), values.end()) : *std::max_element(values.begin(), values.end());
  return countSteps(values.size());
}
