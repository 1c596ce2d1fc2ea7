// SPDX-License-Identifier: Apache-2.0
// The log of one rank of a communicator (docs/selection.md, "Agreement"): the calls at which the rank begins exchanges
// of measured times, and the calls at which it applies them. The caller makes these steps for each call, in this order:
//
//   while (schedule.isDue()) { // before the choice
//     wait until the exchange has ended; pass it to end(); return an error after an abort, or if error() is not empty
//     schedule.apply([&](const Call &call, float sample, uint8_t flags) {
//       if (call.isTimed)
//         selectors[call.context].add(call.bucket, call.arm, sample);
//     });
//   }
//   choice = selectors[context].choose(bucket);
//   if (schedule.record({context, bucket, choice.arm, choice.isTimed})) // after the choice
//     send schedule.begin(digest of the selectors), with the times and flags of the calls in its range
//
// When a communicator is created, its ranks must have equal selectors. So they compare what they have read from files.
//
// The steps depend only on the terms, the calls and the results of exchanges, which are identical on all ranks. Only
// the lag in a message depends on when exchanges end on this rank. So a late exchange changes no choice.
//
// An exchange ends on a rank when the rank has the messages of all ranks. evaluate() computes its result. Exchanges of
// one communicator end in the order in which they begin, and do not wait for exchanges of other communicators.
// Exchanges are never skipped: if one is lost, the caller waits until its timeout, or until an abort, and the
// communicator fails. A rank that makes its first call late delays the other ranks only at their first due call.
//
// A message may wait for times until the exchange is due on its rank. From then on, the rank sends it without the times
// that it does not know. Otherwise the call could wait for a GPU that waits for the application.
#pragma once

#include "select/Exchange.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc3::select {

/// The constants of a log. They must be identical on all ranks.
struct Terms {
  uint32_t period = 0;     ///< calls from one exchange to the next, 1 to Message::mostTimes
  uint32_t leastDelay = 0; ///< calls from the begin of an exchange to its application, at least 1
  uint32_t mostDelay = 0;
};

/// For calls that the host enqueues. Exchanges flow concurrently with later calls.
inline constexpr Terms streamTerms{16, 64, 4096};
/// For calls that end before the next call begins. Each call's announcement is a message, with the time of the previous
/// call. A rank evaluates it before it runs the call. So each exchange has ended before it is due.
inline constexpr Terms announcedTerms{1, 1, 1};

/// A call in the log.
struct Call {
  uint32_t context = 0, bucket = 0, arm = 0;
  bool isTimed = true; ///< the selector wants its time
};

/// Not thread-safe. Only the constructor allocates.
class Schedule {
public:
  explicit Schedule(const Terms &terms);

  /// Returns the number of the next call. The first call is 0.
  uint64_t nextCall() const { return calls; }
  /// Returns the current number of calls from the begin of an exchange to its application.
  uint32_t delay() const { return currentDelay; }

  /// Returns whether an exchange must be applied before the choice of the next call.
  bool isDue() const { return applied < begun && at(applied).due <= calls; }
  /// Returns the number of the first exchange that is not applied.
  uint64_t dueExchange() const { return applied; }
  /// Returns whether the first exchange that is not applied has ended.
  bool hasEnded() const { return applied < ended; }
  /// Returns the error of the first exchange that is not applied; empty if it has none, or has not ended. The call for
  /// which it is due, and all later ones, must fail. It is the same call and the same error on all ranks.
  const std::string &error() const { return at(applied).result.error; }
  /// Applies the first exchange that is not applied: calls `add(call, sample, flags)` for each call of its range, in
  /// order. The sample is noTime if it is missing. Requires isDue(), hasEnded() and no error().
  template <typename Add>
  void apply(Add add);

  /// Adds the next call. Returns whether an exchange begins after this call's choice.
  bool record(const Call &call);
  /// Begins the exchange. Returns this rank's message, without times. `state` is the digest of the rank's selectors.
  Message begin(uint64_t state);
  /// Takes the result of the first exchange that has not ended on this rank.
  void end(Exchange result);

  /// Returns the digest of the choices of the first `count` calls. Returns no value if the rank has not made them, or
  /// if the last of them is older than the log. The log has the calls since the last exchange that has ended. If a call
  /// stalls because ranks have chosen different arms, these digests show the first call that differs.
  std::optional<uint64_t> lookBack(uint64_t count) const;

private:
  struct Entry {
    Call call;
    uint64_t choices = 0; ///< digest of all calls up to and including this one
  };
  struct Pending {
    uint64_t due = 0;
    Exchange result; ///< `call` and `count` from the begin, the other fields from the end
  };
  const Entry &entryOf(uint64_t call) const { return log[call % log.size()]; }
  Pending &at(uint64_t exchange) { return exchanges[exchange % exchanges.size()]; }
  const Pending &at(uint64_t exchange) const { return exchanges[exchange % exchanges.size()]; }
  void adapt(uint32_t lag);

  Terms terms;
  uint32_t currentDelay;
  uint32_t largestLag = 0;                    ///< of exchanges that have ended since the last begin
  uint64_t calls = 0;                         ///< in the log
  uint64_t choices = 0;                       ///< digest of all calls
  uint64_t begun = 0, ended = 0, applied = 0; ///< numbers of exchanges
  std::vector<Entry> log;                     ///< by call number, modulo its size
  std::vector<Pending> exchanges;             ///< by number, modulo its size
};

template <typename Add>
void Schedule::apply(Add add) {
  const Exchange &result = at(applied).result;
  for (uint32_t i = 0; i < result.count; ++i)
    add(entryOf(result.call - result.count + i).call, result.samples[i], result.flags[i]);
  ++applied;
  adapt(result.lag);
}

} // namespace gc3::select
