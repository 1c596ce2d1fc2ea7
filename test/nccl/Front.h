// SPDX-License-Identifier: Apache-2.0
// Tests in one process: the library in front, an engine and an NCCL that only note what happens, in one list.
#pragma once

#include "FakeEngine.h"
#include "FakeNccl.h"
#include "shim/Exports.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <mutex>

namespace gc3::nccl::test {

using Events = std::vector<std::string>;

class Front : public testing::Test {
protected:
  Front() {
    setenv("GC3_BUNDLES", ":", 1); // read at the first call; the engine of the tests needs no bundles
    fakeNcclReset();
    fakeNcclSink(note);
    fakeEngine().sink = note;
    fakeEngine().runResult = fakeEngine().asyncError = Result::Success;
    fakeEngine().hasMemory = true;
    fakeEngine().talks = false;
    take();
  }

  /// A communicator for any number of calls to come.
  static Comm makeComm(int ranks = 4, int rank = 0) {
    Comm comm = nullptr;
    EXPECT_EQ(ncclCommInitRank(&comm, ranks, {}, rank), Result::Success);
    take();
    return comm;
  }

  /// An AllReduce of floats: even counts are the engine's.
  static Result allReduce(Comm comm, size_t count) {
    return ncclAllReduce(nullptr, nullptr, count, DataType::Float32, RedOp::Sum, comm, nullptr);
  }

  /// What has happened since it was last asked.
  static Events take() {
    std::lock_guard lock(noting);
    return std::exchange(events, {});
  }

  static void note(const char *event) {
    std::lock_guard lock(noting);
    events.push_back(event);
  }

private:
  static inline std::mutex noting;
  static inline Events events;
};

} // namespace gc3::nccl::test
