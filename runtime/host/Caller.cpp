// SPDX-License-Identifier: Apache-2.0
// The way of one call: requests match -> program -> layout -> staging -> run -> results.
#include "host/Caller.h"

#include <algorithm>
#include <thread>

namespace gc3::host {

namespace {

/// Below this many bytes over all ranks one thread is done before another has woken up.
constexpr uint64_t bytesWorthHelpers = 1 << 20;

uint32_t machineThreads() {
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Calls a function once per rank on however many threads come.
template <typename Function>
class RankTask final : public Task {
public:
  RankTask(uint32_t rankCount, Function &perRank) : ranks(rankCount), function(perRank) {}
  void work(uint32_t) override {
    for (uint32_t rank; (rank = next.fetch_add(1, std::memory_order_relaxed)) < ranks;)
      function(rank);
  }

private:
  const uint32_t ranks;
  Function &function;
  std::atomic<uint32_t> next{0};
};

} // namespace

Caller::Caller(const bundle::BundleFile &file, uint32_t rankCount, const CallerOptions &chosen)
    : ranks(rankCount), options(chosen), selection(file, rankCount), random(chosen.seed) {}

template <typename Function>
void Caller::forEachRank(uint32_t helpers, Function function) {
  RankTask<Function> task(ranks, function);
  pool.run(task, helpers);
}

static std::string describe(const Request &request) {
  std::string text = "'";
  text.append(request.name).append("' of ").append(std::to_string(request.count)).append(" ");
  text.append(elementTypeName(static_cast<ElementType>(request.type))).append(", ");
  text.append(reduceOpName(static_cast<ReduceOp>(request.op)));
  return request.root < 0 ? text : text + ", root " + std::to_string(request.root);
}

Outcome Caller::checkRequests(std::span<const Request> requests) const {
  for (uint32_t r = 0; r < ranks; ++r) {
    const Request &request = requests[r];
    auto refuse = [r](const std::string &what) {
      return Outcome{gc3InvalidArgument, "rank " + std::to_string(r) + ": " + what};
    };
    if (request.type < 0 || request.type >= gc3NumTypes)
      return refuse("unknown data type " + std::to_string(static_cast<int>(request.type)));
    if (request.op < 0 || request.op >= gc3NumOps)
      return refuse("unknown reduction " + std::to_string(static_cast<int>(request.op)));
    if (request.root < -1 || request.root >= static_cast<int>(ranks))
      return refuse("root " + std::to_string(request.root) + " of " + std::to_string(ranks) + " ranks");
    if (!request.matches(requests[0]))
      return {gc3InvalidUsage, "the calls of the ranks do not match: rank 0 calls " + describe(requests[0]) +
                                   "; rank " + std::to_string(r) + " calls " + describe(request)};
  }
  return {};
}

Outcome Caller::select(const Request &request, LoadedProgram *&program) {
  return selection.select(request, program);
}

Outcome Caller::prepare(LoadedProgram &program, const Request &request) {
  size_t size = elementSize(static_cast<ElementType>(request.type));
  LayoutOptions wanted = options.layout;
  if (options.adversarial) {
    if (wanted.slots == 0)
      wanted.slots = program.program->info().min_fifo_slots();
    if (wanted.tileElements == 0) { // up to 16 tiles
      wanted.tileElements = 1 + request.count / slotsPerBlock(program.program->info()) / (1 + random.below(16));
    }
  }
  Layout &layout = program.layout;
  if (!program.run || layout.count != request.count || layout.elementSize != size || layout.options != wanted)
    if (std::string problem = layout.compute(*program.program, request.count, size, wanted); !problem.empty()) {
      program.run.reset(); // the layout is half made
      return {gc3InvalidArgument, problem};
    }
  if (!program.run)
    program.run = std::make_unique<Run>(*program.program);
  if (!fifoMemory.reserve(layout.fifoBytes) || !scratchMemory.reserve(layout.scratchBytes))
    return {gc3SystemError, "no memory for " + std::to_string(layout.fifoBytes) + " bytes of FIFO slots and " +
                                std::to_string(layout.scratchBytes) + " of scratch"};
  return {};
}

Outcome Caller::call(std::span<const Request> requests) {
  if (Outcome outcome = checkRequests(requests); !outcome.ok())
    return outcome;
  const Request &request = requests[0];
  LoadedProgram *program = nullptr;
  if (request.count == 0 && request.kind != CallKind::Program)
    return {};
  if (Outcome outcome = select(request, program); !outcome.ok() || request.count == 0)
    return outcome;
  return Padding::needed(*program->program, request.count) ? runPadded(*program, requests) : run(*program, requests);
}

uint32_t Caller::helpers(const Layout &layout) const {
  uint64_t bytes = 0;
  for (const RankLayout &rank : layout.ranks)
    bytes += std::max(rank.input.elements, rank.output.elements) * layout.elementSize;
  uint32_t threads = std::min(options.workers ? options.workers : machineThreads(), ranks);
  return options.adversarial || bytes < bytesWorthHelpers ? 0 : threads - 1;
}

Outcome Caller::run(LoadedProgram &program, std::span<const Request> requests) {
  const Request &request = requests[0];
  if (Outcome outcome = prepare(program, request); !outcome.ok())
    return outcome;
  const Layout &layout = program.layout;
  if (Outcome outcome = staging.plan(*program.program, program.standard, layout, requests); !outcome.ok())
    return outcome;

  uint32_t others = helpers(layout);
  if (staging.needed())
    forEachRank(others, [this](uint32_t rank) { staging.before(rank); });
  ReduceKernel kernel = reduceKernel(static_cast<ElementType>(request.type), static_cast<ReduceOp>(request.op));
  program.run->start(layout, staging.memory(), fifoMemory.data(), scratchMemory.data(), kernel);
  std::string deadlock =
      options.adversarial ? runAdversarial(*program.run, random.next()) : runFair(*program.run, pool, others + 1);
  if (!deadlock.empty())
    return {gc3Deadlock, deadlock};
  if (staging.needed())
    forEachRank(others, [this](uint32_t rank) { staging.after(rank); });
  return {};
}

Outcome Caller::runPadded(LoadedProgram &program, std::span<const Request> requests) {
  // As if unpadded, to have the caller's pointers and sizes checked.
  if (Outcome outcome = prepare(program, requests[0]); !outcome.ok())
    return outcome;
  if (Outcome outcome = staging.plan(*program.program, program.standard, program.layout, requests); !outcome.ok())
    return outcome;
  if (Outcome outcome = padding.plan(*program.program, requests); !outcome.ok())
    return outcome;
  uint32_t others = helpers(program.layout);
  forEachRank(others, [this](uint32_t rank) { padding.before(rank); });
  if (Outcome outcome = run(program, padding.padded()); !outcome.ok())
    return outcome;
  forEachRank(others, [this](uint32_t rank) { padding.after(rank); });
  return {};
}

} // namespace gc3::host
