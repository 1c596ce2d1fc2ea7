// SPDX-License-Identifier: Apache-2.0
// Passes the clauses of a collective to its builder.
#include "Machine.h"

using namespace gc3;
using namespace gc3::sema;

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
