// SPDX-License-Identifier: Apache-2.0
// Online selection for calls that are enqueued one after the other, on GPUs. Their times arrive later. Keeps what holds
// from call to call: the repeats of choices, and whether calls are in place.
//
// Not thread-safe.
#pragma once

#include "core/OnlineSelection.h"
#include "select/Schedule.h"

#include <array>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gc3::core {

class SequentialSelection {
public:
  using Kind = OnlineSelection::Kind;

  /// `source` must outlive this object.
  SequentialSelection(ArmSource &source, const TuneOptions &options, const CommunicatorShape &shape,
                      select::TuneFile earlier, ShapeRule shapes)
      : selection(source, options, shape, std::move(earlier), std::move(shapes)) {}

  /// Returns the kind of a valid request. It has no family if the arm is fixed, or the request is an error.
  Kind find(const Request &request);
  /// Chooses the arm of the next call. The kind must have a family.
  select::Call choose(const Kind &kind);
  /// Adds the time of a call, in microseconds; NaN: unknown. `isInPlace` says whether it was in place on a rank.
  void add(const select::Call &call, float microseconds, bool isInPlace);
  /// Returns the arm of a call.
  Arm armOf(const select::Call &call) const { return contexts[call.context].family->arms[call.arm]; }
  /// Returns the arm of a call that is not part of the sequence.
  Arm favourite(const Kind &kind) const;
  /// Removes a program that turned out not to run.
  void exclude(uint32_t program) { selection.exclude(program); }

  select::TuneFile learned() const { return selection.learned(); }
  uint64_t digest() const { return selection.digest(); }
  OnlineSelection::Counters counters() const { return selection.counters(); }

private:
  using Family = OnlineSelection::Family;
  /// The calls of a family in one bucket.
  struct Row {
    CallPlace place{};                 ///< of the last timed call: InPlace if it was in place on at least one rank
    std::array<uint32_t, 2> repeats{}; ///< by CallPlace: next calls that need no choice
  };
  struct Context {
    Family *family;
    CallPlace place;
  };
  /// A request that find() has seen, and its kind.
  struct Known {
    std::string name; ///< storage of request.name
    Request request;
    Kind kind;
  };
  uint32_t contextOf(Family *family, CallPlace place);

  static constexpr size_t mostKnown = 64;

  OnlineSelection selection;
  std::deque<Known> known;                                 ///< the latest requests
  size_t oldest = 0;                                       ///< index in `known`
  std::map<std::pair<const Family *, uint32_t>, Row> rows; ///< by family and bucket
  std::vector<Context> contexts;                           ///< by select::Call::context
};

/// Returns whether a request is in place on a rank.
bool isInPlace(const Request &request, uint32_t rank);

} // namespace gc3::core
