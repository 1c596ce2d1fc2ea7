// SPDX-License-Identifier: Apache-2.0
// Programs and topologies for tests of the simulator.
#pragma once

#include "Pipeline.h"
#include "gc3/Simulate/CriticalPath.h"
#include "gc3/Topology/Json.h"

#include <gtest/gtest.h>

namespace gc3::simulate {

/// Returns the topology with these members of its JSON, except the name.
inline topology::Topology parse(const std::string &members) {
  std::string error;
  auto topology = topology::parseJson(R"({"name": "t", )" + members + "}", error);
  EXPECT_TRUE(topology) << error;
  return topology.value_or(topology::Topology());
}

/// A compiled program, ready for simulation.
class Compiled {
public:
  explicit Compiled(const std::string &source) {
    driver::Options options;
    options.input = "test.gc3";
    driver::Session session(options);
    driver::Pipeline pipeline(session);
    std::string bytes;
    EXPECT_TRUE(pipeline.compile(source, bytes));
    EXPECT_TRUE(bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file).ok());
    EXPECT_TRUE(core::Program::load(*file, 0).moveTo(program).ok());
  }

  /// Returns a call with `bytes` elements of one byte per block.
  Call call(uint64_t bytes, uint64_t slotBytes = 1 << 20, uint32_t slots = 8) const {
    return {*program, {static_cast<kernel::Protocol>(program->info().protocol()), slots, slotBytes}, bytes, 1};
  }
  std::string simulate(const topology::Topology &topology, uint64_t bytes, Prediction &prediction,
                       uint64_t slotBytes = 1 << 20, uint32_t slots = 8) const {
    return simulate::simulate(call(bytes, slotBytes, slots), Fabric(topology),
                              {.recordEvents = true, .mostEvents = 100}, prediction);
  }
  double time(const topology::Topology &topology, uint64_t bytes, uint64_t slotBytes = 1 << 20,
              uint32_t slots = 8) const {
    Prediction prediction;
    EXPECT_EQ(simulate(topology, bytes, prediction, slotBytes, slots), "");
    EXPECT_EQ(prediction.events.all.size(), prediction.instructions);
    double sum = 0;
    for (const PathPart &part : criticalPath(prediction).parts)
      sum += part.time;
    EXPECT_NEAR(sum, prediction.time, 1e-9 * prediction.time); // the parts of the critical path add up
    return prediction.time;
  }

private:
  std::unique_ptr<bundle::BundleFile> file;
  std::unique_ptr<core::Program> program;
};

} // namespace gc3::simulate
