// SPDX-License-Identifier: Apache-2.0
// Online selection for the ranks of a host communicator. The ranks share one decision for each timed call: the first
// rank that begins the call makes it, from the times of all timed calls up to the last but one. All ranks have
// announced these times when any rank begins the call (docs/selection.md). Calls between timed calls repeat the
// favourite, and need no decision.
#pragma once

#include "core/OnlineSelection.h"
#include "host/CallTable.h"

#include <array>
#include <atomic>
#include <deque>
#include <mutex>

namespace gc3::api {

class OnlineCalls {
public:
  /// `callTable` must outlive this object. `tableMutex` guards it.
  OnlineCalls(host::CallTable &callTable, std::mutex &tableMutex)
      : table(callTable), agreement(tableMutex), selection(table.makeOnline()) {}

  /// Equal requests, and the prepared calls of their arms.
  struct Site {
    std::string name; ///< storage of request.name
    core::Request request;
    std::array<core::OnlineSelection::Kind, 2> kinds; ///< by traffic
    std::vector<host::PreparedCall *> calls; ///< by arm; null: not prepared. Valid for one value of `retirements`
    uint64_t retirements = 0;
    core::CallPlace place{}; ///< of the last timed call
    core::Traffic traffic{}; ///< of the last timed call
    const core::OnlineSelection::Kind &kind() const { return kinds[static_cast<size_t>(traffic)]; }
  };
  struct Decision {
    Site *site = nullptr; ///< null: the arm is fixed
    core::OnlineSelection::Decision choice;
  };
  /// A rank's last timed call. A rank announces it with its next calls.
  struct TimedCall {
    uint64_t number = 0;
    float microseconds = 0; ///< NaN: unknown
    bool isInPlace = false;
    bool isShared = false; ///< other communicators had calls in flight when all ranks had arrived
    bool operator==(const TimedCall &) const = default;
  };
  /// Reads what all ranks announced.
  class Reader {
  public:
    virtual ~Reader() = default;
    /// Returns the last timed call that all ranks announced with call `number`; its number is 0 if they differ. The
    /// time is the longest of all ranks.
    virtual TimedCall lastTimed(uint64_t number) const = 0;
  };
  /// Returns the decision for call `number`. Valid until a rank begins call `number` + 2. If this is the first rank
  /// that begins the call, makes the decision, and reads from `reader`. Thread-safe.
  const Decision &decide(uint64_t number, const core::Request &request, const Reader &reader);
  /// Returns the decision for a call that this rank has begun and not ended; null if no rank has asked for one.
  const Decision *decision(uint64_t number) const {
    const Slot &slot = slots[number % 2];
    return slot.number.load(std::memory_order_acquire) == number && slot.decision.site ? &slot.decision : nullptr;
  }

  /// Returns whether a rank has asked for the decision for a call, and the call's arm is fixed.
  bool isFixed(uint64_t number) const {
    const Slot &slot = slots[number % 2];
    return slot.number.load(std::memory_order_acquire) == number && !slot.decision.site;
  }
  /// Returns the arm of a decision. Its program is an index in the bundle.
  static core::Arm armOf(const Decision &decision) { return decision.choice.kind.family->arms[decision.choice.arm]; }
  /// Returns a hash of a decision; not 0.
  static uint64_t hashOf(const Decision &decision);
  /// Returns the prepared call of an arm; null if there is none.
  host::PreparedCall *prepared(const Site &site, uint32_t arm) const {
    return site.retirements == table.retirements() ? site.calls[arm] : nullptr;
  }
  /// Notes the prepared call of a decision. The caller holds `agreement`.
  void note(const Decision &decision, host::PreparedCall *call);

  /// Returns the name of the program that the next call runs unless it explores. Thread-safe.
  core::Result<const char *> select(const core::Request &request);
  /// Thread-safe.
  core::OnlineSelection::Counters counters();
  /// Returns what earlier jobs and this communicator have learned. Thread-safe.
  select::TuneFile learned();

private:
  static constexpr size_t mostSites = 64;
  struct alignas(host::linePair) Slot {
    std::atomic<uint64_t> number{0};
    bool isPending = false; ///< the call's time has not been added
    Decision decision;
  };
  void makeDecision(uint64_t number, const core::Request &request, const Reader &reader);
  void addTimes(uint64_t number, const Reader &reader);
  void addTime(const Decision &decision, const TimedCall &timed);
  Site *findSite(const core::Request &request, const Site *inUse);
  Site *makeSite(const core::Request &request, const Site *inUse);

  host::CallTable &table;
  std::mutex &agreement;
  std::atomic_flag deciding;
  core::OnlineSelection selection;
  std::deque<Site> sites;
  size_t lastSite = 0, oldest = 0;
  std::array<Slot, 2> slots; ///< by the parity of the call's number
};

} // namespace gc3::api
