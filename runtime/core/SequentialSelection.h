// SPDX-License-Identifier: Apache-2.0
// Online selection for calls that are enqueued one after the other, on GPUs. Their times arrive later. Keeps what holds
// from call to call: the repeats of choices, and the conditions that choices expect.
//
// Not thread-safe.
#pragma once

#include "core/OnlineSelection.h"
#include "select/Schedule.h"

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gc3::core {

class SequentialSelection {
public:
  /// Calls of about the same size, whose programs are the same.
  struct Kind {
    OnlineSelection::Family *family = nullptr; ///< of calls alone; null: the program is fixed
    OnlineSelection::Family *shared = nullptr; ///< of calls beside calls of other communicators
    uint32_t bucket = 0;
    bool byKernel = false; ///< kernels may measure its calls, because the kernels' own times compare
  };

  /// `armSource` must outlive this object.
  SequentialSelection(ArmSource &armSource, const TuneOptions &options, const CommunicatorShape &shape,
                      select::TuneFile earlier, ShapeRule shapes)
      : source(armSource), selection(armSource, options, shape, std::move(earlier), std::move(shapes)) {}

  /// Returns the kind of a valid request. It has no family if the arm is fixed, or the request is an error.
  Kind find(const Request &request);
  /// Chooses the arm of the next call. The kind must have a family.
  select::Call choose(const Kind &kind);
  /// Adds the time of a call, in microseconds; NaN: unknown. The next choice of the kind expects the same conditions.
  void add(const select::Call &call, float microseconds, const CallConditions &conditions, select::Timing timing);
  /// Returns the arm of a call.
  Arm armOf(const select::Call &call) const { return contexts[call.context].kind.family->arms[call.arm]; }
  /// Returns the arm of a call that is not part of the sequence.
  Arm favourite(const Kind &kind) const;
  /// Removes a program that turned out not to run.
  void exclude(uint32_t program) { selection.exclude(program); }

  select::TuneFile learned() const { return selection.learned(); }
  uint64_t digest() const { return selection.digest(); }
  OnlineSelection::Counters counters() const { return selection.counters(); }

private:
  /// The calls of a kind.
  struct Row {
    CallConditions last; ///< of the last timed call
    /// By traffic and place: next calls that need no choice.
    std::array<std::array<uint32_t, 2>, 2> repeats{};
  };
  /// All calls for which choices expect the same.
  struct Context {
    Kind kind; ///< with any bucket
    CallConditions conditions;
  };
  struct RequestHash {
    size_t operator()(const Request &request) const;
  };
  struct RequestMatches {
    bool operator()(const Request &one, const Request &other) const { return one.matches(other); }
  };
  bool copyAlike(const OnlineSelection::Family &family) const;
  uint32_t contextOf(const Kind &kind, const CallConditions &conditions);
  /// Returns what the first choice of a kind expects.
  CallConditions firstConditions(const Kind &kind) const {
    return {selection.usualPlace(kindUnder(kind, Traffic::Alone)), Traffic::Alone};
  }
  static OnlineSelection::Kind kindUnder(const Kind &kind, Traffic traffic) {
    return {traffic == Traffic::Shared ? kind.shared : kind.family, kind.bucket};
  }

  static constexpr size_t mostKnown = 4096;

  ArmSource &source;
  OnlineSelection selection;
  std::set<std::string, std::less<>> names;                                 ///< storage of the names in `known`
  std::unordered_map<Request, Kind, RequestHash, RequestMatches> known;     ///< requests that find() has seen
  std::map<std::pair<const OnlineSelection::Family *, uint32_t>, Row> rows; ///< by Kind::family and bucket
  std::vector<Context> contexts;                                            ///< by select::Call::context
};

/// Returns whether a request is in place on a rank.
bool isInPlace(const Request &request, uint32_t rank);

} // namespace gc3::core
