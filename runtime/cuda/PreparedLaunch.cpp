// SPDX-License-Identifier: Apache-2.0
#include "cuda/PreparedLaunch.h"

namespace gc3::cuda {

using core::Outcome;
using core::Request;

/// Returns `count` rounded up so that no slot of a block is short. Returns nothing if that overflows.
static std::optional<uint64_t> wholeSlots(const core::Program &program, uint64_t count) {
  const uint64_t slots = core::slotsPerBlock(program.info());
  const uint64_t missing = (slots - count % slots) % slots;
  return count > UINT64_MAX - missing ? std::nullopt : std::optional(count + missing);
}

PreparedLaunch::PreparedLaunch(const GpuProgram &ofProgram, const core::Shape &inShape, const Request &request)
    : program(ofProgram), shape(inShape), count(request.count), type(request.type), op(request.op) {}

Outcome PreparedLaunch::prepare(const Request &request) {
  const core::Program &loaded = *program.loaded().program;
  const size_t size = core::elementSize(elementType());
  const core::LayoutOptions options{program.slotSizes().slots, 0, 1}; // the kernel does not use this layout's tiles
  if (std::string problem = layout.compute(loaded, count, size, options); !problem.empty())
    return {gc3InvalidArgument, problem};
  uint64_t run = count;
  if (loaded.info().whole_slots()) {
    const std::optional<uint64_t> whole = wholeSlots(loaded, count);
    if (std::string problem = whole ? padded.compute(loaded, *whole, size, options)
                                    : "a count of " + std::to_string(count) + " elements exceeds the address space";
        !problem.empty())
      return {gc3InvalidArgument, problem};
    run = *whole;
  }
  if (Outcome outcome = program.prepare(request, run, shape, call, launch); !outcome.ok())
    return outcome;
  return placer.plan(program.loaded(), layout, request);
}

core::Result<std::shared_ptr<const PreparedLaunch>>
PreparedLaunches::find(const GpuProgram &program, const core::Shape &shape, const Request &request) {
  for (const auto &known : calls)
    if (known->count == request.count && known->type == request.type && known->op == request.op &&
        known->shape == shape && &known->program == &program)
      return known;
  auto fresh = std::make_shared<PreparedLaunch>(program, shape, request);
  if (Outcome outcome = fresh->prepare(request); !outcome.ok())
    return outcome;
  if (calls.size() < most)
    calls.push_back(fresh);
  else
    calls[next++ % most] = fresh;
  return std::shared_ptr<const PreparedLaunch>(std::move(fresh));
}

} // namespace gc3::cuda
