// SPDX-License-Identifier: Apache-2.0
// Synchronizes the ranks of one group of communicators for each call. Each thread announces the requests of its ranks,
// waits until all ranks have arrived, and runs the parts of its own ranks. If the call is not prepared yet, one thread
// prepares it for all ranks.
//
// Each rank has its own cache line for its announcement, which names the prepared call that the rank expects to make.
// If all ranks announce the same prepared call, their requests match, and no agreement is necessary. So a repeated call
// takes no lock, and no rank writes to a cache line that another rank writes to.
//
// If the ranks are in several processes of a machine, the announcements and the slots of messages are in memory that
// the processes share. Each process prepares the calls for itself. They prepare the same calls in the same order,
// because they read the same requests. A host::Transport brings announcements and messages of other hosts.
#pragma once

#include "api/Backend.h"
#include "api/Board.h"
#include "api/InFlight.h"
#include "api/OnlineCalls.h"
#include "gc3.h"
#include "host/CallTable.h"
#include "host/Executor.h"
#include "host/SiteMemory.h"
#include "host/Transport.h"

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

class HostBackend final : public Backend, private OnlineCalls::Reader, private host::Transport::Announcements {
public:
  /// `keeper` owns what `site` refers to; null if the site is whole. gc3SystemError: there is no memory.
  static core::Result<std::shared_ptr<HostBackend>> make(std::shared_ptr<const bundle::BundleFile> bundle,
                                                         host::Site site, std::shared_ptr<host::Neighbours> keeper,
                                                         const HostBackendOptions &chosen);

  ~HostBackend() override;

  /// Returns what connects the ranks with other hosts; null if there are none.
  host::Transport *transport() const { return site.transport(); }
  uint32_t ranks() const override { return site.ranks(); }
  bool takesStreams() const override { return false; }

  Arrival arrive(std::span<const core::RankRequest> parts) override;
  /// After a timeout, ranks have made different numbers of calls, so every later call fails at once. If ranks are in
  /// several processes, this also holds after an error that ranks do not have in common.
  core::Outcome complete(const Arrival &arrival) override;
  core::Result<const char *> select(const core::Request &request) override;
  core::Outcome asyncError() override { return {}; }
  core::OnlineSelection::Counters tuneCounters() override {
    return online ? online->counters() : core::OnlineSelection::Counters{};
  }
  core::Outcome saveTuneFile(const char *path) override;
  /// After the last rank has left, saves what online selection has learned. Not if a rank was aborted.
  void leave(bool aborts) override;

private:
  HostBackend(std::shared_ptr<const bundle::BundleFile> bundle, host::Site ranks,
              std::shared_ptr<host::Neighbours> keeper, host::SiteMemory memory, const HostBackendOptions &chosen);

  static constexpr uint32_t anyNumber = UINT32_MAX;
  /// The prepared calls that a rank has recently made.
  struct RecentCalls {
    static constexpr uint32_t size = 16;
    struct Entry {
      host::PreparedCall *call = nullptr;
      uint32_t uses = 0; ///< the number of calls that may use it before there must be a decision
    };
    std::array<Entry, size> calls{};
    uint32_t next = 0;
    uint64_t retirements = 0; ///< value of CallTable::retirements() for which `calls` is valid
  };
  /// What only this process knows about its rank.
  struct alignas(host::linePair) RankState {
    uint64_t number = 0;                    ///< number of calls announced
    host::PreparedCall *call = nullptr;     ///< the announced call
    const core::Request *request = nullptr; ///< the announced request
    OnlineCalls::TimedCall timed;
    bool isTimed = false; ///< the call is timed
    RecentCalls recent;
  };
  /// The arena of a rank of another process.
  struct View {
    host::ArenaPlace place;
    std::optional<host::ArenaView> arena; ///< no value: the system refuses it
  };
  class Stopwatch;
  /// The result of a call on which the ranks had to agree.
  struct AgreedCall {
    uint64_t number = 0;
    core::Result<host::Entered> result = host::Entered{};
  };

  void announce(const core::RankRequest &part);
  void describe(const core::RankRequest &part, core::Placement placement, Announcement &announcement) const;
  host::PreparedCall *findPrepared(RankState &state, const core::RankRequest &part, core::Placement &placement);
  host::PreparedCall *findRecent(RankState &state, const core::Request &request) const;
  host::PreparedCall *decide(RankState &state, const core::Request &request);
  void dropRetired(RecentCalls &recent) const;
  bool receive(uint32_t rank, uint64_t number, std::span<const std::byte> data) override;
  bool haveAllArrived(uint64_t number, uint32_t &next) const;
  template <typename Over>
  void sleepUntil(host::Parking::Clock::time_point deadline, Over over);
  core::Outcome drain();
  bool pollForAll(uint64_t number, uint32_t &next, bool isCrowded) const;
  core::Outcome await(const Arrival &arrival);
  void announceToRest(const Arrival &arrival);
  core::Outcome timeOut(uint64_t number, bool due);
  core::Outcome endByTimeout(uint64_t number);
  bool decideTimeout(uint64_t number);
  std::string listMissing(uint64_t number) const;
  core::Outcome findLoss(uint64_t number);
  core::Outcome awaitDecision();
  core::Outcome findFailure();
  core::Outcome fail(const core::Outcome &outcome);
  void release(std::span<const core::RankRequest> parts);
  std::optional<host::Entered> findAgreed(const Arrival &arrival) const;
  core::Outcome compareChoices(uint64_t number) const;
  bool endsAll(gc3Result_t code) const;
  const host::PreparedCall &announcedCall(uint64_t id) const;
  core::Request requestOf(uint32_t rank, uint64_t number) const;
  const host::ArenaView *viewOf(uint32_t rank, const host::ArenaPlace &place);
  void meetOthers(host::PreparedCall &call, uint64_t number, host::Sharing sharing);
  core::Result<host::Entered> agree(uint64_t number);
  OnlineCalls::TimedCall lastTimed(uint64_t number) const override;
  core::Result<host::Entered> begin(uint64_t number);
  void noteAgreed(RankState &state, uint64_t number, host::PreparedCall *call) const;
  void addRecent(RankState &state, host::PreparedCall *call, uint32_t uses) const;
  core::Outcome run(const Arrival &arrival);

  const std::shared_ptr<const bundle::BundleFile> file;
  const HostBackendOptions options;
  const std::shared_ptr<host::Neighbours> others;
  host::Site site;
  const host::SiteMemory boardMemory;
  Board board;
  std::unique_ptr<RankState[]> states; ///< by rank
  InFlight inFlight;                   ///< the first rank of this process begins and ends its calls
  std::atomic<bool> hasFailed{false};  ///< `failure` is set
  std::atomic<uint32_t> rest;          ///< ranks of this process that have not been destroyed
  host::WorkerPool pool;
  std::mutex meeting;      ///< guards the next two members
  uint64_t metNumber = 0;  ///< the last call of meetOthers()
  std::vector<View> views; ///< by rank; those of this process's ranks are not used
  std::mutex agreement;    ///< guards the following members; select() can run during a call
  host::CallTable table;
  std::optional<OnlineCalls> online; ///< has its own lock
  AgreedCall agreedCall;
  core::Outcome failure; ///< the error of all later calls
};

} // namespace gc3::api
