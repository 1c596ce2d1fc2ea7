// SPDX-License-Identifier: Apache-2.0
// Support for tests of the interposer in one process, over the fakes of CUDA and NCCL. Either one thread makes the
// calls of all ranks in a group, or each rank has its own thread. The bundle has a program for each collective on two
// ranks, and one for AllReduce on three ranks. They run calls of at most 1 KiB. One more program runs an AllGather of
// two ranks from 1 MiB on.
#pragma once

#include "FakeNccl.h"
#include "comm/Registry.h"
#include "shim/Exports.h"

#include <gtest/gtest.h>
#include <mutex>
#include <thread>

namespace gc3::test {

using namespace ncclapi;
using Events = std::vector<std::string>;
using Comms = std::vector<Comm>; ///< by rank

/// Returns a function of the fake NCCL. Tests use it for functions that the interposer does not export.
template <typename Signature>
Signature *application(const char *name) {
  return reinterpret_cast<Signature *>(FakeNccl::applicationFunction(name));
}

class Front : public testing::Test {
protected:
  static constexpr size_t mostRanks = 3, few = 4,
                          many = 1000; ///< element counts: a program runs calls of `few`, NCCL runs calls of `many`

  Front();
  /// Aborts the communicators that the test has not ended, and checks that nothing leaks.
  ~Front() override;

  /// Creates a communicator. The test need not end it.
  Comms make(int ranks = 2, bool blocking = true);
  void endLater(Comm comm);
  /// Creates a communicator. Its ranks have joined, and have loaded the AllReduce program.
  Comms makeJoined(int ranks = 2, bool blocking = true);

  Result allReduce(size_t rank, Comm comm, size_t count, RedOp op = RedOp::Sum);
  /// Makes a call for each rank, in one group. Returns the result of the group's end.
  static Result inGroup(size_t ranks, const std::function<Result(size_t rank)> &call);
  Result allReduceAll(const Comms &comms, size_t count) {
    return inGroup(comms.size(), [&](size_t rank) { return allReduce(rank, comms[rank], count); });
  }
  /// Creates another stream on a rank's device.
  Stream newStream(size_t rank);
  static void onEachRank(size_t ranks, const std::function<void(size_t rank)> &work);
  /// Checks that all streams are idle, and that each result is the sum of the ranks' inputs, times `factor`. Then calls
  /// fill().
  void expectSum(size_t ranks, float factor = 1);
  /// Fills the send buffers, and clears the receive buffers.
  void fill();
  std::vector<float> sent(size_t rank) const { return {send[rank], send[rank] + room}; }
  bool areIdle();
  /// Waits until gc3 has exactly `left` children.
  void awaitChildren(size_t left);
  static Result stateOf(Comm comm);
  static comm::Phase phaseOf(Comm comm);
  static bool isKnown(Comm comm) { return comm::Registry::ofProcess().find(comm) != nullptr; }

  /// Returns the events since the last takeEvents(): a text for each call of the application that NCCL got, and "run 0"
  /// for each launch of rank 0.
  Events takeEvents();
  /// Waits until takeEvents() would return `event`.
  void await(const std::string &event);
  std::string nameOf(Comm comm) { return nccl.name(comm); }
  /// Returns the text of the event if NCCL gets a call of allReduce().
  static std::string event(size_t rank, const std::string &comm, size_t count, int op = 0);
  /// Sets a hook that runs after each event, on the thread that makes the call.
  void after(std::function<void(const std::string &event)> hook);
  /// Sets a hook that runs before each CUDA or NCCL call of gc3, on the thread that makes the call.
  void before(std::function<void(int device, const std::string &name, uint64_t index)> hook);
  /// Makes gc3's calls of a function, such as "CUDA launch", fail on a device, or on all devices if `device` is -1.
  void failCalls(const std::string &name, int device = -1);
  /// Makes the application's next call of nccl<function> return `result`, without any effect.
  void failNext(const std::string &function, Result result);
  void capture(bool begins);
  /// Yields often, so that other threads can probably complete the work that they can do now. Tests must also pass if
  /// they do not.
  static void yieldToOthers() {
    for (int times = 0; times < 2000; ++times)
      std::this_thread::yield();
  }
  /// Calls `condition` until it returns true.
  template <typename Condition>
  static void awaitThat(Condition condition) {
    while (!condition())
      std::this_thread::yield();
  }

  static constexpr size_t room = 2 * few;
  FakeCuda cuda;
  FakeNccl nccl{cuda};
  std::vector<Stream> streams;     ///< one stream for each rank, then those of newStream()
  std::vector<float *> send, recv; ///< by rank: `room` floats

private:
  void note(std::string event);

  std::mutex noting; ///< guards the members below
  Events events, all;
  std::function<void(const std::string &)> afterEvent;
  std::function<void(int, const std::string &, uint64_t)> beforeCall;
  std::map<std::string, Result> planned;           ///< results of failNext(), by function
  std::vector<std::pair<Comm, std::string>> alive; ///< communicators that the destructor ends, with names
};

} // namespace gc3::test
