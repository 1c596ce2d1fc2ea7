// SPDX-License-Identifier: Apache-2.0
// A program is loaded on the GPU at its first call, and has its own connections. Programs need not share connections:
// all ranks run a call in one launch, so no rank is in the next program while another rank is in the previous one.
#include "cuda/LoopbackWorld.h"

#include "core/LearnedTimes.h"
#include "core/Log.h"

#include <thread>

namespace gc3::cuda {

using core::Outcome;
using core::Request;

core::Result<std::unique_ptr<LoopbackWorld>> LoopbackWorld::make(const Cuda &cuda, const bundle::BundleFile &file,
                                                                 uint32_t ranks, const Options &options) {
  if (Outcome outcome = check(options); !outcome.ok())
    return outcome;
  const bundle::BundleFile *const files[] = {&file};
  if (Outcome outcome = core::checkForms(ranks, files); !outcome.ok())
    return outcome;
  if (Outcome outcome = core::checkNodes(options.choice.nodes, ranks); !outcome.ok())
    return outcome;
  core::Result<core::Choice> choice = core::Choice::make(options.choice, files);
  if (!choice.ok())
    return choice.outcome();
  std::unique_ptr<LoopbackWorld> made(new LoopbackWorld(cuda, file, ranks, options, std::move(*choice)));
  const core::Wiring wiring = core::Wiring::ofBlocks(ranks, std::max(1U, static_cast<uint32_t>(options.choice.nodes)));
  core::logWiring(files, ranks, wiring, options.choice.name);
  made->selection.setWiring(wiring);
  if (Outcome outcome = made->runner.prepare(); !outcome.ok())
    return outcome;
  if (Outcome outcome = made->startOnline(file); !outcome.ok())
    return outcome;
  if (options.choice.tunerTimes) {
    made->measured.emplace(cuda, options.choice, ranks, -1);
    if (Outcome outcome = made->measured->prepare(); !outcome.ok())
      return outcome;
  }
  if (options.trace)
    made->recorder.emplace(cuda, *options.trace, core::RankRange{0, ranks});
  if (made->recorder)
    if (Outcome outcome = made->recorder->readClock(made->runner.stream()); !outcome.ok())
      return outcome;
  return made;
}

/// Returns the slot sizes of a program's connections, which are all on this GPU.
static plan::SlotSizes chooseSlots(const core::Program &program, const Options &options) {
  SlotNeeds needs;
  needs.add(program);
  needs.connections = program.connections().size();
  const auto protocol =
      options.simple ? kernel::Protocol::Simple : static_cast<kernel::Protocol>(program.info().protocol());
  return chooseSlots(protocol, needs, options);
}

Outcome LoopbackWorld::startOnline(const bundle::BundleFile &file) {
  if (!options.tune.isOnline)
    return {};
  const std::string machine = "one GPU: " + runner.limits().machine();
  const auto differ = [this](const core::Arm &arm, uint32_t elementBytes, uint64_t bytes) {
    const core::Program &program = *selection.programOf(arm.program);
    const plan::SlotSizes sizes = chooseSlots(program, options);
    return shapeDiffers(program, sizes, options.tuned(sizes.protocol).threads != 0, arm.shape, elementBytes, bytes);
  };
  online.emplace(cuda, selection, options.tune, ranks, core::loadLearned(options.tune.file, machine, file.digest()),
                 runner.inFlight(), core::ShapeRule{gpuShapes(), differ});
  return online->prepare();
}

/// Returns the bytes that the slots of all ranks take. The pool has at most one piece.
static uint64_t bytesOf(const plan::ConnectionPool &pool, uint32_t ranks) {
  uint64_t bytes = 0;
  for (uint32_t piece = 0; piece < pool.pieces(); ++piece)
    for (uint32_t rank = 0; rank < ranks; ++rank)
      bytes += pool.bytes(piece, rank);
  return bytes;
}

/// Returns the addresses of all ranks' parts of the piece, if the pool has one. The parts are consecutive in `memory`.
static plan::ConnectionPool::Parts partsIn(const DeviceMemory &memory, const plan::ConnectionPool &pool,
                                           uint32_t ranks) {
  plan::ConnectionPool::Parts parts(pool.pieces());
  auto *next = static_cast<std::byte *>(memory.get());
  for (std::vector<std::byte *> &piece : parts)
    for (uint32_t r = 0; r < ranks; ++r) {
      piece.push_back(next);
      next += pool.bytes(0, r);
    }
  return parts;
}

core::Result<const GpuProgram *> LoopbackWorld::load(const core::LoadedProgram &chosen) {
  const core::Program &program = *chosen.program;
  const std::string name = "program '" + program.info().name()->str() + "'";
  if (ranks > kernel::maxRanksPerLaunch)
    return Outcome{gc3InvalidUsage, name + " has " + std::to_string(ranks) + " ranks; one GPU can run at most " +
                                        std::to_string(kernel::maxRanksPerLaunch)};
  const plan::SlotSizes sizes = chooseSlots(program, options);
  if (!isPossible(sizes, program.connections().size()))
    return Outcome{gc3InvalidArgument, name + " needs more than 1 TiB for the FIFO slots of " +
                                           std::to_string(program.connections().size()) + " connections"};
  GpuProgram::Terms terms{{0, ranks}, sizes, options.tuned(sizes.protocol).threads};
  if (options.direct && sizes.protocol == kernel::Protocol::Simple && chosen.asWritten)
    terms.direct = plan::DirectMessages::inOneLaunch(program, *chosen.asWritten);
  auto fresh = std::make_unique<GpuProgram>(cuda, runner.limits(), chosen, terms, interpretersOf(cuda));
  if (Outcome outcome = fresh->reserve(options.timeoutMs != 0); !outcome.ok())
    return outcome;
  plan::ConnectionPool pool(ranks);
  const std::vector<uint32_t> numbers = pool.add(program, sizes);
  DeviceMemory memory;
  if (pool.pieces() != 0)
    if (Outcome outcome = reserveFifos(pool, name).moveTo(memory); !outcome.ok())
      return outcome;
  const plan::ConnectionPool::Parts parts = partsIn(memory, pool, ranks);
  if (Outcome outcome = fresh->write({pool, numbers, parts}, runner.stream()); !outcome.ok())
    return outcome;
  if (core::isInfoEnabled())
    core::log(name + " is loaded: " + fresh->conditions() + ", " + std::to_string(bytesOf(pool, ranks)) +
              " bytes of FIFO slots");
  fifos.push_back(std::move(memory));
  return &runner.add(std::move(fresh));
}

core::Result<DeviceMemory> LoopbackWorld::reserveFifos(const plan::ConnectionPool &pool, const std::string &name) {
  const uint64_t bytes = bytesOf(pool, ranks);
  core::Result<DeviceMemory> memory = allocate(cuda, bytes, "the FIFO slots of " + name);
  if (memory.ok())
    if (Outcome outcome = outcomeOf(cuda, cuda.clear(memory->get(), bytes, runner.stream()), "clearing FIFO slots");
        !outcome.ok())
      return outcome;
  return memory;
}

core::Result<const GpuProgram *> LoopbackWorld::find(const Request &request, bool captured) {
  const core::Result<const core::LoadedProgram *> selected = selection.select(request);
  if (!selected.ok())
    return selected.outcome();
  const core::LoadedProgram &chosen = **selected;
  if (const GpuProgram *program = runner.find(chosen))
    return program;
  if (captured)
    return Outcome{gc3InvalidUsage,
                   "program '" + chosen.program->info().name()->str() +
                       "' cannot be loaded while the stream is captured; make one such call before the capture"};
  return load(chosen);
}

/// Waits for a recorded call without holding `mutex`, because another thread may have to stop its kernel.
Outcome LoopbackWorld::call(std::span<const Request> requests, Stream stream) {
  if (!recorder)
    return put(requests, stream);
  std::lock_guard lock(recorder->oneCall);
  Outcome outcome = put(requests, stream);
  return outcome.ok() ? recorder->finish(stream) : outcome;
}

Outcome LoopbackWorld::put(std::span<const Request> requests, Stream stream) {
  std::lock_guard lock(mutex);
  if (Outcome outcome = runner.failure(); !outcome.ok())
    return outcome;
  const OnDevice device(cuda, runner.limits().device);
  if (!device.outcome().ok())
    return device.outcome();
  const core::Result<uint64_t> found = findCapture(cuda, stream);
  if (!found.ok())
    return found.outcome();
  const uint64_t capture = *found;
  if (requests.size() != ranks)
    return {gc3InvalidUsage, "a call of " + std::to_string(requests.size()) + " of " + std::to_string(ranks) +
                                 " ranks; ranks that share a GPU must call in one group"};
  if (Outcome outcome = core::checkRequests(requests); !outcome.ok())
    return outcome;
  if (core::isEmpty(requests[0]))
    return {};
  Runner::Plan plan;
  if (Outcome outcome = planCall(requests, capture, plan); !outcome.ok() || requests[0].count == 0)
    return outcome;
  if (measured)
    measured->add(requests[0], plan);
  if (!recorder)
    return runner.enqueue(plan, stream);
  if (capture != 0)
    recorder->planCapture(plan);
  return recorder->enqueue(runner, plan, stream);
}

Outcome LoopbackWorld::planCall(std::span<const Request> requests, uint64_t capture, Runner::Plan &plan) {
  if (online)
    if (const OnlineLaunches::Kind kind = online->find(requests[0]); kind.family) {
      if (planOnline(kind, requests, capture, plan).ok())
        return {};
      plan = {};
    }
  const core::Result<const GpuProgram *> program = find(requests[0], capture != 0);
  return program.ok() ? runner.plan(**program, {}, requests, capture, plan) : program.outcome();
}

/// Plans the call of the chosen program. If this fails, because the program can't be loaded or can't run a call of this
/// size, the fixed program runs the call, which then has no time. A captured call can have only a program that is
/// loaded.
Outcome LoopbackWorld::planOnline(const OnlineLaunches::Kind &kind, std::span<const Request> requests, uint64_t capture,
                                  Runner::Plan &plan) {
  const core::Arm arm = capture != 0 ? online->favourite(kind) : online->choose(kind, requests);
  const core::LoadedProgram &chosen = selection.use(arm.program);
  const GpuProgram *program = runner.find(chosen);
  if (!program && capture != 0)
    return {gc3InvalidUsage, "it is not loaded"};
  if (!program)
    if (Outcome outcome = load(chosen).moveTo(program); !outcome.ok()) {
      online->exclude(arm.program);
      return outcome;
    }
  Outcome outcome = runner.plan(*program, arm.shape, requests, capture, plan);
  if (outcome.ok() && capture == 0 && online->timed())
    plan.times = &online->times(), plan.number = *online->timed(), plan.byKernel = kind.byKernel;
  return outcome;
}

core::OnlineSelection::Counters LoopbackWorld::tuneCounters() {
  std::lock_guard lock(mutex);
  return online->counters();
}

select::TuneFile LoopbackWorld::learned() {
  std::lock_guard lock(mutex);
  return online->learned();
}

core::Result<const char *> LoopbackWorld::select(const Request &request) {
  std::lock_guard lock(mutex);
  if (Outcome outcome = runner.failure(); !outcome.ok())
    return outcome;
  if (online)
    if (const OnlineLaunches::Kind kind = online->find(request); kind.family)
      return selection.use(online->favourite(kind).program).program->info().name()->c_str();
  const core::Result<const core::LoadedProgram *> chosen = selection.select(request);
  if (!chosen.ok())
    return chosen.outcome();
  return (*chosen)->program->info().name()->c_str();
}

/// Waits for running kernels, because memory must not be freed while they run. If there is a timeout, stops a kernel
/// that exceeds it.
LoopbackWorld::~LoopbackWorld() {
  for (core::Result<bool> idle = false; (idle = runner.isIdle()).ok() && !*idle;) {
    runner.watch(Watchdog::Clock::now());
    std::this_thread::yield();
  }
  if (!measured)
    return;
  if (const OnDevice device(cuda, runner.limits().device); device.outcome().ok())
    measured->collect();
}

Outcome LoopbackWorld::watch(Watchdog::Clock::time_point now) {
  return runner.watch(now);
}

} // namespace gc3::cuda
