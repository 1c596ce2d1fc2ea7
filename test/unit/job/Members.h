// SPDX-License-Identifier: Apache-2.0
// Assemblies whose ranks are threads of one process.
#pragma once

#include "job/Assembly.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

namespace gc3::job {

inline const WaitLimits longLimits{std::chrono::milliseconds(60000), {}}; // no test reaches this time
inline const WaitLimits shortLimits{std::chrono::milliseconds(250), {}};

using Joined = core::Result<std::unique_ptr<Assembly>>;

inline std::unique_ptr<Listener> openListener() {
  core::Result<std::unique_ptr<Listener>> opened = Listener::open("");
  EXPECT_TRUE(opened.ok()) << opened.outcome().text;
  return opened.ok() ? std::move(*opened) : nullptr;
}

inline Member memberOf(uint32_t rank, uint32_t ranks, const std::string &secret = {}) {
  Member member;
  member.rank = rank;
  member.ranks = ranks;
  member.secret = secret;
  return member;
}

/// Begins to join on a thread.
inline std::future<Joined> beginToLead(std::unique_ptr<Listener> listener, const Member &member,
                                       const WaitLimits &limits = longLimits) {
  return std::async(std::launch::async, [listener = std::move(listener), member, limits]() mutable {
    return Assembly::lead(std::move(listener), member, limits);
  });
}
inline std::future<Joined> beginToJoin(const net::Endpoint &rank0, const Member &member,
                                       const WaitLimits &limits = longLimits) {
  return std::async(std::launch::async, [=] { return Assembly::join(rank0, member, limits); });
}

inline std::unique_ptr<Assembly> take(std::future<Joined> joined) {
  Joined result = joined.get();
  EXPECT_TRUE(result.ok()) << result.outcome().text;
  return result.ok() ? std::move(*result) : nullptr;
}

/// All ranks, by rank.
inline std::vector<std::unique_ptr<Assembly>> joinAll(uint32_t ranks) {
  std::unique_ptr<Listener> listener = openListener();
  const net::Endpoint rank0 = listener->endpoint();
  std::vector<std::future<Joined>> joining;
  joining.push_back(beginToLead(std::move(listener), memberOf(0, ranks)));
  for (uint32_t rank = 1; rank < ranks; ++rank)
    joining.push_back(beginToJoin(rank0, memberOf(rank, ranks)));
  std::vector<std::unique_ptr<Assembly>> all;
  for (auto &each : joining)
    all.push_back(take(std::move(each)));
  return all;
}

/// Calls function(rank) on one thread for each rank. Returns the results, by rank.
template <typename Function>
auto onEach(size_t ranks, Function function) {
  std::vector<std::future<decltype(function(size_t{0}))>> running;
  for (size_t rank = 0; rank < ranks; ++rank)
    running.push_back(std::async(std::launch::async, function, rank));
  std::vector<decltype(function(size_t{0}))> results;
  for (auto &each : running)
    results.push_back(each.get());
  return results;
}

inline std::vector<uint8_t> bytesFrom(const std::string &text) {
  return {text.begin(), text.end()};
}

/// The text of this process in losses.
inline std::string ownProcess() {
  return describe(identifyThisProcess());
}

} // namespace gc3::job
