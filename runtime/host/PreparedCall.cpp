// SPDX-License-Identifier: Apache-2.0
// A thread holds a rank during each sweep. All state of a rank, except `finished` and the FIFO counters, is private to
// the holder. A thread holds a rank by an exchange with acquire order, and releases it by a store with release order.
// So each holder sees what earlier holders wrote.
#include "host/PreparedCall.h"

#include "host/BufferArena.h"
#include "host/Executor.h"
#include "host/Transport.h"

#include <algorithm>
#include <thread>

namespace gc3::host {

using namespace core;

namespace {
/// If all ranks together have at least this many bytes, results leave the caches before any thread could read them. So
/// writes bypass the caches.
constexpr uint64_t bytesWorthStreaming = 8 << 20;
/// How long the adversarial order waits for other processes at a time.
constexpr std::chrono::microseconds adversarialSleep{20};
/// Returns the tile size for messages that skip their slots. With longer tiles, ranks wait for each other less often.
/// But tiles must not be too long: each rank reads tiles of all other ranks, and this data should still be in a cache
/// when the rank writes there.
/// An access to another process through the system costs the time of many bytes, so tiles are longer there.
uint64_t sharedTileBytes(const Site &site, bool isMapped) {
  const uint64_t ranks = site.ranks();
  return site.isWhole() || isMapped ? std::max<uint64_t>(64 << 10, (2 << 20) / (ranks * ranks))
                                    : std::max<uint64_t>(256 << 10, (2 << 20) / ranks);
}
} // namespace

LayoutOptions PreparedCall::sharingLayout(LayoutOptions options, const Site &site, bool isMapped) {
  if (options.slotBytes == 0)
    options.slotBytes = sharedTileBytes(site, isMapped);
  return options;
}

Result<std::unique_ptr<PreparedCall>> PreparedCall::prepare(const LoadedProgram &loaded, const Site &site,
                                                            const Request &request, const Options &options) {
  std::unique_ptr<PreparedCall> made(new PreparedCall(loaded, site, options.id));
  if (Outcome outcome = made->build(request, options); !outcome.ok())
    return outcome;
  return made;
}

Outcome PreparedCall::build(const Request &request, const Options &options) {
  name = request.name;
  key = request;
  key.name = name;
  key.send = nullptr, key.recv = nullptr;
  if (key.preMulSum)
    key.preMulSum->factor = {}; // calls can have different factors
  const auto type = static_cast<ElementType>(request.type);
  uint64_t count = request.count;
  LayoutOptions chosen = options.layout;
  const uint64_t bytes = callBytes(program, count, elementSize(type)).value_or(0);
  worthSharing = isWorthSharing(loaded, home, bytes, options.sharingFrom);
  if (worthSharing)
    chosen = sharingLayout(chosen, home, options.isMapped);
  if (std::string problem = layout.compute(program, count, elementSize(type), chosen); !problem.empty())
    return {gc3InvalidArgument, problem};
  if (Padding::needed(program, count)) {
    padded = std::make_unique<Padded>();
    padded->layout = layout;
    if (Outcome outcome = padded->placer.plan(loaded, padded->layout, request); !outcome.ok())
      return outcome;
    if (Outcome outcome = padded->padding.plan(program, request); !outcome.ok())
      return outcome;
    if (std::string problem = layout.compute(program, padded->padding.count(), elementSize(type), chosen);
        !problem.empty())
      return {gc3InvalidArgument, problem};
  }
  if (Outcome outcome = staging.plan(loaded, layout, request); !outcome.ok())
    return outcome;
  if (Outcome outcome = fifos.reserve(home, Run::fifoHeadBytes(program) + layout.fifoBytes); !outcome.ok())
    return outcome;
  if (Outcome outcome = scratchMemory.reserve(home, layout.scratchBytes); !outcome.ok())
    return {outcome.code, "scratch: " + outcome.text};
  parts.reset(new RankPart[program.ranks()]);
  run.emplace(loaded, layout, reduceKernel(type, static_cast<ReduceOp>(request.op)), fifos.data(), scratchMemory.data(),
              home.otherProcesses(), home.hasEnded());
  streams = dataBytes() >= bytesWorthStreaming;
  if (home.transport())
    connectHosts();
  return {};
}

PreparedCall::~PreparedCall() {
  if (mirror)
    home.transport()->detach(*mirror);
}

/// Lets the transport carry the messages of connections between this process and other hosts.
void PreparedCall::connectHosts() {
  const Transport &transport = *home.transport();
  auto made = std::make_unique<Mirror>();
  made->call = ownId;
  for (uint32_t c = 0; c < program.connections().size(); ++c) {
    const ThreadBlockState &sending = run->threadBlocks()[program.connections()[c].sender];
    const uint64_t perCall = sending.sends * layout.tiles;
    const uint32_t sender = sending.rank;
    const uint32_t receiver = run->threadBlocks()[program.connections()[c].receiver].rank;
    if (home.owns(sender) && !home.isOnHost(receiver))
      made->outgoing.push_back(
          {&run->fifo(c), c, transport.processOf(receiver), perCall, std::vector<uint64_t>(layout.fifoSlots)});
    if (home.owns(receiver) && !home.isOnHost(sender))
      made->incoming.push_back({&run->fifo(c), c, transport.processOf(sender), perCall});
  }
  for (OutgoingMirror &end : made->outgoing)
    run->noteSizes(end.connection, end.bytes.data());
  home.transport()->attach(*made);
  mirror = std::move(made);
}

bool PreparedCall::exchange() const {
  return home.transport() && home.transport()->progress();
}

bool PreparedCall::sleepForHosts(std::chrono::steady_clock::time_point deadline) const {
  return home.transport() && home.transport()->sleepUntil(deadline);
}

uint64_t PreparedCall::dataBytes() const {
  uint64_t elements = 0;
  for (const RankLayout &rank : layout.ranks)
    elements += std::max(rank.input.elements, rank.output.elements);
  return elements * layout.elementSize;
}

uint64_t PreparedCall::memoryBytes() const {
  return fifos.size() + scratchMemory.size() + staging.bytes() + (padded ? padded->padding.bytes() : 0) +
         layout.buffers.size() * sizeof(BufferLayout) + program.threadBlockCount() * sizeof(ThreadBlockState) +
         (run ? run->memoryBytes() : 0);
}

Result<Placement> PreparedCall::place(uint32_t rank, const Request &request) const {
  return placer().place(rank, request);
}

bool PreparedCall::hasMemoryFor(uint32_t rank, Placement placement) const {
  return staging.reserved() || !staging.needsReserve(rank, padded ? Placement::Apart : placement);
}

Sharing PreparedCall::sharing(uint32_t rank, Placement placement) const {
  return worthSharing && !padded ? staging.sharing(rank, placement) : Sharing::None;
}

void PreparedCall::meet(uint32_t rank, Placement placement, const Request &request, int process, Sharing sharing) {
  RankMemory memory = staging.memory(rank, placement, request);
  memory.streams = streams && process == 0; // the system copies through the caches
  run->meet(rank, memory, process, sharing);
}

void PreparedCall::discard() {
  fifos.discard();
  scratchMemory.discard();
  staging.discard();
}

void PreparedCall::hold(uint32_t rank) {
  while (!run->tryHold(rank))
    std::this_thread::yield();
}

void PreparedCall::expectAdversary() {
  constexpr std::byte poison{0xcd}; // not zero, and large enough to show in a sum, for every type
  sendsAhead = false;
  if (home.isWhole()) // other processes may have begun to send
    std::fill_n(fifos.data() + Run::fifoHeadBytes(program), layout.fifoBytes, poison);
  for (const uint32_t rank : home.ownRanks())
    std::fill_n(run->scratchOf(rank), layout.ranks[rank].scratchBytes, poison);
}

void PreparedCall::enter(uint32_t rank, uint64_t number, const Request &request, Placement placement) {
  hold(rank);
  if (mirror)
    mirror->lastCall.store(number, std::memory_order_relaxed);
  RankPart &part = parts[rank];
  part.number = number;
  part.open = false;
  part.request = request;
  part.placement = placement;
  part.recording = timeline ? timeline->begin(rank, {number, &program, request.count, layout.tiles}) : nullptr;
  RankMemory memory = padded // padded copies do not overlap
                          ? staging.memory(rank, Placement::Apart, padded->padding.padded(rank, request))
                          : staging.memory(rank, placement, request);
  memory.streams = streams;
  run->start(rank, memory, part.recording);
  if (sendsAhead && !padded && staging.sharing(rank, placement) != Sharing::None) {
    const bool mayBeMapped = !home.isWhole() && arena::place().holds(request.send, request.recv);
    run->sendAhead(rank, sharing(rank, placement) | (mayBeMapped ? Sharing::Mapped : Sharing::None));
  }
  run->release(rank);
}

void PreparedCall::open(uint32_t rank, Sharing sharing) {
  RankPart &part = parts[rank];
  part.open = true;
  ++part.calls;
  if (mirror)
    mirror->begun.store(part.calls, std::memory_order_relaxed);
  if (!worthSharing)
    run->expectMessages(rank);
  if (padded) {
    padded->padding.before(rank, part.request);
    staging.before(rank, Placement::Apart, padded->padding.padded(rank, part.request));
  } else {
    staging.before(rank, part.placement, part.request);
  }
  if (sharing != Sharing::None)
    run->shareMemory(rank, sharing);
}

/// Does nothing if the rank has entered a later call, because it has then ended this one.
bool PreparedCall::sweepHeld(uint32_t rank, uint64_t number, Sharing sharing) {
  RankPart &part = parts[rank];
  if (part.number != number || part.finished.load(std::memory_order_relaxed) >= number)
    return false;
  bool progress = !part.open;
  if (!part.open)
    open(rank, sharing);
  progress |= run->sweep(rank);
  if (run->finished(rank)) {
    part.finished.store(number, std::memory_order_release);
    progress = true;
  }
  return progress;
}

bool PreparedCall::sweep(uint32_t rank, uint64_t number, Sharing sharing) {
  if (!run->tryHold(rank))
    return false;
  bool progress = sweepHeld(rank, number, sharing);
  run->release(rank);
  return progress;
}

void PreparedCall::leave(uint32_t rank) {
  RankPart &part = parts[rank];
  if (padded) {
    staging.after(rank, Placement::Apart, padded->padding.padded(rank, part.request));
    padded->padding.after(rank, part.request);
  } else {
    staging.after(rank, part.placement, part.request);
  }
  if (part.recording)
    part.recording->setEnd(trace::now());
}

void PreparedCall::stop(Outcome why) {
  reason = std::move(why);
  isStopped.store(true, std::memory_order_release);
}

/// If the site is whole, and no thread block can step while this thread holds all ranks, none ever can, because nothing
/// else changes their state. Otherwise another process can.
Outcome PreparedCall::findFailure(Patience &patience) const {
  if (home.isWhole())
    return {gc3Deadlock, run->explainDeadlock()};
  const auto explain = [&] {
    return run->explainWaiting(home.ownRanks(), [&](uint32_t rank) { return home.others().describe(rank); });
  };
  if (Outcome loss = home.findLoss(); !loss.ok())
    return {loss.code, loss.text + explain()};
  const auto now = std::chrono::steady_clock::now();
  const uint64_t messages = run->messagesMoved();
  if (!patience.since || messages != patience.messages)
    patience = {now, messages};
  constexpr std::chrono::seconds forLoss{1}; // an access fails if a process has ended; its loss is noticed later
  if (now - *patience.since < (run->hasFailed() ? forLoss : home.timeLimit()))
    return {};
  if (run->hasFailed())
    return {gc3SystemError, "the system refuses access to the memory of another process" + explain()};
  return {gc3Timeout,
          "no rank has moved a message for " + std::to_string(home.timeLimit().count()) + " ms" + explain()};
}

void PreparedCall::diagnose(uint64_t number, Sharing sharing, Patience &patience) {
  if (diagnosing.exchange(true, std::memory_order_acquire))
    return;
  for (const uint32_t rank : home.ownRanks())
    hold(rank);
  bool progress = stopped(), allFinished = true;
  for (const uint32_t rank : home.ownRanks()) {
    progress |= sweepHeld(rank, number, sharing);
    allFinished &= parts[rank].number != number || finished(rank, number);
  }
  if (!progress && !allFinished)
    if (Outcome failure = findFailure(patience); !failure.ok())
      stop(std::move(failure));
  for (const uint32_t rank : home.ownRanks())
    run->release(rank);
  diagnosing.store(false, std::memory_order_release);
  idleThreads.wake();
}

Outcome PreparedCall::runAdversarial(uint64_t number, Sharing sharing, uint64_t seed) {
  for (const uint32_t rank : home.ownRanks()) {
    hold(rank);
    open(rank, sharing);
  }
  Patience patience;
  Outcome outcome;
  host::runAdversarial(*run, home.ownRanks(), seed, [&] {
    outcome = findFailure(patience);
    const bool hasArrived = exchange();
    if (!home.isWhole() && !hasArrived)
      std::this_thread::sleep_for(adversarialSleep); // another process can go on
    return outcome.ok();
  });
  for (const uint32_t rank : home.ownRanks()) {
    if (outcome.ok()) {
      parts[rank].finished.store(number, std::memory_order_release);
      leave(rank);
    }
    run->release(rank);
  }
  return outcome;
}

} // namespace gc3::host
