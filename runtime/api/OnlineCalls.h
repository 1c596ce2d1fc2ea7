// SPDX-License-Identifier: Apache-2.0
// Online selection for the ranks of a host communicator. The ranks share one decision for each call: the first rank
// that begins the call makes it, from the times of all calls up to the last but one. All ranks have announced these
// times when any rank begins the call (docs/selection.md).
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

  /// Equal requests, and the prepared calls of their programs.
  struct Site {
    std::string name; ///< storage of request.name
    core::Request request;
    core::OnlineSelection::Kind kind;
    std::vector<host::PreparedCall *> calls; ///< by arm; null: not prepared. Valid for one value of `retirements`
    uint64_t retirements = 0;
    core::Circumstances circumstances; ///< of the last call
  };
  struct Decision {
    Site *site = nullptr; ///< null: the program is fixed
    core::OnlineSelection::Decision choice;
  };
  /// What all ranks announced when they began the last call.
  struct News {
    float microseconds = 0;            ///< the time of the last call but one; NaN: unknown
    core::Circumstances circumstances; ///< of the last call
  };
  class Reader {
  public:
    virtual ~Reader() = default;
    virtual News news(uint64_t lastCall) const = 0;
  };
  /// Returns the decision for call `number`. Valid until a rank begins call `number` + 2. If this is the first rank
  /// that begins the call, makes the decision, and asks `reader` for news. Thread-safe.
  const Decision &decide(uint64_t number, const core::Request &request, const Reader &reader);
  /// Returns the decision for a call that this rank has begun and not ended.
  const Decision &decision(uint64_t number) const { return slots[number % 2].decision; }

  /// Returns whether such a call must be timed.
  bool isTimed(uint64_t number) const { return decision(number).site && decision(number).choice.isTimed; }
  /// Returns the prepared call of a decision; null if there is none.
  host::PreparedCall *prepared(const Decision &decision) const;
  /// Notes the prepared call of a decision. The caller holds `agreement`.
  void note(const Decision &decision, host::PreparedCall *call);

  /// Returns the name of the program that the next call runs unless it explores. Thread-safe.
  core::Result<const char *> select(const core::Request &request);
  /// Thread-safe.
  core::OnlineSelection::Counters counters();

private:
  static constexpr size_t mostSites = 64;
  struct alignas(host::linePair) Slot {
    std::atomic<uint64_t> number{0};
    Decision decision;
  };
  void makeDecision(uint64_t number, const core::Request &request, const Reader &reader);
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
