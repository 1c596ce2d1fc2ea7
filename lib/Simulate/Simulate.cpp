// SPDX-License-Identifier: Apache-2.0
#include "gc3/Simulate/Simulate.h"
#include "Engine.h"
#include "Workload.h"
#include <cmath>

namespace gc3::simulate {

std::string simulate(const Call &call, const Fabric &fabric, const Options &options, Prediction &prediction) {
  Workload workload;
  const bool useSymmetry = options.useSymmetry && !options.recordEvents;
  if (std::string problem = workload.prepare(call, fabric, useSymmetry); !problem.empty())
    return problem;
  prediction.tiles = workload.tiles();
  prediction.instructions = prediction.tiles * call.program.firstStep(call.program.ranks());
  prediction.threadBlocks = call.program.threadBlockCount();
  prediction.simulatedBlocks = static_cast<uint32_t>(workload.blocks.size());
  prediction.events = {};
  if (options.recordEvents) {
    if (prediction.instructions > options.mostEvents)
      return "the call has " + std::to_string(prediction.instructions) + " steps in all tiles, but at most " +
             std::to_string(options.mostEvents) + " can be recorded; choose a smaller size";
    prediction.events = {workload.steps.size(), prediction.tiles, std::vector<Event>(prediction.instructions), 0};
  }
  Engine engine(workload, options.recordEvents ? &prediction.events : nullptr, options.isExact);
  if (!engine.run())
    return engine.describeDeadlock();
  prediction.time = engine.time();
  if (!std::isfinite(prediction.time))
    return "the costs of topology '" + fabric.topology().name + "' are too large: the time is not a finite number";
  prediction.bytesMoved.clear();
  for (uint32_t resource : workload.resourceOf)
    prediction.bytesMoved.push_back(engine.bytesMoved()[resource]);
  return {};
}

} // namespace gc3::simulate
