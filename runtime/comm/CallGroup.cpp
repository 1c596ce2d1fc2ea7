// SPDX-License-Identifier: Apache-2.0
#include "comm/CallGroup.h"

#include <algorithm>
#include <deque>
#include <map>
#include <thread>

namespace gc3::comm {

using core::Outcome;
using Call = CallGroup::Call;

namespace {

/// A call between Communicator::enter() and leave().
class Entered {
public:
  explicit Entered(Call &call) : call(call) {
    call.outcome = call.comm->enter();
    isInside = call.outcome.ok();
  }
  Entered(Entered &&other) noexcept
      : call(other.call), plan(std::move(other.plan)), capture(other.capture),
        isInside(std::exchange(other.isInside, false)) {}
  ~Entered() {
    if (isInside)
      call.comm->leave();
  }
  Entered(const Entered &) = delete;
  Entered &operator=(const Entered &) = delete;

  cuda::Stream stream() const { return static_cast<cuda::Stream>(call.request.stream); }
  void planCall();
  void enqueue();

  Call &call;
  cuda::Runner::Plan plan;
  uint64_t capture = 0; ///< of the stream; 0: none
  bool isInside;
};
using Round = std::vector<Entered>; ///< one call of each of the thread's ranks of a communicator

/// Other ranks can make a call that fails here, unless that is the caller's mistake.
void note(Call &call, Outcome outcome) {
  call.outcome = std::move(outcome);
  const gc3Result_t code = call.outcome.code;
  if (code != gc3Success && code != gc3InvalidArgument && code != gc3InvalidUsage)
    call.comm->fail(call.outcome);
}

/// All ranks of a communicator capture a call, or none does. A rank that can't query its stream goes by the thread's
/// others, so that it does not load a program alone.
void findCaptures(Round &round) {
  uint64_t ofOthers = 0;
  for (Entered &each : round) {
    const core::Result<uint64_t> capture = each.call.comm->findCapture(each.stream());
    each.call.outcome = capture.outcome();
    each.capture = capture.ok() ? *capture : 0;
    ofOthers = std::max(ofOthers, each.capture);
  }
  for (Entered &each : round)
    if (!each.call.outcome.ok())
      each.capture = ofOthers;
}

bool isLoading(const Round &round) {
  return std::any_of(round.begin(), round.end(), [](const Entered &each) { return each.call.comm->isLoading(); });
}

void Entered::planCall() {
  Communicator &comm = *call.comm;
  if (const Outcome error = comm.status().error; !error.ok()) {
    call.outcome = error;
    return;
  }
  Outcome refusal;
  if (const cuda::GpuProgram *program = comm.loaded(call.program, refusal)) {
    if (call.outcome.ok())
      note(call, comm.plan(*program, call.request, capture, plan));
    else
      note(call, call.outcome);
    return;
  }
  call.isDeclined = true;
  call.outcome = !refusal.ok() ? refusal
                               : Outcome{gc3InvalidUsage, "program '" + comm.programs()->entry(call.program).name() +
                                                              "' can't be loaded while the stream is captured: make "
                                                              "such a call once before"};
}

void Entered::enqueue() {
  if (!call.isDeclined && call.outcome.ok() && call.request.count != 0)
    if (const Outcome outcome = call.comm->enqueue(plan, stream()); !outcome.ok()) {
      call.outcome = outcome;
      call.comm->fail(outcome);
    }
}

/// What comes after calls that NCCL has lost would precede them.
void runDeclined(Round &round, const CallGroup::RunByNccl &runByNccl) {
  std::vector<Call *> declined;
  for (Entered &each : round)
    if (each.call.isDeclined)
      declined.push_back(&each.call);
  if (declined.empty() || !runByNccl)
    return;
  const Outcome outcome = runByNccl(declined);
  for (Call *call : declined)
    call->outcome = outcome;
  if (outcome.code == gc3Timeout)
    for (Entered &each : round)
      each.call.comm->fail({gc3Timeout, "a call that NCCL runs came too late"});
}

Round beginRound(std::span<Call *const> calls) {
  Round round;
  for (Call *call : calls)
    if (Entered entered(*call); entered.isInside)
      round.push_back(std::move(entered));
  findCaptures(round);
  for (const Entered &each : round)
    if (each.capture == 0)
      each.call.comm->beginLoad(each.call.program, each.call.outcome);
  return round;
}

void finishRound(Round &round, const CallGroup::RunByNccl &runByNccl) {
  for (Entered &each : round) // before the first launch: memory that a plan takes can wait for kernels
    each.planCall();
  runDeclined(round, runByNccl);
  for (Entered &each : round)
    each.enqueue();
}

/// The calls on one communicator, by round: the n-th calls of its ranks.
struct Queue {
  std::deque<std::vector<Call *>> rounds;
  std::optional<Round> current;

  bool isDone() const { return rounds.empty() && !current; }
  /// Goes on without waiting for other ranks. False: the program of the current round is still being loaded.
  bool advance(const CallGroup::RunByNccl &runByNccl) {
    if (!current) {
      current = beginRound(rounds.front());
      rounds.pop_front();
    }
    if (isLoading(*current))
      return false;
    finishRound(*current, runByNccl);
    current.reset();
    return true;
  }
};

/// By communicator, in the order of their first calls.
std::deque<Queue> queuesOf(std::span<Call> calls) {
  std::map<uint64_t, size_t> places;
  std::map<const Communicator *, size_t> made;
  std::deque<Queue> queues;
  for (Call &call : calls) {
    const auto [place, isNew] = places.try_emplace(call.comm->id(), queues.size());
    if (isNew)
      queues.emplace_back();
    auto &rounds = queues[place->second].rounds;
    const size_t round = made[call.comm.get()]++;
    if (rounds.size() == round)
      rounds.emplace_back();
    rounds[round].push_back(&call);
  }
  return queues;
}

} // namespace

void joinAll(std::span<const std::shared_ptr<Communicator>> communicators) {
  for (const std::shared_ptr<Communicator> &each : communicators)
    each->beginJoin();
  for (const std::shared_ptr<Communicator> &each : communicators)
    each->awaitJoin();
}

void CallGroup::run(std::span<Call> calls, const RunByNccl &runByNccl) {
  try {
    std::deque<Queue> queues = queuesOf(calls);
    while (!queues.empty()) {
      bool hasMoved = false;
      for (Queue &queue : queues)
        hasMoved |= queue.advance(runByNccl);
      std::erase_if(queues, [](const Queue &queue) { return queue.isDone(); });
      if (!hasMoved)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  } catch (const std::bad_alloc &) {
    for (const Call &call : calls)
      call.comm->fail({gc3SystemError, "no memory"}); // short, so it takes none
    throw;
  }
}

} // namespace gc3::comm
