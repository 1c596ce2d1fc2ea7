// SPDX-License-Identifier: Apache-2.0
// The machine: one flat loop over the instructions of the top frame. Calls of .gc3 functions push a frame and do not
// recurse in C++. A step looks up no names and allocates no memory.
#include "Machine.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::sema;

/// Maximum number of registers of all frames together, in each file.
static constexpr size_t MaxRegisters = size_t(16) << 20;

Machine::Machine(Bytecode &bytecode, Diagnostics &sink, const SemaOptions &semaOptions)
    : code(bytecode), diags(sink), options(semaOptions) {
  budget.limit = options.maxListElements;
  params.resize(code.paramNames.size());
  ints.resize(1);
  chunks.resize(1);
  lists.resize(1);
}

void Machine::beginProgram() {
  resetSteps();
  directiveIds.clear();
  remarks = 0;
}

SourceRange Machine::here() const {
  const Function &function = *frames.back().function;
  return function.ranges[static_cast<size_t>(current - function.code.data())];
}

/// Returns the place of the call that frame `caller` has made. The frame must lie below the top frame.
SourceRange Machine::callIn(const Frame &caller) {
  return caller.function->ranges[static_cast<size_t>(caller.pc - caller.function->code.data())];
}

bool Machine::fail(Failure &failure) {
  size_t calls = frames.size() - 1; // each has a note, except calls inside the standard library
  while (calls != 0 && frames[calls].function->isStandard)
    --calls;
  if (frames[calls].function->isStandard)
    calls = frames.size() - 1;
  bool isInside = calls != frames.size() - 1;
  Diagnostic &diagnostic = diags.error(failure.id, isInside ? callIn(frames[calls]) : here(), failure.message);
  for (const Note &note : failure.notes)
    diagnostic.note(note.range, note.message);
  if (isInside && !frames.back().function->isCollective)
    diagnostic.note(here(), "found here, inside the standard library");
  size_t innermost = calls <= 5 ? calls : 4; // the last four calls of a longer chain, and the first one
  for (size_t i = calls; i-- != 0;) {
    if (i + innermost >= calls || i == 0)
      diagnostic.note(callIn(frames[i]), i + innermost >= calls ? "called from here" : "first called from here");
  }
  return false;
}

bool Machine::fail(DiagId id, std::string message) {
  Failure failure{id, std::move(message)};
  return fail(failure);
}

bool Machine::countSteps(uint64_t count) {
  steps += count;
  return steps <= nextCheck || checkTime();
}

/// Returns false if the run must end: the step budget is used up, or `stops`, which is called every 2^18 steps, returns
/// true.
bool Machine::checkTime() {
  constexpr uint64_t between = 1 << 18;
  if (steps > options.maxSteps)
    return stepFailure();
  nextCheck = std::min(options.maxSteps, steps + between);
  return !options.stops || !options.stops();
}

bool Machine::stepFailure() {
  return fail(DiagId::StepBudget, "more than " + quantity(options.maxSteps, "step") +
                                      "; if this is no endless loop, --max-steps allows more");
}

bool Machine::run(uint32_t function) {
  frames.clear();
  scopes.clear();
  ir::Directive initial;
  initial.parallel = static_cast<uint32_t>(settings.instances);
  initial.parallelSite = settings.instancesRange;
  scopes.push_back({initial, NoRegister});
  current = nullptr;
  bool good = enter(function, {0, 0, 0}) && loop();
  if (!good)
    for (ListRef &list : lists)
      list.reset();
  return good;
}

bool Machine::enter(uint32_t index, const uint32_t (&base)[FileCount]) {
  const Function &function = code.functions[index];
  auto need = [&](File file) {
    return size_t(base[static_cast<size_t>(file)]) + function.registers[static_cast<size_t>(file)] + 1;
  };
  size_t sizes[] = {need(File::Int), need(File::Chunk), need(File::List)};
  if (frames.size() > options.maxCallDepth || *std::max_element(sizes, sizes + FileCount) > MaxRegisters)
    return fail(DiagId::RecursionLimit, "calls nested more than " + std::to_string(frames.size() - 1) +
                                            " deep: does '" + function.name + "' call itself without an end?");
  if (ints.size() < sizes[0])
    ints.resize(std::max(sizes[0], ints.size() * 2));
  if (chunks.size() < sizes[1])
    chunks.resize(std::max(sizes[1], chunks.size() * 2));
  if (lists.size() < sizes[2])
    lists.resize(std::max(sizes[2], lists.size() * 2));
  frames.push_back(
      {&function, function.code.data(), {base[0], base[1], base[2]}, static_cast<uint32_t>(scopes.size())});
  numbers = ints.data() + base[0];
  refs = chunks.data() + base[1];
  listRegisters = lists.data() + base[2];
  return true;
}

/// Removes the top frame, its lists from register `firstList` on, and the directives that it left open.
void Machine::leave(uint32_t firstList) {
  const Frame &top = frames.back();
  for (uint32_t i = firstList; i < top.function->registers[2]; ++i)
    listRegisters[i].reset();
  scopes.resize(top.directives);
  frames.pop_back();
  if (frames.empty())
    return;
  const uint32_t(&base)[FileCount] = frames.back().base;
  numbers = ints.data() + base[0];
  refs = chunks.data() + base[1];
  listRegisters = lists.data() + base[2];
}

bool Machine::call(const Instruction &in, const Instruction *pc) {
  if (!countSteps(1))
    return false;
  const CallSite &site = code.calls[in.a];
  Frame &caller = frames.back();
  caller.pc = pc;
  return enter(site.function,
               {caller.base[0] + site.base[0], caller.base[1] + site.base[1], caller.base[2] + site.base[2]});
}

// Half of the lines are labels of instructions that other functions implement. This function implements moves, simple
// arithmetic and jumps itself, because each of them takes less time than a call.
// NOLINTNEXTLINE(readability-function-size): one switch over all instructions
bool Machine::loop() {
  const Instruction *start = frames.back().function->code.data(); // start of the top frame's code
  const Instruction *pc = start;
  for (;;) {
    current = pc;
    const Instruction &in = *pc++;
    int64_t *r = numbers;
    switch (in.op) {
    case Op::LoadInt: r[in.a] = code.constants[in.b]; break;
    case Op::MoveInt: r[in.a] = r[in.b]; break;
    case Op::MoveChunk: refs[in.a] = refs[in.b]; break;
    case Op::Add:
      if (__builtin_add_overflow(r[in.b], r[in.c], &r[in.a]))
        return fail(DiagId::Overflow, "the sum overflows a 64-bit int");
      break;
    case Op::Subtract:
      if (__builtin_sub_overflow(r[in.b], r[in.c], &r[in.a]))
        return fail(DiagId::Overflow, "the difference overflows a 64-bit int");
      break;
    case Op::Multiply:
      if (__builtin_mul_overflow(r[in.b], r[in.c], &r[in.a]))
        return fail(DiagId::Overflow, "the product overflows a 64-bit int");
      break;
    case Op::Less: r[in.a] = r[in.b] < r[in.c]; break;
    case Op::LessEqual: r[in.a] = r[in.b] <= r[in.c]; break;
    case Op::Equal: r[in.a] = r[in.b] == r[in.c]; break;
    case Op::NotEqual: r[in.a] = r[in.b] != r[in.c]; break;
    case Op::BitAnd: r[in.a] = r[in.b] & r[in.c]; break;
    case Op::BitOr: r[in.a] = r[in.b] | r[in.c]; break;
    case Op::BitXor: r[in.a] = r[in.b] ^ r[in.c]; break;
    case Op::Min: r[in.a] = std::min(r[in.b], r[in.c]); break;
    case Op::Max: r[in.a] = std::max(r[in.b], r[in.c]); break;
    case Op::Not: r[in.a] = !r[in.b]; break;
    case Op::Complement: r[in.a] = ~r[in.b]; break;
    case Op::LoadParam:
    case Op::Divide:
    case Op::Modulo:
    case Op::ShiftLeft:
    case Op::ShiftRight:
    case Op::Negate:
    case Op::Abs:
    case Op::Log2:
      if (!arithmetic(in))
        return false;
      break;
    case Op::Jump: pc = start + in.a; break;
    case Op::JumpIf:
      if (r[in.b])
        pc = start + in.a;
      break;
    case Op::JumpIfNot:
      if (!r[in.b])
        pc = start + in.a;
      break;
    case Op::LoopIf:
      if (!r[in.b])
        break;
      [[fallthrough]];
    case Op::Loop:
      if (++steps > nextCheck && !checkTime())
        return false;
      pc = start + in.a;
      break;
    case Op::RangeBegin:
      if (!rangeBegin(in, pc))
        return false;
      break;
    case Op::RangeNext: {
      int64_t *range = r + in.a;
      if (__builtin_add_overflow(range[0], range[2], &range[0]) ||
          (range[2] > 0 ? range[0] >= range[1] : range[0] <= range[1]))
        break;
      if (++steps > nextCheck && !checkTime())
        return false;
      pc = start + in.b;
      break;
    }
    case Op::Call:
      if (!call(in, current))
        return false;
      pc = start = frames.back().function->code.data();
      break;
    case Op::ReturnInt: r[0] = r[in.a]; goto leaveFrame;
    case Op::ReturnChunk: refs[0] = refs[in.a]; goto leaveFrame;
    case Op::ReturnList:
      if (in.a != 0)
        listRegisters[0] = std::move(listRegisters[in.a]);
      leave(1);
      goto resume;
    case Op::ReturnNone:
    leaveFrame:
      leave(0);
    resume:
      if (frames.empty())
        return true;
      start = frames.back().function->code.data();
      pc = frames.back().pc + 1;
      break;
    case Op::MoveList:
    case Op::LoadParamList:
    case Op::NewList:
    case Op::ListRange:
    case Op::AppendInt:
    case Op::AppendChunk:
    case Op::AppendList:
    case Op::GetInt:
    case Op::GetChunk:
    case Op::GetList:
    case Op::TakeList:
    case Op::SetInt:
    case Op::SetChunk:
    case Op::SetList:
    case Op::EachInt:
    case Op::EachChunk:
    case Op::EachList:
    case Op::Length:
    case Op::Concat:
    case Op::EqualLists:
    case Op::MinList:
    case Op::MaxList:
      if (!listInstruction(in, pc))
        return false;
      break;
    case Op::LengthString:
    case Op::Format:
    case Op::Join:
    case Op::FailAssert:
    case Op::Remark:
      if (!stringInstruction(in))
        return false;
      break;
    case Op::MakeChunk:
    case Op::Copy:
    case Op::Reduce:
    case Op::ChunkRank:
    case Op::ChunkIndex:
    case Op::ChunkCount:
    case Op::ChunkBuffer:
    case Op::Slice:
    case Op::Split:
    case Op::PushChannel:
    case Op::PushParallel:
    case Op::PopDirectives:
      if (!chunkInstruction(in))
        return false;
      break;
    case Op::SetSizes:
    case Op::SetNodes:
    case Op::SetInstances:
    case Op::SetProtocol:
      if (!settingInstruction(in))
        return false;
      break;
    case Op::NameArgument:
    case Op::SetRanks:
    case Op::RankCount:
    case Op::SetShape:
    case Op::SetOwner:
    case Op::SetOwners:
    case Op::SetAlias:
    case Op::ResetValue:
    case Op::JumpIfValue:
    case Op::BeginValue:
    case Op::AddToValue:
    case Op::EndValue:
    case Op::Ensure:
    case Op::EnsureAll:
      if (!collectiveInstruction(in, pc))
        return false;
      break;
    }
  }
}
