// SPDX-License-Identifier: Apache-2.0
#include "cuda/GpuProgram.h"

#include "gc3/Common/Opcode.h"
#include "plan/StallReport.h"

#include <algorithm>
#include <cstring>

namespace gc3::cuda {

using core::ElementType;
using core::Outcome;

namespace {

bool anyReduces(const core::Program &program) {
  for (uint32_t step = 0; step != program.firstStep(program.ranks()); ++step)
    if (common::traits(static_cast<common::Opcode>(program.instruction(step).opcode())).reduces)
      return true;
  return false;
}

/// Returns an element type of `size` bytes that kernels support on every GPU.
ElementType copyType(size_t size) {
  switch (size) {
  case 1: return ElementType::Uint8;
  case 2: return ElementType::Half;
  case 4: return ElementType::Uint32;
  default: return ElementType::Uint64;
  }
}

} // namespace

core::Result<DeviceLimits> DeviceLimits::find(const Cuda &cuda) {
  DeviceLimits limits;
  int multiprocessors = 0, major = 0, minor = 0, cooperative = 0;
  auto query = [&](int &value, Attribute attribute) {
    return outcomeOf(cuda, cuda.attribute(&value, attribute, limits.device), "querying the GPU's attributes");
  };
  if (Outcome outcome = outcomeOf(cuda, cuda.getDevice(&limits.device), "querying the current device"); !outcome.ok())
    return outcome;
  for (auto [value, attribute] : {std::pair(&multiprocessors, Attribute::Multiprocessors),
                                  {&major, Attribute::Major},
                                  {&minor, Attribute::Minor},
                                  {&cooperative, Attribute::CooperativeLaunch}})
    if (Outcome outcome = query(*value, attribute); !outcome.ok())
      return outcome;
  if (cooperative == 0)
    return Outcome{gc3InvalidUsage,
                   "this GPU does not support cooperative launches, which blocks need to wait for each other"};
  limits.multiprocessors = static_cast<uint32_t>(multiprocessors);
  limits.architecture = static_cast<uint32_t>(10 * major + minor);
  return limits;
}

Outcome checkType(const core::Program &program, ElementType type, uint32_t architecture) {
  const bool fp8 = type == ElementType::Float8E4M3 || type == ElementType::Float8E5M2;
  if (!fp8 || architecture >= 90 || !anyReduces(program))
    return {};
  return {gc3InvalidArgument, std::string(core::elementTypeName(type)) + " cannot be reduced on a GPU of sm_" +
                                  std::to_string(architecture) + "; sm_90 or later is required"};
}

core::Result<uint64_t> blocksThatFit(const Cuda &cuda, const Interpreters &interpreters, const DeviceLimits &limits,
                                     const void *kernel, uint32_t threads) {
  int perMultiprocessor = 0;
  Outcome outcome = outcomeOf(cuda, interpreters.occupancy(&perMultiprocessor, kernel, threads),
                              "querying the occupancy of a kernel");
  if (!outcome.ok())
    return outcome;
  return static_cast<uint64_t>(perMultiprocessor) * limits.multiprocessors;
}

GpuProgram::GpuProgram(const Cuda &cuda, const DeviceLimits &limits, const core::LoadedProgram &program,
                       const Terms &terms, const Interpreters &interpreters)
    : cuda(cuda), limits(limits), program(program), sizes(terms.sizes), interpreters(interpreters),
      first(terms.threads != 0 ? terms.threads : kernel::mostThreads),
      last(terms.threads != 0 ? terms.threads : fewestThreads), blocksOfOthers(terms.blocksOfOthers),
      image(*program.program, terms.ranks, sizes.slots, terms.direct, terms.switchSteps),
      reduces(anyReduces(*program.program)) {}

const void *GpuProgram::kernelOf(ElementType type) const {
  return interpreters.kernel(reduces ? type : copyType(core::elementSize(type)), sizes.protocol);
}

/// The switch sums float, and reduces half and bfloat16 except to products.
const void *GpuProgram::switchKernel(ElementType type, kernel::Operation op) const {
  const bool isReduced = type == ElementType::Float ? op == kernel::Operation::Sum : op != kernel::Operation::Prod;
  return image.mayUseSwitch() && limits.architecture >= 90 && isReduced ? cuda.switchInterpreter(type) : nullptr;
}

/// Determines the number of threads per block: halves the first number until all blocks fit at the same time.
core::Result<GpuProgram::Fit> GpuProgram::fit(const void *kernel, uint32_t most) const {
  Fit result;
  for (uint32_t threads = most; threads >= last && result.threads == 0; threads /= 2) {
    if (Outcome outcome = blocksThatFit(cuda, interpreters, limits, kernel, threads).moveTo(result.capacity);
        !outcome.ok())
      return outcome;
    if (image.blocks() + blocksOfOthers <= result.capacity)
      result.threads = threads;
  }
  return result;
}

/// Determines the number of threads per block for calls of a type, with and without the switch.
Outcome GpuProgram::fitKernels(ElementType type) {
  Fit &known = fits[static_cast<unsigned>(type)];
  Outcome outcome = fit(kernelOf(type), first).moveTo(known);
  if (const void *kernel = switchKernel(type, kernel::Operation::Sum); kernel && outcome.ok() && known.threads != 0)
    outcome = fit(kernel, known.threads).moveTo(known);
  return outcome;
}

Outcome GpuProgram::loadMoveKernels(ElementType type) const {
  Outcome outcome;
  for (const void *kernel : {cuda.multiply(type), cuda.divide(type)})
    if (kernel && outcome.ok())
      outcome = blocksThatFit(cuda, interpretersOf(cuda), limits, kernel, threadsPerMoveBlock).outcome();
  return outcome;
}

Outcome GpuProgram::reserve(bool watched) {
  for (unsigned t = 0; t < core::elementTypeCount; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (Outcome outcome = fitKernels(type); !outcome.ok())
      return outcome;
    if (Outcome outcome = loadMoveKernels(type); !outcome.ok())
      return outcome;
  }
  if (Outcome outcome = watched && image.blocks() != 0 ? reserveRunning() : Outcome{}; !outcome.ok())
    return outcome;
  return allocate(cuda, image.bytes(), name()).moveTo(memory);
}

Outcome GpuProgram::reserveRunning() {
  const size_t bytes = image.blocks() * sizeof(uint64_t);
  Outcome outcome = allocatePinned(cuda, bytes, name()).moveTo(runningWords);
  if (outcome.ok())
    std::memset(runningWords.get(), 0, bytes);
  return outcome;
}

std::span<const uint64_t> GpuProgram::running() const {
  const auto *words = static_cast<const uint64_t *>(runningWords.get());
  return {words, words ? image.blocks() : 0};
}

Outcome GpuProgram::write(const plan::ConnectionEnds &ends, Stream stream) {
  auto *base = static_cast<std::byte *>(memory.get());
  const std::vector<std::byte> constants = image.constants(base, ends, loadedCall);
  Outcome outcome = outcomeOf(cuda, cuda.clear(base + constants.size(), image.bytes() - constants.size(), stream),
                              "clearing a program's counters");
  if (outcome.ok())
    outcome = outcomeOf(cuda, cuda.copy(base, constants.data(), constants.size(), stream), "copying a program");
  return outcome.ok() ? outcomeOf(cuda, cuda.synchronize(stream), "copying a program") : outcome;
}

Outcome GpuProgram::prepare(const core::Request &request, uint64_t count, const core::Shape &shape,
                            kernel::KernelArgs &call, Launch &launch) const {
  const auto type = static_cast<ElementType>(request.type);
  call = loadedCall;
  call.running = static_cast<uint64_t *>(runningWords.get());
  call.op = request.op == gc3Avg ? kernel::Operation::Sum : static_cast<kernel::Operation>(request.op);
  if (std::string problem = plan::setGeometry(*program.program, count, static_cast<uint32_t>(core::elementSize(type)),
                                              sizes, call, shape.tile);
      !problem.empty())
    return {gc3InvalidArgument, problem};
  if (Outcome outcome = checkType(*program.program, type, limits.architecture); !outcome.ok())
    return outcome;
  const Fit &known = fits[static_cast<unsigned>(type)];
  if (known.threads == 0)
    return {gc3InvalidUsage, name() + " has " + std::to_string(image.blocks()) + " thread blocks on its " +
                                 std::to_string(image.ranks().size()) + " ranks; this GPU can hold " +
                                 std::to_string(known.capacity) + " at once, of " + std::to_string(last) +
                                 " threads each"};
  launch.kernel = kernelOf(type);
  launch.blocks = image.blocks();
  launch.threads = std::max(static_cast<uint32_t>(core::scaled(known.threads, shape.threads)), fewestThreads);
  // CUDA does not promise to run two cooperative launches concurrently, so ranks that share a GPU under NCCL use
  // launches that are not cooperative. fit() has checked that the blocks of all these ranks fit.
  launch.cooperative = blocksOfOthers == 0;
  return {};
}

/// Returns a text about the messages without slots, for the log.
static std::string directText(const plan::DirectMessages &direct) {
  if (direct.count() == 0)
    return {};
  return ", " + std::to_string(direct.count()) + " messages without slots" +
         (direct.dependOnCall() ? " in calls with windows" : "");
}

std::string GpuProgram::conditions() const {
  const bundle::fbs::Protocol proven = program.program->info().protocol();
  const auto used = static_cast<bundle::fbs::Protocol>(sizes.protocol);
  const auto [fewest, most] = threads();
  return std::string(EnumNameProtocol(used)) +
         (proven != used ? " instead of " + std::string(EnumNameProtocol(proven)) : "") + ", " +
         std::to_string(sizes.slots) + " slots of " + std::to_string(sizes.slotBytes) + " bytes, blocks of " +
         (fewest == most ? "" : std::to_string(fewest) + " to ") + std::to_string(most) + " threads, " +
         std::to_string(image.bytes()) + " bytes for the program" + directText(image.directMessages()) +
         (image.mayUseSwitch() ? ", may use the switch" : "");
}

std::pair<uint32_t, uint32_t> GpuProgram::threads() const {
  const auto [fewest, most] =
      std::minmax_element(fits.begin(), fits.end(), [](const Fit &a, const Fit &b) { return a.threads < b.threads; });
  return {fewest->threads, most->threads};
}

core::Result<std::string> GpuProgram::stallReport(Stream stream) const {
  std::vector<kernel::Report> reports(image.blocks());
  const kernel::Report *from = image.reports(static_cast<const std::byte *>(memory.get()));
  Outcome outcome = outcomeOf(cuda, cuda.copy(reports.data(), from, reports.size() * sizeof(kernel::Report), stream),
                              "copying reports");
  if (outcome.ok())
    outcome = outcomeOf(cuda, cuda.synchronize(stream), "copying reports");
  if (!outcome.ok())
    return outcome;
  const bool any = std::any_of(reports.begin(), reports.end(),
                               [](const kernel::Report &report) { return report.what != kernel::Waiting::Nothing; });
  return any ? name() + plan::stallReport(*program.program, image.ranks(), reports) : "";
}

} // namespace gc3::cuda
