// SPDX-License-Identifier: Apache-2.0
// Tests the interposer in one process, over the fakes of CUDA and NCCL. One thread makes the calls of all ranks in a
// group, or each rank has a thread. A bundle has programs for each collective on two ranks and for allreduces on three
// ranks, for calls of at most 1 KiB.
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

/// Returns a function of the fake, which stands for an NCCL function that the interposer does not export.
template <typename Signature>
Signature *application(const char *name) {
  return reinterpret_cast<Signature *>(FakeNccl::applicationFunction(name));
}

class Front : public testing::Test {
protected:
  static constexpr size_t mostRanks = 3, few = 4,
                          many = 1000; ///< element counts: a program runs calls of `few`, NCCL runs calls of `many`

  Front();
  /// Aborts the remaining communicators, and expects that nothing leaks.
  ~Front() override;

  /// Creates a communicator that the test need not end.
  Comms make(int ranks = 2, bool blocking = true);
  void endLater(Comm comm);
  /// Creates a communicator whose ranks have joined, and have loaded the allreduce program.
  Comms makeJoined(int ranks = 2, bool blocking = true);

  Result allReduce(size_t rank, Comm comm, size_t count, RedOp op = RedOp::Sum);
  /// Makes a call for each rank in a group. Returns the group's result.
  static Result inGroup(size_t ranks, const std::function<Result(size_t rank)> &call);
  Result allReduceAll(const Comms &comms, size_t count) {
    return inGroup(comms.size(), [&](size_t rank) { return allReduce(rank, comms[rank], count); });
  }
  /// Creates another stream on a rank's device.
  Stream newStream(size_t rank);
  static void onEachRank(size_t ranks, const std::function<void(size_t rank)> &work);
  /// Expects that the programs' calls have ended, with the sum of the ranks' inputs, times `factor`.
  void expectSum(size_t ranks, float factor = 1);
  /// Fills the send buffers, and clears the receive buffers.
  void fill();
  std::vector<float> sent(size_t rank) const { return {send[rank], send[rank] + room}; }
  bool areIdle();
  /// Waits until gc3 has `left` children.
  void awaitChildren(size_t left);
  static Result stateOf(Comm comm);
  static comm::Phase phaseOf(Comm comm);
  static bool isKnown(Comm comm) { return comm::Registry::ofProcess().find(comm) != nullptr; }

  /// Returns the events since the last call: the application's calls that NCCL got, and "run 0" for each launch of rank
  /// 0.
  Events takeEvents();
  /// Waits until `event` is among the events.
  void await(const std::string &event);
  std::string nameOf(Comm comm) { return nccl.name(comm); }
  /// Returns the event of allReduce().
  static std::string event(size_t rank, const std::string &comm, size_t count, int op = 0);
  /// Sets a hook that runs after each event, on the event's thread.
  void after(std::function<void(const std::string &event)> hook);
  /// Sets a hook that runs before each call and query of gc3, on the calling thread.
  void before(std::function<void(int device, const std::string &name, uint64_t index)> hook);
  /// Fails gc3's calls of a function, such as "CUDA launch", on a device; -1: on all devices.
  void failCalls(const std::string &name, int device = -1);
  /// Has the application's next call of nccl<function> return `result`, without any effect.
  void failNext(const std::string &function, Result result);
  void capture(bool begins);
  /// Yields, so that other threads can finish work that waits for nothing. The test passes also if they do not.
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
  std::vector<Stream> streams;     ///< one stream of each rank, then the streams of newStream()
  std::vector<float *> send, recv; ///< `room` floats of each rank

private:
  void note(std::string event);

  std::mutex noting; ///< guards the members below
  Events events, all;
  std::function<void(const std::string &)> afterEvent;
  std::function<void(int, const std::string &, uint64_t)> beforeCall;
  std::map<std::string, Result> planned;           ///< results of failNext(), by function
  std::vector<std::pair<Comm, std::string>> alive; ///< communicators that have not ended, with their names
};

} // namespace gc3::test
