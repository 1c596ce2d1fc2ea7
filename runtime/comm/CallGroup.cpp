// SPDX-License-Identifier: Apache-2.0
#include "comm/CallGroup.h"

#include <algorithm>
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
  bool isLoaded() const {
    Outcome refusal;
    return call.comm->loaded(*call.program, refusal) != nullptr;
  }
  void planCall();
  void enqueue();

  Call &call;
  cuda::Runner::Plan plan;
  uint64_t capture = 0; ///< of the stream; 0: none
  bool isInside;
};

/// One call of each of the thread's ranks of a communicator, or all calls up to the next one that a program runs.
struct Round {
  std::span<Call *const> all; ///< in the order of the group
  std::vector<Entered> entered;

  /// Once programs are loaded: NCCL runs a call.
  bool isForNccl() const {
    return std::any_of(all.begin(), all.end(), [](const Call *call) { return call->isDeclined; }) ||
           std::any_of(entered.begin(), entered.end(), [](const Entered &each) { return !each.isLoaded(); });
  }
};

/// Other ranks can make a call that fails here, unless that is the caller's mistake.
void note(Call &call, Outcome outcome) {
  call.outcome = std::move(outcome);
  const gc3Result_t code = call.outcome.code;
  if (code != gc3Success && code != gc3InvalidArgument && code != gc3InvalidUsage)
    call.comm->fail(call.outcome);
}

/// All ranks of a communicator capture a call, or none does. A rank that can't query its stream goes by the thread's
/// others, so that it does not load a program alone.
void findCaptures(std::span<Entered> calls) {
  uint64_t ofOthers = 0;
  for (Entered &each : calls) {
    const core::Result<uint64_t> capture = each.call.comm->findCapture(each.stream());
    each.call.outcome = capture.outcome();
    each.capture = capture.ok() ? *capture : 0;
    ofOthers = std::max(ofOthers, each.capture);
  }
  for (Entered &each : calls)
    if (!each.call.outcome.ok())
      each.capture = ofOthers;
}

void Entered::planCall() {
  Communicator &comm = *call.comm;
  if (const Outcome error = comm.status().error; !error.ok()) {
    call.outcome = error;
    return;
  }
  Outcome refusal;
  if (const cuda::GpuProgram *program = comm.loaded(*call.program, refusal)) {
    if (call.outcome.ok())
      note(call, comm.plan(*program, call.request, capture, plan));
    else
      note(call, call.outcome);
    return;
  }
  call.isDeclined = true;
  call.outcome = !refusal.ok() ? refusal
                               : Outcome{gc3InvalidUsage, "program '" + comm.programs()->entry(*call.program).name() +
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

/// The declined calls that NCCL can get: the application can have freed a communicator that it has aborted meanwhile.
std::vector<Call *> declinedOf(const Round &round) {
  std::vector<Call *> declined;
  for (Call *call : round.all) {
    if (!call->isDeclined)
      continue;
    if (const Outcome error = call->comm->status().error; !error.ok())
      call->outcome = error;
    else
      declined.push_back(call);
  }
  return declined;
}

/// What comes after calls that NCCL has lost would precede them.
void runDeclined(const Round &round, CallGroup::Fallback *fallback) {
  const std::vector<Call *> declined = declinedOf(round);
  if (declined.empty() || !fallback)
    return;
  const Outcome outcome = fallback->run(declined);
  for (Call *call : declined)
    call->outcome = outcome;
  if (outcome.code == gc3Timeout)
    for (const Call *call : round.all)
      call->comm->fail({gc3Timeout, "a call that NCCL runs came too late"});
}

Round beginRound(std::span<Call *const> calls) {
  Round round{calls, {}};
  for (Call *call : calls)
    if (!call->isDeclined)
      if (Entered entered(*call); entered.isInside)
        round.entered.push_back(std::move(entered));
  findCaptures(round.entered);
  for (const Entered &each : round.entered)
    if (each.capture == 0)
      each.call.comm->beginLoad(*each.call.program, each.call.outcome);
  return round;
}

void finishRound(Round &round, CallGroup::Fallback *fallback) {
  for (Entered &each : round.entered) // before the first launch: memory that a plan takes can wait for kernels
    each.planCall();
  runDeclined(round, fallback);
  for (Entered &each : round.entered)
    each.enqueue();
}

/// The calls on one communicator, by round. Until its ranks have joined, each has a queue of its own.
class Queue {
public:
  explicit Queue(Communicator *comm) : comm(comm) {}
  void add(Call &call) { rounds.push_back({&call}); }
  bool isDone() const { return next == rounds.size(); }

  /// Begins to join, unless a call is captured: nothing can be created meanwhile.
  void beginJoin();
  /// Chooses programs once the rank has joined, or can't.
  void decide(CallGroup::Fallback *fallback);
  bool hasJoined() const { return joined; }
  /// True if this queue must wait until `other` has joined, as both can be of one communicator.
  bool mayHave(const Queue &other) const { return !other.joined && isTogetherWith(other); }
  /// Takes over the calls of other ranks of the communicator.
  bool absorb(Queue &other);
  /// True if the current round of `other`, which comes later in the group, must wait for this queue: calls share a
  /// stream, or NCCL runs that round.
  bool precedes(const Queue &other) const;
  /// Begins the next round, if there is none. True: the round can be finished.
  bool isReady();
  void finish(CallGroup::Fallback *fallback) {
    finishRound(*current, fallback);
    current.reset();
    ++next;
  }

private:
  /// Communicators that are not known to differ count as one. NCCL runs their calls.
  bool isTogetherWith(const Queue &other) const {
    return comm->mayBeTogetherWith(*other.comm) && other.comm->mayBeTogetherWith(*comm);
  }

  bool sharesStream(const Queue &other) const;
  void mergeDeclined();

  Communicator *comm; ///< one of its ranks
  std::vector<std::vector<Call *>> rounds;
  size_t next = 0; ///< round
  std::optional<Round> current;
  bool joined = false;
};

void Queue::beginJoin() {
  if (comm->status().phase != Phase::Unready)
    return;
  const bool isCaptured = std::any_of(rounds.begin(), rounds.end(), [&](const std::vector<Call *> &round) {
    const core::Result<uint64_t> capture = comm->findCapture(static_cast<cuda::Stream>(round.front()->request.stream));
    return capture.ok() && *capture != 0;
  });
  if (!isCaptured)
    comm->beginJoin();
}

void Queue::decide(CallGroup::Fallback *fallback) {
  if (joined || comm->isJoining())
    return;
  joined = true;
  const Outcome error = comm->status().error;
  for (const std::vector<Call *> &round : rounds)
    for (Call *call : round) {
      call->outcome = error;
      if (error.ok() && !call->program && fallback)
        call->program = fallback->choose(*call);
      call->isDeclined = error.ok() && !call->program;
    }
}

bool Queue::absorb(Queue &other) {
  if (!other.joined || !isTogetherWith(other))
    return false;
  rounds.resize(std::max(rounds.size(), other.rounds.size()));
  for (size_t round = 0; round < other.rounds.size(); ++round) {
    rounds[round].insert(rounds[round].end(), other.rounds[round].begin(), other.rounds[round].end());
    std::sort(rounds[round].begin(), rounds[round].end()); // they are parts of one array
  }
  return true;
}

/// A call that NCCL runs can wait in NCCL for other ranks, so ranks make such calls in one order: that of the group.
bool Queue::precedes(const Queue &other) const {
  return !isDone() && (other.current->isForNccl() || sharesStream(other));
}

bool Queue::sharesStream(const Queue &other) const {
  for (size_t round = next; round < rounds.size(); ++round)
    for (const Call *mine : rounds[round])
      for (const Call *theirs : other.rounds[other.next])
        if (mine->request.stream == theirs->request.stream)
          return true;
  return false;
}

/// NCCL gets its calls in one group, as the application has made them.
void Queue::mergeDeclined() {
  const auto isDeclined = [](const std::vector<Call *> &round) {
    return std::all_of(round.begin(), round.end(), [](const Call *call) { return call->isDeclined; });
  };
  std::vector<Call *> &merged = rounds[next];
  while (next + 1 < rounds.size() && isDeclined(merged) && isDeclined(rounds[next + 1])) {
    merged.insert(merged.end(), rounds[next + 1].begin(), rounds[next + 1].end());
    rounds.erase(rounds.begin() + static_cast<ptrdiff_t>(next) + 1);
  }
  std::sort(merged.begin(), merged.end());
}

bool Queue::isReady() {
  if (!current) {
    mergeDeclined();
    current = beginRound(rounds[next]);
  }
  return std::none_of(current->entered.begin(), current->entered.end(),
                      [](const Entered &each) { return each.call.comm->isLoading(); });
}

/// In the order of their first calls.
std::vector<Queue> queuesOf(std::span<Call> calls) {
  std::map<const Communicator *, size_t> places;
  std::vector<Queue> queues;
  for (Call &call : calls) {
    const auto [place, isNew] = places.try_emplace(call.comm.get(), queues.size());
    if (isNew)
      queues.emplace_back(call.comm.get());
    queues[place->second].add(call);
  }
  return queues;
}

/// Goes on with the queue at `index` without waiting for other ranks. False: it has to wait.
bool advance(std::vector<Queue> &queues, size_t index, CallGroup::Fallback *fallback) {
  Queue &queue = queues[index];
  const auto first = queues.begin(), here = first + static_cast<ptrdiff_t>(index);
  if (!queue.hasJoined() || std::any_of(first, queues.end(), [&](const Queue &other) { return queue.mayHave(other); }))
    return false;
  queues.erase(std::remove_if(here + 1, queues.end(), [&](Queue &other) { return queue.absorb(other); }), queues.end());
  if (!queue.isReady() || std::any_of(first, here, [&](const Queue &other) { return other.precedes(queue); }))
    return false;
  queue.finish(fallback);
  return true;
}

} // namespace

void CallGroup::run(std::span<Call> calls, Fallback *fallback) {
  try {
    std::vector<Queue> queues = queuesOf(calls);
    for (Queue &queue : queues)
      queue.beginJoin();
    while (!queues.empty()) {
      for (Queue &queue : queues)
        queue.decide(fallback);
      bool hasMoved = false;
      for (size_t index = 0; index < queues.size(); ++index)
        hasMoved |= advance(queues, index, fallback);
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
