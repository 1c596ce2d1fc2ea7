// SPDX-License-Identifier: Apache-2.0
// Support for tests of the fake NCCL: threads for ranks, and functions that call the fake as gc3 or as the application.
#pragma once

#include "FakeNccl.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

namespace gc3::test {

using ncclapi::Comm;
using ncclapi::Config;
using ncclapi::DataType;
using ncclapi::Result;
namespace signature = ncclapi::signature;
using Names = std::vector<std::string>;

constexpr int rankCount = 3;

class FakeNcclTest : public testing::Test {
protected:
  FakeNcclTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    cuda.waits = true;
    for (int rank = 0; rank < rankCount; ++rank) {
      streams.push_back(cuda.stream(rank));
      buffers.push_back(cuda.allocate(64));
    }
  }
  ~FakeNcclTest() override {
    for (cuda::Stream stream : streams)
      FakeCuda::table().destroyStream(stream);
    for (std::byte *buffer : buffers)
      cuda.release(buffer);
    EXPECT_EQ(nccl.leaks(), "");
  }

  /// Runs `work` for each rank on its own thread, with the rank's device current.
  static void onAllRanks(const std::function<void(size_t rank)> &work) {
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < rankCount; ++rank)
      threads.emplace_back([&, rank] {
        FakeCuda::currentDevice = static_cast<int>(rank);
        work(rank);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
  static std::thread onRank(int rank, std::function<void()> work) {
    return std::thread([rank, work = std::move(work)] {
      FakeCuda::currentDevice = rank;
      work();
    });
  }

  Config config(int blocking) {
    Config made{};
    made.size = sizeof made;
    made.magic = ncclapi::configMagic;
    made.version = ncclapi::configVersion;
    made.blocking = blocking;
    return made;
  }
  Result split(Comm parent, Comm *child, int key = 0, int blocking = 1) {
    Config of = config(blocking);
    return functions.CommSplit(parent, 0, key, child, &of);
  }
  std::vector<Comm> splitAll(const std::vector<Comm> &parents) {
    std::vector<Comm> made(rankCount);
    onAllRanks([&](size_t rank) { EXPECT_EQ(split(parents[rank], &made[rank]), Result::Success); });
    return made;
  }
  void destroyAll(const std::vector<Comm> &comms) {
    onAllRanks([&](size_t rank) { EXPECT_EQ(functions.CommDestroy(comms[rank]), Result::Success); });
  }

  /// Enqueues an AllGather in which each rank contributes its number plus 1. gathered() returns the result.
  Result gather(size_t rank, Comm comm) {
    buffers[rank][0] = static_cast<std::byte>(rank + 1);
    return functions.AllGather(buffers[rank], buffers[rank] + 1, 1, DataType::Uint8, comm, streamOf(rank));
  }
  ncclapi::Stream streamOf(size_t rank) const { return reinterpret_cast<ncclapi::Stream>(streams[rank]); }
  std::vector<int> gathered(size_t rank) const {
    std::vector<int> all;
    for (int r = 0; r < rankCount; ++r)
      all.push_back(static_cast<int>(buffers[rank][1 + r]));
    return all;
  }
  /// Returns a function in the application's version. `Function` is its type in `signature`.
  template <typename Function>
  static Function *application(const char *name) {
    return reinterpret_cast<Function *>(FakeNccl::applicationFunction(name));
  }
  Result poll(Comm comm) {
    Result error = Result::InternalError;
    auto *function = reinterpret_cast<signature::CommGetAsyncError *>(FakeNccl::function("CommGetAsyncError"));
    const Result result = function(comm, &error);
    return result == Result::Success ? error : result;
  }
  Result destroy(Comm comm) { return functions.CommDestroy(comm); }
  Result abort(Comm comm) { return functions.CommAbort(comm); }
  Result revoke(Comm comm) {
    return reinterpret_cast<ncclapi::signature::CommRevoke *>(FakeNccl::function("CommRevoke"))(comm, 0);
  }
  /// A rank's window and the memory that it covers.
  struct RegisteredWindow {
    void *memory = nullptr;
    ncclapi::Window window = nullptr;
  };
  Result registerWindow(Comm comm, RegisteredWindow &registered) {
    EXPECT_EQ(functions.MemAlloc(&registered.memory, 4096), Result::Success);
    return functions.CommWindowRegister(comm, registered.memory, 4096, &registered.window, 0);
  }

  ncclapi::Nccl tableOf(int version) {
    nccl.version = version;
    return nccl.table();
  }

  FakeCuda cuda;
  FakeNccl nccl{cuda};
  const ncclapi::Nccl functions = tableOf(22902);
  std::vector<cuda::Stream> streams;
  std::vector<std::byte *> buffers;
};

} // namespace gc3::test
