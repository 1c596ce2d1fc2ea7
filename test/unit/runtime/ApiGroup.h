// SPDX-License-Identifier: Apache-2.0
// Helpers for tests of the C API.
#pragma once

#include "Programs.h"

#include "api/Init.h"
#include "gc3.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace gc3::test {

/// A bundle, and one communicator per rank that runs its programs.
class Group {
public:
  Group(const std::vector<ProgramSpec> &programs, int ranks, gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER,
        const core::Settings &settings = core::settings()) {
    std::string bytes = buildBundle(programs);
    EXPECT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success) << gc3GetLastError(nullptr);
    comms.resize(static_cast<size_t>(ranks));
    EXPECT_EQ(api::initHost(comms.data(), ranks, bundle, &config, settings), gc3Success);
  }
  Group(const Group &) = delete;
  Group &operator=(const Group &) = delete;
  ~Group() {
    for (gc3Comm_t comm : comms)
      gc3CommDestroy(comm);
    gc3BundleFree(bundle);
  }

  /// Calls function(rank, comm) for every rank, all between one gc3GroupStart and gc3GroupEnd. Returns the result of
  /// gc3GroupEnd.
  template <typename Function>
  gc3Result_t together(Function function) {
    EXPECT_EQ(gc3GroupStart(), gc3Success);
    for (size_t r = 0; r < comms.size(); ++r)
      EXPECT_EQ(function(static_cast<int>(r), comms[r]), gc3Success);
    return gc3GroupEnd();
  }

  /// Calls function(rank, comm) on one thread per rank. Returns the results by rank.
  template <typename Function>
  std::vector<gc3Result_t> threads(Function function) {
    std::vector<gc3Result_t> results(comms.size());
    std::vector<std::thread> workers;
    for (size_t r = 0; r < comms.size(); ++r)
      workers.emplace_back([&, r] { results[r] = function(static_cast<int>(r), comms[r]); });
    for (std::thread &worker : workers)
      worker.join();
    return results;
  }

  gc3Bundle_t bundle = nullptr;
  std::vector<gc3Comm_t> comms;
};

using Data = std::vector<std::vector<float>>;

/// Returns data in which element i of rank r is 100 r + i.
inline Data ramp(size_t ranks, size_t elements) {
  Data data(ranks, std::vector<float>(elements));
  for (size_t r = 0; r < ranks; ++r)
    for (size_t i = 0; i < elements; ++i)
      data[r][i] = static_cast<float>(100 * r + i);
  return data;
}

inline gc3HostConfig_t withTimeout(uint32_t ms) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.timeoutMs = ms;
  return config;
}

} // namespace gc3::test
