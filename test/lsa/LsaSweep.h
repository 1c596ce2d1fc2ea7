// SPDX-License-Identifier: Apache-2.0
// What becomes of the ranks of a world when one call into CUDA or NCCL fails, in words.
#pragma once

#include "LsaSupport.h"
#include "Sweep.h"

namespace gc3::test {

/// With the device that the thread is left on, if that is another one, and with what was not given back.
inline std::string leftBy(const FakeCuda &fake, const FakeWindows &windows) {
  return (fake.currentDevice != 0 ? "; on another device" : "") + left(windows.leaks());
}

/// Whether a kernel waits for a rank whose part of the call never came.
inline bool anyWaits(LsaWorld &world) {
  return std::any_of(world.streams.begin(), world.streams.end(),
                     [&](cuda::Stream stream) { return !world.cuda.isIdle(stream); });
}

/// What the ranks came to when they joined; empty where they may make calls.
inline std::string joinedTo(const LsaWorld &world) {
  std::set<std::string> said;
  for (const lsa::Joined &rank : world.joined) {
    EXPECT_EQ(rank.rank == nullptr, world.joined[0].rank == nullptr) << "all or none";
    EXPECT_EQ(rank.outcome.ok(), world.joined[0].outcome.ok());
    if (rank.rank) {
      EXPECT_EQ(tell(rank.rank->broken()), tell(rank.outcome)) << "it stays so";
    }
    said.insert(tell(rank.outcome));
  }
  if (world.joined[0].outcome.ok())
    return {};
  return (world.joined[0].rank ? "broken in joining: " : "refused: ") + together(said);
}

/// Why all ranks have come to it that a program can't be loaded.
inline std::string declinedFor(const lsa::RankCall &call) {
  EXPECT_EQ(call.outcome.code, gc3InvalidUsage);
  const std::string begin = "program '" + call.rank->programs()->entry(call.program).name() + "' could not be loaded: ";
  EXPECT_EQ(call.outcome.text.find(begin), 0u) << call.outcome.text;
  return brief(call.outcome.text.substr(std::min(begin.size(), call.outcome.text.size())));
}

/// A call of all ranks, of whose kernels the ones that wait in vain are aborted; empty where it did what it should.
inline std::string callOf(LsaWorld &world, const TrialOptions &options) {
  const Trial trial = world.trial(0, options);
  Loopback::Buffers buffers(world.cuda, trial);
  std::vector<lsa::RankCall> calls;
  std::set<std::string> said;
  for (size_t rank = 0; rank < world.comms.size(); ++rank) {
    calls.push_back(world.part(rank, buffers.requests[rank]));
    if (!calls.back().outcome.ok())
      said.insert(tell(calls.back().outcome));
  }
  if (!said.empty())
    return "not chosen: " + together(said);
  lsa::run(calls, world.nccl);
  bool isBroken = false;
  for (const lsa::RankCall &call : calls) {
    EXPECT_EQ(call.declined, calls[0].declined) << "all or none";
    EXPECT_EQ(call.rank->broken().text, call.declined ? "" : call.outcome.text) << "it stays so";
    said.insert(call.declined ? declinedFor(call) : tell(call.outcome));
    isBroken |= !call.declined && !call.outcome.ok();
  }
  if (!isBroken)
    return calls[0].declined ? "declined: " + together(said) : world.finish(trial, buffers);
  const bool waits = anyWaits(world);
  if (waits)
    abortAll(world);
  EXPECT_FALSE(anyWaits(world));
  return "broken: " + together(said) + (waits ? "; aborted, as others waited" : "");
}

/// Ranks that join and make two calls of the first program, the second of which finds it loaded.
inline std::string joinAndCall(FakeCuda &fake, FakeWindows &windows, const std::vector<ProgramSpec> &specs,
                               const TrialOptions &options, const cuda::Options &ofWorld = smallOptions()) {
  std::string came;
  {
    LsaWorld world(fake, windows, specs, ofWorld);
    came = joinedTo(world);
    for (int call = 0; came.empty() && call < 2; ++call)
      came = callOf(world, options);
    if (came.starts_with("declined")) {
      EXPECT_EQ(callOf(world, options), came) << "nobody tries again";
    }
  }
  return (came.empty() ? "ran" : came) + leftBy(fake, windows);
}

} // namespace gc3::test
