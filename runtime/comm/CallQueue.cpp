// SPDX-License-Identifier: Apache-2.0
#include "comm/CallQueue.h"

#include <algorithm>

namespace gc3::comm {

using core::Outcome;
using Call = GroupedCall;
using State = Call::State;

EnteredCall::EnteredCall(Call &call) : call(call), fixedState(call.state), fixedProgram(call.program) {
  const Outcome outcome = call.comm->enter();
  inside = outcome.ok();
  if (!inside)
    call.fail(outcome);
}

/// Either all ranks of a communicator capture a call, or none does. If gc3 can't query a rank's stream, it assumes for
/// that stream what holds for the streams of the thread's other ranks. Otherwise this rank could load a program that
/// the other ranks do not load.
void EnteredCall::findCaptures(std::span<EnteredCall> calls) {
  uint64_t othersCapture = 0;
  for (EnteredCall &each : calls) {
    const core::Result<uint64_t> capture = each.call.comm->findCapture(each.stream());
    each.error = capture.outcome();
    each.capture = capture.ok() ? *capture : 0;
    othersCapture = std::max(othersCapture, each.capture);
  }
  for (EnteredCall &each : calls)
    if (!each.error.ok())
      each.capture = othersCapture;
}

void EnteredCall::setArm(const core::Arm &arm) {
  call.state = arm.program == ProgramTable::ncclArm ? State::Nccl : State::Program;
  call.program = arm.program == ProgramTable::ncclArm ? 0 : arm.program;
  call.shape = arm.shape;
}

/// Keeps the fixed program if the chosen one can't run a call of this size. A captured call is not in the log, because
/// its graph keeps its choice; it can have only a program that is loaded.
void EnteredCall::choose() {
  if (!call.isOnline())
    return;
  const Communicator::Status status = call.comm->status();
  if (status.phase != Phase::Ready)
    return call.fail(status.error.ok() ? Outcome{gc3InvalidUsage, "the communicator was finalized or destroyed"}
                                       : status.error);
  OnlineRank &online = *call.comm->online();
  const bool isLogged = capture == 0;
  const core::Arm chosen = isLogged ? online.choose(call.kind, call.request) : online.favourite(call.kind);
  Outcome refusal;
  if (chosen.program != ProgramTable::ncclArm) {
    const ProgramTable &programs = *call.comm->programs();
    if (!programs.checkCall(programs.entry(chosen.program), call.request).ok() ||
        (capture != 0 && !call.comm->loaded(chosen.program, refusal)))
      return;
  }
  setArm(chosen);
  if (isLogged)
    timed = online.timed();
}

bool EnteredCall::replaceRefused() {
  Outcome refusal;
  if (!call.isOnline() || call.state != State::Program || call.comm->loaded(call.program, refusal) || refusal.ok())
    return false;
  call.comm->online()->exclude(call.program);
  timed.reset();
  const bool wasFixed = fixedState == State::Program && fixedProgram == call.program;
  call.state = fixedState, call.program = fixedProgram, call.shape = {};
  return !wasFixed;
}

void EnteredCall::beginLoad() const {
  if (capture == 0 && call.state == State::Program)
    call.comm->beginLoad(call.program, error);
}

bool EnteredCall::isLoaded() const {
  Outcome refusal;
  return call.state == State::Program && call.comm->loaded(call.program, refusal) != nullptr;
}

/// Fails the call if `outcome` is an error. Unless the error is the caller's mistake, also fails the communicator,
/// because other ranks may run the call.
void EnteredCall::failOn(Outcome outcome) {
  if (outcome.ok())
    return;
  if (outcome.code != gc3InvalidArgument && outcome.code != gc3InvalidUsage)
    call.comm->fail(outcome);
  call.fail(std::move(outcome));
}

void EnteredCall::planCall() {
  Communicator &comm = *call.comm;
  if (call.state != State::Program)
    return;
  if (const Outcome failed = comm.status().error; !failed.ok())
    return call.fail(failed);
  Outcome refusal;
  if (const cuda::GpuProgram *program = comm.loaded(call.program, refusal))
    return failOn(error.ok() ? comm.plan(*program, call.shape, call.request, capture, plan) : error);
  if (refusal.ok() && capture == 0)
    return call.fail({gc3InvalidUsage, "the communicator was finalized while it loaded the program"});
  call.fallBack(!refusal.ok() ? refusal
                              : Outcome{gc3InvalidUsage, "program '" + comm.programs()->entry(call.program).name() +
                                                             "' cannot be loaded while the stream is captured; make "
                                                             "one such call before the capture"});
}

void EnteredCall::enqueue() {
  if (call.state != State::Program || call.request.count == 0)
    return;
  if (timed)
    plan.times = &call.comm->online()->times(), plan.number = *timed, plan.byKernel = call.kind.byKernel;
  if (const Outcome outcome = call.comm->enqueue(plan, stream()); !outcome.ok()) {
    call.comm->fail(outcome);
    call.fail(outcome);
  }
}

void EnteredCall::beginNccl() const {
  if (isRunByNccl() && timed)
    call.comm->beginTime(*timed, stream());
}

void EnteredCall::endNccl() const {
  if (isRunByNccl() && timed)
    call.comm->endTime(*timed, stream());
}

bool CallQueue::mayShareCommunicator(const CallQueue &other) const {
  for (const Communicator *mine : comms)
    for (const Communicator *theirs : other.comms)
      if (mine->mayShareCommunicator(*theirs) && theirs->mayShareCommunicator(*mine))
        return true;
  return false;
}

void CallQueue::beginJoin() {
  Communicator *comm = comms.front();
  if (comm->status().phase != Phase::Unready)
    return;
  const bool isCaptured = std::any_of(rounds.begin(), rounds.end(), [&](const Round &round) {
    const core::Result<uint64_t> capture = comm->findCapture(static_cast<cuda::Stream>(round.front()->request.stream));
    return capture.ok() && *capture != 0;
  });
  if (!isCaptured)
    comm->beginJoin();
}

static void decideCall(Call &call, const Outcome &error, CallFallback *fallback) {
  if (!error.ok())
    return call.fail(error);
  if (call.state != State::Undecided)
    return;
  call.set(fallback ? fallback->choose(call) : CallChoice{});
}

void CallQueue::decide(Fallback *fallback) {
  if (joined || comms.front()->isJoining())
    return;
  joined = true;
  const Outcome error = comms.front()->status().error;
  for (const Round &round : rounds)
    for (Call *call : round)
      decideCall(*call, error, fallback);
}

bool CallQueue::merge(CallQueue &other) {
  if (!other.joined || !mayShareCommunicator(other))
    return false;
  comms.insert(comms.end(), other.comms.begin(), other.comms.end());
  rounds.resize(std::max(rounds.size(), other.rounds.size()));
  for (size_t round = 0; round < other.rounds.size(); ++round)
    rounds[round].insert(rounds[round].end(), other.rounds[round].begin(), other.rounds[round].end());
  return true;
}

/// NCCL can block in a call until other ranks make the same call. So all ranks make NCCL's calls in the group's order.
bool CallQueue::precedes(const CallQueue &other) const {
  return !isDone() && (other.isForNccl() || sharesStream(other));
}

bool CallQueue::sharesStream(const CallQueue &other) const {
  for (size_t round = next; round < rounds.size(); ++round)
    for (const Call *mine : rounds[round])
      for (const Call *theirs : other.rounds[other.next])
        if (mine->request.stream == theirs->request.stream)
          return true;
  return false;
}

/// Returns true if NCCL runs at least one call of the current round. Call after the round's programs are loaded or
/// refused.
bool CallQueue::isForNccl() const {
  const Round &round = rounds[next];
  return std::any_of(round.begin(), round.end(), [](const Call *call) { return call->state == State::Nccl; }) ||
         std::any_of(entered.begin(), entered.end(), [](const EnteredCall &each) { return !each.isLoaded(); });
}

/// Sorts round `next` into the group's order. If NCCL runs this round, first merges the following rounds that NCCL runs
/// into it, because NCCL gets them as one NCCL group.
void CallQueue::arrangeRound() {
  const auto isRunByNccl = [](const Round &round) {
    return std::all_of(round.begin(), round.end(),
                       [](const Call *call) { return call->state == State::Nccl && !call->isOnline(); });
  };
  Round &merged = rounds[next];
  while (next + 1 < rounds.size() && isRunByNccl(merged) && isRunByNccl(rounds[next + 1])) {
    merged.insert(merged.end(), rounds[next + 1].begin(), rounds[next + 1].end());
    rounds.erase(rounds.begin() + static_cast<ptrdiff_t>(next) + 1);
  }
  std::sort(merged.begin(), merged.end()); // by address, since all calls are in one array, in the group's order
}

void CallQueue::beginRound() {
  arrangeRound();
  for (Call *call : rounds[next])
    if (call->state == State::Program || (call->state == State::Nccl && call->isOnline()))
      if (EnteredCall each(*call); each.isInside())
        entered.push_back(std::move(each));
  EnteredCall::findCaptures(entered);
}

/// Chooses the programs of the round, and makes the executors load them. Returns false if a choice must still wait.
bool CallQueue::chooseRound() {
  bool isAwaiting = false;
  for (const EnteredCall &each : entered) // asks all, because this also makes waits end sooner
    isAwaiting |= each.isAwaitingTimes();
  if (isAwaiting)
    return false;
  for (EnteredCall &each : entered) {
    each.choose();
    each.beginLoad();
  }
  return true;
}

/// Returns true if a call could make the ranks load a program.
static bool mayLoad(const Call &call) {
  if (!call.isOnline())
    return call.state != State::Nccl;
  const std::vector<core::Arm> &arms = call.kind.family->arms;
  return std::any_of(arms.begin(), arms.end(), [&](const core::Arm &arm) {
    Outcome refusal;
    return arm.program != ProgramTable::ncclArm && !call.comm->loaded(arm.program, refusal) && refusal.ok();
  });
}

/// Merges a round that NCCL runs into the next round, because NCCL gets consecutive calls as one NCCL group. The calls
/// have no times then. Returns false if there is no next round, if programs run calls of this one, or if the next one
/// could load a program: another rank can wait for the end of this round before it loads.
bool CallQueue::mergeIntoNext() {
  Round &round = rounds[next];
  const bool isForNccl =
      std::all_of(round.begin(), round.end(), [](const Call *call) { return call->state == State::Nccl; });
  if (!isForNccl || next + 1 == rounds.size() ||
      std::any_of(rounds[next + 1].begin(), rounds[next + 1].end(), [](const Call *call) { return mayLoad(*call); }))
    return false;
  entered.clear();
  for (Call *call : round)
    call->kind = {}; // it is chosen
  rounds[next + 1].insert(rounds[next + 1].begin(), round.begin(), round.end());
  rounds.erase(rounds.begin() + static_cast<ptrdiff_t>(next));
  return true;
}

/// Chooses what runs the next round. Returns false if a choice must still wait.
bool CallQueue::chooseNext() {
  do {
    if (stage == Stage::Waiting)
      beginRound();
    stage = Stage::Choosing;
    if (!chooseRound())
      return false;
    stage = Stage::Waiting;
  } while (mergeIntoNext());
  stage = Stage::Loading;
  return true;
}

bool CallQueue::isReady() {
  if (stage != Stage::Loading && !chooseNext())
    return false;
  if (std::any_of(entered.begin(), entered.end(), [](const EnteredCall &each) { return each.isLoading(); }))
    return false;
  bool isReady = true;
  for (EnteredCall &each : entered)
    if (each.replaceRefused()) {
      each.beginLoad();
      isReady = false;
    }
  return isReady;
}

/// Returns the calls of the round that NCCL runs, except those on failed or aborted communicators. Fails these calls
/// instead: the application may already have freed an aborted communicator.
static std::vector<Call *> callsForNccl(std::span<Call *const> round) {
  std::vector<Call *> ncclCalls;
  for (Call *call : round)
    if (call->state == State::Nccl) {
      if (const Outcome error = call->comm->status().error; !error.ok())
        call->fail(error);
      else
        ncclCalls.push_back(call);
    }
  return ncclCalls;
}

/// Makes NCCL run those calls of the round that no program runs. If this rank drops the calls after a timeout, its
/// communicators fail. Otherwise NCCL would match the dropped calls of other ranks with later calls of this rank.
static void runByNccl(std::span<Call *const> round, CallFallback *fallback) {
  const std::vector<Call *> ncclCalls = callsForNccl(round);
  if (ncclCalls.empty() || !fallback)
    return;
  const Outcome outcome = fallback->run(ncclCalls);
  for (Call *call : ncclCalls)
    call->outcome = outcome;
  if (outcome.code == gc3Timeout)
    for (const Call *call : round)
      call->comm->fail({gc3Timeout, "a call that NCCL runs reached the timeout"});
}

void CallQueue::enqueueRound(Fallback *fallback) {
  for (EnteredCall &each : entered) // before any launch: planning allocates memory, which can wait for kernels
    each.planCall();
  for (const EnteredCall &each : entered)
    each.beginNccl();
  runByNccl(rounds[next], fallback);
  for (const EnteredCall &each : entered)
    each.endNccl();
  for (EnteredCall &each : entered)
    each.enqueue();
  entered.clear();
  stage = Stage::Waiting;
  ++next;
}

} // namespace gc3::comm
