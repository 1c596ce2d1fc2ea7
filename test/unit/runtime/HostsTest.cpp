// SPDX-License-Identifier: Apache-2.0
// Host communicators whose ranks are on several hosts, over a network that is in this process.
#include "FakeNetwork.h"
#include "HostCalls.h"
#include "Programs.h"

#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace gc3;
using namespace gc3::test;

namespace {

/// The processes of one communicator. Each has `ranksPerProcess` ranks, and each host has `ranksPerHost`.
class Hosts {
public:
  struct Shape {
    uint32_t ranks, ranksPerHost, ranksPerProcess;
  };
  Hosts(const std::vector<ProgramSpec> &programs, const Shape &shape, const api::HostBackendOptions &options = {},
        uint64_t seed = 1)
      : network(seed) {
    const std::string bytes = buildBundle(programs);
    auto opened = bundle::BundleFile::openMemory(bytes.data(), bytes.size());
    EXPECT_TRUE(opened.ok());
    file = std::move(*opened);
    for (uint32_t rank = 0; rank < shape.ranks; rank += shape.ranksPerProcess)
      addProcess(shape, rank, options);
    std::vector<std::vector<uint8_t>> addresses;
    for (uint32_t rank = 0; rank < shape.ranks; ++rank)
      addresses.push_back(transports[rank / shape.ranksPerProcess]->address());
    onThreads(transports.size(), [&](size_t process) {
      const Outcome outcome = transports[process]->connect(
          addresses, std::chrono::steady_clock::now() + std::chrono::seconds(60), [] { return Outcome{}; });
      EXPECT_TRUE(outcome.ok()) << outcome.text;
    });
  }
  ~Hosts() { // each process waits for the others
    const auto count = backends.size();
    onThreads(count, [&](size_t rank) { backends[rank].reset(); });
  }

  /// Calls function(rank, backend) on a thread for each of the ranks `firstRank` to the last.
  std::vector<Outcome> threads(const std::function<Outcome(uint32_t, api::Backend &)> &function,
                               uint32_t firstRank = 0) {
    std::vector<Outcome> outcomes(backends.size());
    onThreads(backends.size() - firstRank, [&](size_t i) {
      outcomes[firstRank + i] = function(static_cast<uint32_t>(firstRank + i), *backends[firstRank + i]);
    });
    return outcomes;
  }

  FakeNetwork network;
  std::shared_ptr<FakeNeighbours> neighbours = std::make_shared<FakeNeighbours>();
  std::vector<std::unique_ptr<host::Transport>> transports; ///< by process
  std::vector<std::shared_ptr<api::HostBackend>> backends;  ///< by rank

private:
  static void onThreads(size_t count, const std::function<void(size_t)> &function) {
    std::vector<std::thread> workers;
    for (size_t i = 0; i < count; ++i)
      workers.emplace_back([&, i] { function(i); });
    for (std::thread &worker : workers)
      worker.join();
  }

  void addProcess(const Shape &shape, uint32_t rank, const api::HostBackendOptions &options) {
    if (rank % shape.ranksPerHost == 0) {
      auto created = host::SharedFile::create();
      EXPECT_TRUE(created.ok());
      first = std::make_unique<host::SharedFile>(std::move(*created));
    }
    auto opened = host::SharedFile::open(::getpid(), first->descriptor());
    EXPECT_TRUE(opened.ok());
    memory.push_back(std::make_unique<host::SharedFile>(std::move(*opened)));
    std::vector<uint32_t> ownRanks(shape.ranksPerProcess), listeners;
    std::vector<uint32_t> processes(shape.ranks, host::Transport::none);
    std::iota(ownRanks.begin(), ownRanks.end(), rank);
    std::vector<bool> isRemote(shape.ranks);
    for (uint32_t other = 0; other < shape.ranks; ++other)
      if (other / shape.ranksPerHost != rank / shape.ranksPerHost) {
        isRemote[other] = true;
        processes[other] = other / shape.ranksPerProcess * shape.ranksPerProcess;
        if (other % shape.ranksPerHost == rank % shape.ranksPerHost)
          listeners.push_back(processes[other]);
      }
    const auto describe = [](uint32_t of) { return "process " + std::to_string(100 + of); };
    host::Transport &transport = *transports.emplace_back(std::make_unique<host::Transport>(
        std::make_unique<FakeWire>(network, rank), host::Transport::Reach{std::move(processes), std::move(listeners)},
        ownRanks, describe));
    host::Site site(shape.ranks, ownRanks, *memory.back(), *neighbours, std::chrono::milliseconds(options.timeoutMs));
    site.connectHosts(transport, std::move(isRemote));
    auto made = api::HostBackend::make(file, std::move(site), neighbours, options);
    EXPECT_TRUE(made.ok()) << made.outcome().text;
    for (uint32_t i = 0; i < shape.ranksPerProcess; ++i)
      backends.push_back(*made);
  }

  std::shared_ptr<const bundle::BundleFile> file;
  std::unique_ptr<host::SharedFile> first;               ///< of the current host
  std::vector<std::unique_ptr<host::SharedFile>> memory; ///< by process
};

constexpr Hosts::Shape oneRankEach{2, 1, 1}, twoProcessesEach{4, 2, 1}, twoRanksInAProcess{4, 2, 2};

} // namespace

TEST(Hosts, ComputeSums) {
  for (const Hosts::Shape &shape : {oneRankEach, twoProcessesEach, twoRanksInAProcess, Hosts::Shape{4, 1, 1}})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      Hosts hosts({ringAllReduce(shape.ranks, true)}, shape, {}, seed);
      for (const uint64_t count : {1u, 5u, 1000u, 100000u})
        for (const bool isInPlace : {false, true})
          expectAll(hosts.threads(
                        [&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, count, 5, isInPlace); }),
                    gc3Success);
    }
}

TEST(Hosts, RunEveryKindOfProgram) {
  constexpr uint32_t ranks = 4, count = 20000;
  Hosts hosts({plainRingAllReduce(ranks), allToAll(ranks, 2), allGather(ranks, true), reduceScatter(ranks, true),
               broadcast(ranks, 1)},
              twoProcessesEach);
  const auto callAll = [&](uint32_t rank, api::Backend &backend) { return callEveryKind(backend, rank, count); };
  for (int round = 0; round < 3; ++round)
    expectAll(hosts.threads(callAll), gc3Success);
}

// The table keeps 64 prepared calls. A process of the host discards their memory while others still run.
TEST(Hosts, DropPreparedCalls) {
  for (const Hosts::Shape &shape : {twoProcessesEach, twoRanksInAProcess}) {
    Hosts hosts({ringAllReduce(4, false)}, shape);
    expectAll(hosts.threads([&](uint32_t rank, api::Backend &backend) {
      for (uint64_t count = 1; count <= 150; ++count)
        if (Outcome outcome = sums(backend, rank, count, 2); !outcome.ok())
          return outcome;
      return sums(backend, rank, 1, 3);
    }),
              gc3Success);
  }
}

/// Rank 0 has entered a call that it has prepared before, and has sent a message in it.
TEST(Hosts, RejectDifferentCalls) {
  Hosts hosts({ringAllReduce(2, false)}, oneRankEach);
  std::vector<float> send(10), recv(20);
  for (int round = 0; round < 10; ++round) {
    expectAll(hosts.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 2); }),
              gc3Success);
    expectAll(hosts.threads([&](uint32_t rank, api::Backend &backend) {
      return call(backend, rank, allReduce(send.data(), recv.data() + 10 * rank, 10, rank == 0 ? gc3Sum : gc3Max));
    }),
              gc3InvalidUsage,
              "the calls of the ranks do not match: rank 0 calls 'allreduce' of 10 float, sum; rank 1 calls "
              "'allreduce' of 10 "
              "float, max");
  }
}

TEST(Hosts, RunAdversarialOrders) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    api::HostBackendOptions options;
    options.call.adversarial = true;
    options.call.seed = seed;
    Hosts hosts({plainRingAllReduce(4)}, seed % 2 == 0 ? twoProcessesEach : twoRanksInAProcess, options, seed);
    expectAll(hosts.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 100, 3); }),
              gc3Success);
  }
}

TEST(Hosts, ChooseTheSamePrograms) {
  api::HostBackendOptions options;
  options.call.tune.isOnline = true;
  Hosts hosts(promisingAllReduces(2), oneRankEach, options);
  expectAll(hosts.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 300, 1000); }),
            gc3Success);
  const core::OnlineSelection::Counters first = hosts.backends[0]->tuneCounters(),
                                        second = hosts.backends[1]->tuneCounters();
  EXPECT_EQ(first.explored, second.explored);
  EXPECT_EQ(first.changes, second.changes);
  EXPECT_GT(first.explored, 0u);
}

TEST(Hosts, TimeOutWithoutARank) {
  api::HostBackendOptions options;
  options.timeoutMs = 200;
  Hosts hosts({ringAllReduce(4, false)}, twoProcessesEach, options);
  expectAll(hosts.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 2); }),
            gc3Success);
  std::vector<Outcome> outcomes =
      hosts.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 1); }, 1);
  outcomes.erase(outcomes.begin());
  expectAll(outcomes, gc3Timeout,
            "after 200 ms, 3 of 4 ranks wait in a call that these ranks have not made: 0 (whose process is 100)");
}

TEST(Hosts, NoticeALostConnection) {
  Hosts hosts({ringAllReduce(2, false)}, oneRankEach);
  expectAll(hosts.threads([&](uint32_t rank, api::Backend &backend) { return sums(backend, rank, 10, 2); }),
            gc3Success);
  {
    const std::lock_guard lock(hosts.network.mutex);
    hosts.network.cut[0] = hosts.network.cut[1] = "Connection reset by remote peer";
  }
  std::vector<float> send(10), recv(10);
  const core::RankRequest part{1, allReduce(send.data(), recv.data(), 10)};
  EXPECT_TRUE(hosts.backends[1]->arrive({&part, 1}).refused.ok()); // announces a call, and does not run it
  const Outcome outcome = sums(*hosts.backends[0], 0, 10, 1);
  EXPECT_EQ(outcome.code, gc3RemoteError);
  EXPECT_EQ(outcome.text.substr(0, outcome.text.find(';')),
            "the connection to rank 1 (process 101) is lost: Connection reset by remote peer");
}
