// SPDX-License-Identifier: Apache-2.0
// The ranks of one group of communicators meeting for a call. Each thread brings the requests of its ranks, waits until
// all ranks have come, and runs its own ranks' parts; whoever comes first to a call that is not prepared yet prepares
// it for all.
//
// A rank announces itself in a cache line of its own, together with the prepared call that it takes itself to be
// making. Where all ranks name the same one their requests match, and nothing is left to agree on: a repeated call
// takes no lock and writes to no line that another rank writes to.
#pragma once

#include "api/Backend.h"
#include "gc3.h"
#include "host/CallTable.h"
#include "host/Executor.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace gc3::api {

struct HostBackendOptions {
  host::CallOptions call;
  uint32_t timeoutMs = 60000;
};

class HostBackend final : public Backend {
public:
  HostBackend(std::shared_ptr<const bundle::BundleFile> bundle, uint32_t rankCount, const HostBackendOptions &chosen);

  uint32_t ranks() const override { return rankCount; }
  bool takesStreams() const override { return false; }

  Arrival arrive(std::span<const core::RankRequest> parts) override;
  /// After a call that timed out the ranks no longer agree on which call is which, so every later one fails at once.
  core::Outcome complete(const Arrival &arrival) override;
  core::Result<const char *> select(const core::Request &request) override;
  core::Outcome asyncError() override { return {}; }

private:
  /// What a rank says about one call. Written before `number`, by its own thread.
  struct alignas(host::linePair) Notice {
    std::atomic<uint64_t> number{0};
    host::PreparedCall *call = nullptr; ///< entered already; null: to be agreed on
    host::Sharing sharing{};            ///< see host::PreparedCall::sharing
    const core::Request *request = nullptr;
  };
  /// The prepared calls that a rank has made lately.
  struct Lately {
    static constexpr uint32_t size = 16;
    std::array<host::PreparedCall *, size> calls{};
    uint32_t next = 0;
    uint64_t retirements = 0; ///< when these were noted
  };
  struct alignas(host::linePair) Seat {
    /// By the parity of the call: a rank announces call n + 2 only after it has seen all ranks in n + 1, who have
    /// therefore read what it said about n.
    Notice notices[2];
    alignas(host::linePair) std::atomic<bool> busy{false}; ///< a thread is in a call of this rank
    uint64_t number = 0;                                   ///< calls announced
    Lately lately;
  };
  /// What became of a call that had to be agreed on.
  struct Verdict {
    uint64_t number = 0;
    core::Result<host::Entered> result = host::Entered{};
  };

  void announce(const core::RankRequest &part);
  host::PreparedCall *recall(Seat &seat, const core::RankRequest &part, core::Placement &placement);
  void forgetRetired(Lately &lately) const;
  bool allHere(uint64_t number, uint32_t &next) const;
  core::Outcome await(uint64_t number, size_t own);
  core::Outcome timeOut(uint64_t number, bool due);
  void giveBack(std::span<const core::RankRequest> parts);
  std::optional<host::Entered> findAgreed(uint64_t number) const;
  core::Result<host::Entered> agree(uint64_t number);
  void remember(std::span<const core::RankRequest> parts, host::PreparedCall *call);
  core::Outcome run(const Arrival &arrival);

  const std::shared_ptr<const bundle::BundleFile> file;
  const HostBackendOptions options;
  const uint32_t rankCount;
  std::unique_ptr<Seat[]> seats;
  host::Parking waiting; ///< for the other ranks
  std::atomic<bool> timedOut{false};
  host::WorkerPool pool;
  std::mutex agreement; ///< guards what follows; a query may come while a call runs
  host::CallTable table;
  Verdict verdict;
  core::Outcome broken; ///< not ok: a call has timed out
};

} // namespace gc3::api
