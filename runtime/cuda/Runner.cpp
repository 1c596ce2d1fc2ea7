// SPDX-License-Identifier: Apache-2.0
// Computes layout and placements from requests, and then moves and a kernel launch, which it enqueues on a stream.
// Enqueues nothing before all checks have passed.
#include "cuda/Runner.h"

#include <algorithm>

namespace gc3::cuda {

using core::Outcome;
using core::Request;

namespace {

constexpr uint64_t mostMoveBlocks = 4096;

} // namespace

Outcome Runner::prepare() {
  if (Outcome outcome = DeviceLimits::find(cuda).moveTo(deviceLimits); !outcome.ok())
    return outcome;
  Stream stream = nullptr;
  if (Outcome outcome = outcomeOf(cuda, cuda.createStream(&stream), "creating a stream"); !outcome.ok())
    return outcome;
  ownStream = OwnStream(cuda, stream);
  if (Outcome outcome = outcomeOf(cuda, cuda.createStream(&stream), "creating a stream"); !outcome.ok())
    return outcome;
  reportStream = OwnStream(cuda, stream);
  if (Outcome outcome = allocatePinned(cuda, sizeof(uint32_t), "the stop word").moveTo(stopWord); !outcome.ok())
    return outcome;
  auto *word = static_cast<uint32_t *>(stopWord.get());
  *word = 0;
  published = word;
  if (Outcome outcome = createEvent(cuda).moveTo(lastCall); !outcome.ok())
    return outcome;
  calls.start(lastCall.get());
  return {};
}

const GpuProgram *Runner::find(const core::LoadedProgram &program) const {
  for (const auto &known : programs)
    if (&known->loaded() == &program)
      return known.get();
  return nullptr;
}

const GpuProgram &Runner::add(std::unique_ptr<GpuProgram> program) {
  std::lock_guard lock(watchMutex);
  programs.push_back(std::move(program));
  watchdog.add(programs.back()->running());
  return *programs.back();
}

Outcome Runner::plan(const GpuProgram &program, const core::Shape &shape, std::span<const Request> requests,
                     uint64_t capture, Plan &plan) {
  if (capture == failedCapture)
    return {gc3InvalidUsage, "the capture of the stream has failed"};
  if (Outcome outcome = preparedCalls.find(program, shape, requests[0]).moveTo(plan.prepared); !outcome.ok())
    return outcome;
  plan.call = plan.prepared->call;
  plan.launch = plan.prepared->launch;
  plan.capture = capture;
  return placeBuffers(requests, plan);
}

/// Determines the placement of the ranks' buffers and the moves that it requires.
Outcome Runner::placeBuffers(std::span<const Request> requests, Plan &plan) {
  const PreparedLaunch &prepared = *plan.prepared;
  const core::RankRange ranks = prepared.program.ranks();
  plan::CopyPlan copies(prepared.program.loaded(), prepared.layout, requests[0]);
  if (prepared.isPadded())
    copies.pad(prepared.padded);
  plan.placements.resize(ranks.size());
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    const uint32_t r = ranks.first + i;
    const core::Result<core::Placement> placed = prepared.placer.place(r, requests[i]);
    if (!placed.ok())
      return placed.outcome();
    plan.placements[i] = *placed;
    bytes += copies.scratchBytes(r) + copies.privateBytes(r, plan.placements[i], requests[i]);
  }
  const core::Result<std::byte *> reserved = memory.reserve(bytes);
  if (!reserved.ok())
    return reserved.outcome();
  std::byte *next = *reserved;
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    const uint32_t r = ranks.first + i;
    plan.call.memory[i] = copies.planRank(r, plan.placements[i], requests[i], next, plan.moves);
    next += copies.privateBytes(r, plan.placements[i], requests[i]);
    plan.call.memory[i].buffers[static_cast<uint32_t>(kernel::Buffer::Scratch)] = next;
    next += copies.scratchBytes(r);
  }
  return {};
}

Outcome Runner::enqueueMove(plan::StreamMove move, const Plan &plan, Stream stream) {
  const core::ElementType type = plan.prepared->elementType();
  if (move.kind == plan::StreamMove::Kind::Copy)
    return outcomeOf(cuda, cuda.copy(move.to, move.from, move.elements * core::elementSize(type), stream),
                     "copying a buffer");
  const bool multiplies = move.kind == plan::StreamMove::Kind::Multiply;
  uint32_t contributions = plan.prepared->program.loaded().program->info().contributions();
  void *multiply[] = {&move.to, &move.from, &move.elements, &move.factor.bits, &move.factor.address};
  void *divide[] = {&move.to, &move.from, &move.elements, &contributions};
  const uint64_t blocks = (move.elements + threadsPerMoveBlock - 1) / threadsPerMoveBlock;
  return outcomeOf(cuda,
                   cuda.launch({multiplies ? cuda.multiply(type) : cuda.divide(type),
                                static_cast<uint32_t>(std::min(blocks, mostMoveBlocks)), threadsPerMoveBlock,
                                multiplies ? multiply : divide, stream, false}),
                   "launching a kernel");
}

Outcome Runner::enqueueMoves(const std::vector<plan::StreamMove> &moves, const Plan &plan, Stream stream) {
  for (const plan::StreamMove &move : moves)
    if (Outcome outcome = enqueueMove(move, plan, stream); !outcome.ok())
      return outcome;
  return {};
}

Outcome Runner::put(Plan &plan, Stream stream) {
  if (Outcome outcome = enqueueMoves(plan.moves.before, plan, stream); !outcome.ok())
    return outcome;
  if (plan.launch.blocks != 0) {
    plan.call.stop = static_cast<const uint32_t *>(stopWord.get());
    void *arguments[] = {&plan.call};
    plan.launch.arguments = arguments;
    plan.launch.stream = stream;
    if (Outcome outcome = outcomeOf(cuda, plan.prepared->program.start(plan.launch), "launching the interpreter");
        !outcome.ok())
      return outcome;
  }
  return enqueueMoves(plan.moves.after, plan, stream);
}

/// Returns the event after the last call of a capture. Returns null if the capture is not among the latest captures.
Event Runner::lastCallOf(uint64_t capture) const {
  for (const Capture &known : captures)
    if (known.number == capture)
      return known.lastCall.get();
  return nullptr;
}

/// Makes the stream wait for the last call, even if that call was on the same stream handle. A handle does not identify
/// a stream. A new stream can have a destroyed stream's handle, and the per-thread default streams of all threads share
/// one handle. In a capture, the first call waits for calls outside of the capture, and each further call waits for the
/// previous call of the capture.
Outcome Runner::begin(const Plan &plan, Stream stream) {
  if (plan.capture == 0)
    return awaitLastCall(stream);
  if (Event before = lastCallOf(plan.capture))
    return outcomeOf(cuda, cuda.await(stream, before), "waiting for the last call of the capture");
  if (!mixesGraphs)
    return {};
  return outcomeOf(cuda, cuda.awaitExternal(stream, lastCall.get()), "making replays wait for the last call");
}

Outcome Runner::noteCaptured(const Plan &plan, Stream stream) {
  if (mixesGraphs)
    if (Outcome outcome =
            outcomeOf(cuda, cuda.recordExternal(lastCall.get(), stream), "making replays record an event");
        !outcome.ok())
      return outcome;
  Event last = lastCallOf(plan.capture);
  if (!last) {
    core::Result<OwnEvent> fresh = createEvent(cuda);
    if (!fresh.ok())
      return fresh.outcome();
    last = fresh->get();
    captures.push_back({plan.capture, std::move(*fresh)});
    if (captures.size() > mostCaptures)
      captures.pop_front();
  }
  return outcomeOf(cuda, cuda.record(last, stream), "recording an event in a capture");
}

/// Records the event after the call, even if the call was enqueued only in part.
Outcome Runner::end(const Plan &plan, Stream stream, const Outcome &outcome) {
  const Outcome noted = plan.capture != 0 ? noteCaptured(plan, stream)
                                          : outcomeOf(cuda, cuda.record(lastCall.get(), stream), "recording an event");
  if (!noted.ok() && plan.capture == 0)
    markFailed(noted); // no later call could be ordered after this one
  if (plan.capture == 0)
    calls.note();
  return outcome.ok() ? noted : outcome;
}

/// A kernel does not measure copies. It does not measure other moves either, but these are the same for all programs.
void Runner::beginTime(Plan &plan, Stream stream) {
  const auto isCopy = [](const plan::StreamMove &move) { return move.kind == plan::StreamMove::Kind::Copy; };
  const auto hasCopy = [&](const std::vector<plan::StreamMove> &moves) {
    return std::any_of(moves.begin(), moves.end(), isCopy);
  };
  if (plan.byKernel && plan.launch.blocks != 0 && !hasCopy(plan.moves.before) && !hasCopy(plan.moves.after))
    plan.call.times = plan.times->beginKernel(plan.number, plan.launch.blocks);
  if (!plan.call.times)
    plan.times->begin(plan.number, stream);
}

void Runner::endTime(const Plan &plan, Stream stream, bool isEnqueued) {
  if (!isEnqueued)
    plan.times->drop(plan.number);
  else if (!plan.call.times)
    plan.times->end(plan.number, stream);
}

Outcome Runner::enqueue(Plan &plan, Stream stream) {
  return enqueueWith(plan, stream, [&] { return put(plan, stream); });
}

Outcome Runner::awaitLastCall(Stream stream) const {
  return outcomeOf(cuda, cuda.await(stream, lastCall.get()), "waiting for the last call");
}

core::Result<bool> Runner::isIdle() const {
  if (!lastCall.get())
    return true;
  const Result result = cuda.query(lastCall.get());
  if (result == notReady)
    return false;
  if (Outcome outcome = outcomeOf(cuda, result, "running a call"); !outcome.ok() && result != unloading)
    return outcome;
  return true;
}

/// Returns an error that describes what the blocks of the stopped kernel waited for.
Outcome Runner::stallReport(std::span<GpuProgram *const> examined) const {
  const OnDevice device(cuda, deviceLimits.device);
  if (!device.outcome().ok())
    return device.outcome();
  std::string text = "a kernel has not ended in " + std::to_string(timeoutMs) + " ms and was stopped";
  for (GpuProgram *program : examined) {
    const core::Result<std::string> waited = program->stallReport(reportStream.get());
    if (!waited.ok())
      return waited.outcome();
    if (!waited->empty())
      text += "; " + *waited;
  }
  return {gc3Timeout, text};
}

/// Stops a kernel that exceeds the timeout. Returns whether a stopped kernel has ended.
bool Runner::stopStuckKernel(Watchdog::Clock::time_point now) {
  std::lock_guard lock(watchMutex);
  if (watchState != WatchState::Running || !watchdog.isStuck(now))
    return watchState == WatchState::Stopping && watchdog.isIdle();
  stop();
  watchState = WatchState::Stopping;
  failureBeforeStop = currentFailure;
  setFailure({gc3Timeout, "a kernel has not ended in " + std::to_string(timeoutMs) + " ms and is being stopped"});
  return false;
}

/// Stops a stuck kernel before it calls CUDA. An application thread can wait in CUDA for space in a stream with a
/// hanging kernel. CUDA can then block all other calls until that kernel is stopped.
Outcome Runner::watch(Watchdog::Clock::time_point now) {
  const bool hasEnded = stopStuckKernel(now);
  const Outcome queried = isIdle().outcome();
  std::unique_lock lock(watchMutex);
  if (watchState == WatchState::ReadingReports || watchState == WatchState::Failed)
    return currentFailure;
  if (!queried.ok()) {
    watchState = WatchState::Failed;
    failureBeforeStop = currentFailure;
    setFailure(queried);
    return currentFailure;
  }
  if (hasEnded) {
    watchState = WatchState::ReadingReports;
    std::vector<GpuProgram *> examined;
    for (const auto &program : programs)
      examined.push_back(program.get());
    lock.unlock(); // callers of failure() and markFailed() must not wait for CUDA
    const Outcome why = stallReport(examined);
    lock.lock();
    watchState = WatchState::Failed;
    setFailure(why);
  }
  return currentFailure;
}

void Runner::watchOnDevice() {
  cuda.setDevice(deviceLimits.device);
  watch(Watchdog::Clock::now());
}

/// Sets the error to `why`. If there was an error before the stop, keeps its code, and puts its text in front of the
/// new text.
void Runner::setFailure(const Outcome &why) {
  currentFailure =
      failureBeforeStop.ok() ? why : Outcome{failureBeforeStop.code, failureBeforeStop.text + "; " + why.text};
}

void Runner::stop() {
  if (uint32_t *word = published) // null: prepare() was not called, so no kernel runs
    __atomic_store_n(word, 1, __ATOMIC_RELAXED);
}

Outcome Runner::failure() const {
  std::lock_guard lock(watchMutex);
  return currentFailure;
}

void Runner::markFailed(const Outcome &why) {
  std::lock_guard lock(watchMutex);
  if (currentFailure.ok())
    currentFailure = why;
}

} // namespace gc3::cuda
