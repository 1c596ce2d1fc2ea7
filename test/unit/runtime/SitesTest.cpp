// SPDX-License-Identifier: Apache-2.0
// Host communicators whose ranks are on several sites, as if they were in several processes: the sites share a file of
// memory, and nothing else. All of them are in this process, so a sanitizer sees all accesses.
#include "HostCalls.h"
#include "Programs.h"

#include "api/HostInfo.h"

#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <memory_resource>
#include <thread>
#include <unistd.h>

using namespace gc3;
using namespace gc3::test;
using core::Outcome;

namespace {

/// The sites of one communicator. Each has `ranksPerSite` ranks.
class Sites {
public:
  /// If `sharesBuffers` is true, messages can skip their slots.
  Sites(const std::vector<ProgramSpec> &programs, uint32_t ranks, uint32_t ranksPerSite,
        const api::HostBackendOptions &options = {}, bool sharesBuffers = false) {
    const std::string bytes = buildBundle(programs);
    auto opened = bundle::BundleFile::openMemory(bytes.data(), bytes.size());
    EXPECT_TRUE(opened.ok());
    file = std::move(*opened);
    core::Result<host::SharedFile> first = host::SharedFile::create();
    EXPECT_TRUE(first.ok()) << first.outcome().text;
    memory.reserve(ranks);
    for (uint32_t rank = 0; rank < ranks; rank += ranksPerSite) {
      core::Result<host::SharedFile> own = host::SharedFile::open(::getpid(), first->descriptor());
      EXPECT_TRUE(own.ok()) << own.outcome().text;
      memory.push_back(std::move(*own));
      std::vector<uint32_t> ownRanks(ranksPerSite);
      std::iota(ownRanks.begin(), ownRanks.end(), rank);
      host::Site site(ranks, std::move(ownRanks), memory.back(), *neighbours,
                      std::chrono::milliseconds(options.timeoutMs));
      if (sharesBuffers) {
        std::vector<int> processes;
        for (uint32_t r = 0; r < ranks; ++r)
          processes.push_back(site.owns(r) ? 0 : ::getpid());
        site.allowAccess(std::move(processes));
      }
      auto made = api::HostBackend::make(file, std::move(site), neighbours, options);
      EXPECT_TRUE(made.ok()) << made.outcome().text;
      for (uint32_t i = 0; i < ranksPerSite; ++i)
        backends.push_back(*made);
    }
  }

  /// Calls function(rank, backend) on a thread for each of the ranks `first` to the last.
  std::vector<Outcome> threads(const std::function<Outcome(uint32_t, api::Backend &)> &function, uint32_t first = 0) {
    std::vector<Outcome> outcomes(backends.size());
    std::vector<std::thread> workers;
    for (uint32_t rank = first; rank < backends.size(); ++rank)
      workers.emplace_back([&, rank] { outcomes[rank] = function(rank, *backends[rank]); });
    for (std::thread &worker : workers)
      worker.join();
    return outcomes;
  }

  std::shared_ptr<const bundle::BundleFile> file;
  std::shared_ptr<FakeNeighbours> neighbours = std::make_shared<FakeNeighbours>();
  std::vector<host::SharedFile> memory;                    ///< by site
  std::vector<std::shared_ptr<api::HostBackend>> backends; ///< by rank
};

} // namespace

class SitesWith : public testing::TestWithParam<Route> {
protected:
  const bool sharesBuffers = GetParam() != Route::ThroughSlots;
};
INSTANTIATE_TEST_SUITE_P(Messages, SitesWith,
                         testing::Values(Route::ThroughSlots, Route::ThroughTheSystem, Route::Mapped),
                         [](const auto &route) {
                           return route.param == Route::ThroughSlots       ? "ThroughSlots"
                                  : route.param == Route::ThroughTheSystem ? "ThroughTheSystem"
                                                                           : "Mapped";
                         });

TEST_P(SitesWith, ComputeSums) {
  for (const uint32_t ranksPerSite : {1u, 2u, 4u}) {
    Sites sites({ringAllReduce(4, ranksPerSite != 2)}, 4, ranksPerSite, {}, sharesBuffers);
    for (const uint64_t count : {1u, 5u, 1000u, 100000u})
      for (const bool isInPlace : {false, true})
        expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) {
          return sums(backend, rank, count, 5, isInPlace, GetParam());
        }),
                  gc3Success);
  }
}

TEST_P(SitesWith, RunEveryKindOfProgram) {
  constexpr uint32_t ranks = 3, count = 50000;
  Sites sites({plainRingAllReduce(ranks), allToAll(ranks, 2), allGather(ranks, true), reduceScatter(ranks, true),
               broadcast(ranks, 1)},
              ranks, 1, {}, sharesBuffers);
  const auto callAll = [&](uint32_t rank, api::Backend &backend) {
    return callEveryKind(backend, rank, count, GetParam());
  };
  for (int round = 0; round < 3; ++round) // messages of the first calls use slots
    expectAll(sites.threads(callAll), gc3Success);
}

// A process that is stopped while it decides on a timeout would otherwise stop the others forever.
TEST(Sites, DoNotWaitForeverForADecision) {
  api::HostBackendOptions options;
  options.timeoutMs = 250;
  Sites sites({ringAllReduce(2, false)}, 2, 1, options);
  core::Result<host::SharedFile> file = host::SharedFile::open(::getpid(), sites.memory[0].descriptor());
  ASSERT_TRUE(file.ok());
  core::Result<host::SharedPart> first = file->take(api::Board::bytes(2));
  ASSERT_TRUE(first.ok());
  api::Board(first->data(), 2).timeoutState().store(api::TimeoutState::Deciding);
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 5, 1); }), gc3Timeout,
            "a process that decides on a timeout has not continued within 250 ms; is it stopped?");
}

// Announcements of another host come over several connections, so they can be repeated, and overtake each other.
TEST(Sites, ClaimEachAnnouncementOnce) {
  using Claim = api::Board::Claim;
  constexpr uint32_t ranks = 2;
  alignas(4096) static std::array<std::byte, 1 << 16> memory{};
  ASSERT_LE(api::Board::bytes(ranks), memory.size());
  api::Board board(memory.data(), ranks);
  EXPECT_EQ(board.claim(1, 2), Claim::Gap);
  EXPECT_EQ(board.claim(1, 1), Claim::Own);
  EXPECT_EQ(board.claim(1, 1), Claim::Known);
  EXPECT_EQ(board.claim(1, 2), Claim::Own) << "although its process may still store the first one";
  EXPECT_EQ(board.claim(1, 3), Claim::Own);
  EXPECT_EQ(board.claim(1, 1), Claim::Known) << "a late repetition";
  EXPECT_EQ(board.claim(1, 5), Claim::Gap);
  EXPECT_EQ(board.claim(0, 1), Claim::Own) << "another rank";
}

namespace {
/// Returns how often this process has mapped the memory of an arena.
int arenaMappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("memfd:gc3 buffers") != line.npos;
  return count;
}
} // namespace

TEST(Sites, MapArenasIfAllBuffersAreThere) {
  Sites sites({ringAllReduce(2, false)}, 2, 1, {}, true);
  const auto callAll = [&](Route route0, Route route1) {
    expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) {
      return sums(backend, rank, 100000, 3, false, rank == 0 ? route0 : route1);
    }),
              gc3Success);
  };
  callAll(Route::ThroughTheSystem, Route::ThroughTheSystem);
  Floats first(1, memoryFor(Route::Mapped)); // the arena exists
  const int own = arenaMappings();
  callAll(Route::ThroughTheSystem, Route::ThroughTheSystem);
  EXPECT_EQ(arenaMappings(), own);
  callAll(Route::Mapped, Route::ThroughTheSystem);
  EXPECT_EQ(arenaMappings(), own + 1); // rank 1's process accesses the buffers of rank 0
  callAll(Route::Mapped, Route::Mapped);
  callAll(Route::ThroughTheSystem, Route::Mapped);
  EXPECT_EQ(arenaMappings(), own + 2);
}

// The table keeps 64 prepared calls. A rank that is late may still be in an earlier call when others drop calls.
TEST(Sites, DropPreparedCalls) {
  Sites sites({ringAllReduce(2, false)}, 2, 1);
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) {
    for (uint64_t count = 1; count <= 200; ++count)
      if (Outcome outcome = sums(backend, rank, count, 2); !outcome.ok())
        return outcome;
    return sums(backend, rank, 1, 3);
  }),
            gc3Success);
}

TEST(Sites, RejectDifferentCalls) {
  Sites sites({ringAllReduce(2, false)}, 2, 1);
  std::vector<float> send(10), recv(20);
  expectAll(
      sites.threads([&](uint32_t rank, api::Backend &backend) {
        return call(backend, rank, allReduce(send.data(), recv.data() + 10 * rank, 10 - rank));
      }),
      gc3InvalidUsage,
      "the calls of the ranks do not match: rank 0 calls 'allreduce' of 10 float, sum; rank 1 calls 'allreduce' of 9 "
      "float, sum");
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 2); }),
            gc3Success);
  // The first rank has entered a call that it has prepared before, and may have sent a message.
  expectAll(
      sites.threads([&](uint32_t rank, api::Backend &backend) {
        return call(backend, rank, allReduce(send.data(), recv.data() + 10 * rank, 10, rank == 0 ? gc3Sum : gc3Max));
      }),
      gc3InvalidUsage,
      "the calls of the ranks do not match: rank 0 calls 'allreduce' of 10 float, sum; rank 1 calls 'allreduce' of 10 "
      "float, max");
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 2); }),
            gc3Success);
  EXPECT_TRUE(sites.neighbours->reported.ok());
}

TEST(Sites, RejectBuffersOfOneRank) {
  Sites sites({ringAllReduce(2, false)}, 2, 1);
  std::vector<float> buffer(40);
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) {
    const float *send = buffer.data() + 20 * rank;
    return call(backend, rank, allReduce(send, buffer.data() + 20 * rank + rank, 10));
  }),
            gc3InvalidArgument, "rank 1: send and receive buffers overlap, but not as in a call in place");
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 2); }),
            gc3Success);
}

TEST(Sites, RejectLongNames) {
  Sites sites({ringAllReduce(2, false)}, 2, 1);
  const std::string name(1000, 'a');
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) {
    return call(backend, rank, {core::CallKind::Collective, name, nullptr, nullptr, 1, gc3Float32, gc3Sum, -1});
  }),
            gc3InvalidArgument, "between processes, the text of a collective has at most 960 bytes");
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 2); }),
            gc3Success);
}

TEST(Sites, TimeOutWithoutARank) {
  api::HostBackendOptions options;
  options.timeoutMs = 250;
  Sites sites({ringAllReduce(3, false)}, 3, 1, options);
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 2); }),
            gc3Success);
  std::vector<Outcome> outcomes =
      sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 1); }, 1);
  outcomes.erase(outcomes.begin());
  expectAll(outcomes, gc3Timeout,
            "after 250 ms, 2 of 3 ranks wait in a call that these ranks have not made: 0 (whose process is 100)");
  outcomes = sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 1); });
  expectAll({outcomes[0]}, gc3Timeout,
            "other processes have waited for this one for 250 ms, and their call has timed out; destroy the "
            "communicators and create new ones");
  outcomes.erase(outcomes.begin());
  expectAll(outcomes, gc3Timeout,
            "an earlier call timed out; destroy the communicators and create new ones. Its error: after 250 ms, 2 of 3 "
            "ranks wait in a call that these ranks have not made: 0 (whose process is 100)");
}

TEST(Sites, NoticeALossBeforeACall) {
  Sites sites({ringAllReduce(2, false)}, 2, 1);
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 2); }),
            gc3Success);
  sites.neighbours->isLost = true;
  const Outcome outcome = sums(*sites.backends[0], 0, 10, 1);
  EXPECT_EQ(outcome.code, gc3RemoteError);
  EXPECT_EQ(outcome.text,
            "rank 1, whose process 4711 on host a has ended; 1 of 2 ranks wait in a call that these ranks have "
            "not made: 1 (whose process is 101)");
  EXPECT_EQ(sums(*sites.backends[0], 0, 10, 1).code, gc3RemoteError);
}

namespace {

const std::string waitingText =
    "; in program 'ring2_1':\n  rank 0 thread block 0 step 2 (recv, tile 0) waits for a message from "
    "rank 1 on channel 0, whose process is 101";

/// Lets rank 1 announce a call, and not run it.
std::vector<Outcome> runWithoutRank1(Sites &sites) {
  std::vector<float> send(10), recv(10);
  const core::RankRequest part{1, allReduce(send.data(), recv.data(), 10)};
  EXPECT_TRUE(sites.backends[1]->arrive({&part, 1}).refused.ok());
  return sites.threads(
      [&](uint32_t rank, api::Backend &backend) { return rank == 1 ? Outcome{} : sums(backend, rank, 10, 1); });
}

} // namespace

TEST(Sites, NoticeALossInACall) {
  Sites sites({ringAllReduce(2, false)}, 2, 1);
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 2); }),
            gc3Success);
  sites.neighbours->isLost = true;
  const std::vector<Outcome> outcomes = runWithoutRank1(sites);
  EXPECT_EQ(outcomes[0].code, gc3RemoteError);
  EXPECT_EQ(outcomes[0].text, "rank 1, whose process 4711 on host a has ended" + waitingText);
}

TEST(Sites, TimeOutInACall) {
  api::HostBackendOptions options;
  options.timeoutMs = 250;
  Sites sites({ringAllReduce(2, false)}, 2, 1, options);
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 2); }),
            gc3Success);
  const std::vector<Outcome> outcomes = runWithoutRank1(sites);
  EXPECT_EQ(outcomes[0].code, gc3Timeout);
  EXPECT_EQ(outcomes[0].text, "no rank has moved a message for 250 ms" + waitingText);
  EXPECT_EQ(sites.neighbours->reported.text, outcomes[0].text);
}

/// Rank 1 has announced a call and does not run it, so it is in a call. Rank 0 is in the next one.
TEST(Sites, TimeOutWithoutAStoppedRank) {
  api::HostBackendOptions options;
  options.timeoutMs = 250;
  Sites sites({broadcast(2, 0)}, 2, 1, options);
  const auto request = [](std::vector<float> &data) {
    return core::Request{core::CallKind::Standard, "broadcast", data.data(), data.data(), 10, gc3Float32, gc3Sum, 0};
  };
  std::vector<float> data(10), other(10);
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) {
    return call(backend, rank, request(rank == 0 ? data : other));
  }),
            gc3Success);
  const core::RankRequest part{1, request(other)};
  EXPECT_TRUE(sites.backends[1]->arrive({&part, 1}).refused.ok());
  EXPECT_EQ(call(*sites.backends[0], 0, request(data)).code, gc3Success);
  sites.neighbours->isRank1Stopped = true;
  const Outcome outcome = call(*sites.backends[0], 0, request(data));
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_EQ(outcome.text,
            "after 250 ms, 1 of 2 ranks wait in a call that these ranks have not made: 1 (whose process is 101)");
  EXPECT_EQ(sites.neighbours->reported.text, outcome.text);
}

/// The processes have chosen by different requests, so their next choices can differ.
TEST(Sites, DifferentCallsEndOnlineSelection) {
  api::HostBackendOptions options;
  options.call.tune.isOnline = true;
  Sites sites(differentAllReduces(2), 2, 1, options);
  std::vector<float> send(1000), recv(2000);
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) {
    return call(backend, rank, allReduce(send.data(), recv.data() + size_t{1000} * rank, rank == 0 ? 1000 : 10));
  }),
            gc3InvalidUsage);
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 1); }),
            gc3InvalidUsage);
}

TEST(HostInfo, RanksCompareWhatMustBeEqual) {
  const std::string bytes = buildBundle({broadcast(2, 0)});
  const auto file = bundle::BundleFile::openMemory(bytes.data(), bytes.size());
  ASSERT_TRUE(file.ok());
  const auto difference = [&](const std::function<void(api::HostBackendOptions &)> &change) {
    api::HostBackendOptions plain, changed;
    plain.call.tune.isOnline = changed.call.tune.isOnline = true;
    change(changed);
    const api::HostInfo infos[] = {api::HostInfo::of(plain, **file), api::HostInfo::of(changed, **file)};
    return api::disagreement(infos);
  };
  EXPECT_EQ(difference([](auto &) {}), "");
  EXPECT_EQ(difference([](auto &options) { options.timeoutMs = 1; }), "");
  EXPECT_EQ(difference([](auto &options) { options.call.tune.hasShapes = true; }),
            "rank 1 has another GC3_TUNE than rank 0");
  EXPECT_EQ(difference([](auto &options) { options.call.tune.keepsBits = true; }),
            "rank 1 has another GC3_TUNE than rank 0");
  EXPECT_EQ(difference([](auto &options) { options.call.tune.isOnline = false; }),
            "rank 1 has another GC3_TUNE than rank 0");
  EXPECT_EQ(difference([](auto &options) { options.call.tune.explorable = 0; }),
            "rank 1 has another GC3_TUNE_BUDGET than rank 0");
  EXPECT_EQ(difference([](auto &options) { options.call.reports.programs = "ring"; }),
            "rank 1 has another GC3_PROGRAM than rank 0");
  EXPECT_EQ(difference([](auto &options) { options.call.layout.tileElements = 7; }),
            "rank 1 has other FIFO slots than rank 0");
  EXPECT_EQ(difference([](auto &options) { options.call.seed = 7; }), "rank 1 has another order than rank 0");
  EXPECT_EQ(difference([](auto &options) { options.call.allowUnproven = true; }),
            "rank 1 has other options than rank 0");
}

TEST(Sites, RunAdversarialOrders) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    api::HostBackendOptions options;
    options.call.adversarial = true;
    options.call.seed = seed;
    Sites sites({plainRingAllReduce(4)}, 4, seed % 2 + 1, options);
    expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 100, 3); }),
              gc3Success);
  }
}

TEST(Sites, ChooseTheSamePrograms) {
  api::HostBackendOptions options;
  options.call.tune.isOnline = true;
  Sites sites(promisingAllReduces(2), 2, 1, options);
  expectAll(sites.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 300, 2000); }),
            gc3Success);
  const core::OnlineSelection::Counters first = sites.backends[0]->tuneCounters(),
                                        second = sites.backends[1]->tuneCounters();
  EXPECT_EQ(first.explored, second.explored);
  EXPECT_EQ(first.changes, second.changes);
  EXPECT_GT(first.explored, 0u);
}
