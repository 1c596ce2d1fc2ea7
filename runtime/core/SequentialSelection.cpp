// SPDX-License-Identifier: Apache-2.0
#include "core/SequentialSelection.h"

#include <algorithm>

namespace gc3::core {

/// Finding a family takes about a microsecond, so this function keeps the last requests.
SequentialSelection::Kind SequentialSelection::find(const Request &request) {
  for (const Known &each : known)
    if (each.request.matches(request))
      return each.kind;
  const Result<Kind> kind = selection.find(request);
  if (!kind.ok())
    return {}; // the call reports the error
  Known &made = known.size() < mostKnown ? known.emplace_back() : known[oldest++ % mostKnown];
  made = {std::string(request.name), request, *kind};
  made.request.name = made.name;
  return made.kind;
}

/// Returns the number of a context. Numbers are in the order of the contexts' first calls, which is the same on all
/// ranks.
uint32_t SequentialSelection::contextOf(Family *family, CallPlace place) {
  const auto found = std::find_if(contexts.begin(), contexts.end(),
                                  [&](const Context &each) { return each.family == family && each.place == place; });
  const auto number = static_cast<uint32_t>(found - contexts.begin());
  if (found == contexts.end())
    contexts.push_back({family, place});
  return number;
}

select::Call SequentialSelection::choose(const Kind &kind) {
  Row &row = rows[{kind.family, kind.bucket}];
  uint32_t &repeats = row.repeats[static_cast<size_t>(row.place)];
  select::Call call{contextOf(kind.family, row.place), kind.bucket, 0, repeats == 0};
  if (call.isTimed) {
    const OnlineSelection::Decision decision = selection.choose(kind, row.place);
    call.arm = decision.arm, repeats = decision.repeats;
  } else {
    --repeats;
    call.arm = selection.favouriteIndex(kind, row.place);
  }
  return call;
}

void SequentialSelection::add(const select::Call &call, float microseconds, bool isInPlace) {
  const auto &[family, place] = contexts[call.context];
  rows[{family, call.bucket}].place = isInPlace ? CallPlace::InPlace : CallPlace::Apart;
  selection.add({{family, call.bucket}, place, call.arm, 0, 0}, microseconds);
}

Arm SequentialSelection::favourite(const Kind &kind) const {
  const auto row = rows.find({kind.family, kind.bucket});
  return selection.favourite(kind, row == rows.end() ? CallPlace::Apart : row->second.place);
}

bool isInPlace(const Request &request, uint32_t rank) {
  const common::StandardCollective *standard = common::findStandard(request.name);
  const auto size = static_cast<int64_t>(elementSize(static_cast<ElementType>(request.type)));
  const int64_t offset = standard ? standard->inPlaceOffset(rank, request.count) * size : 0;
  return static_cast<const std::byte *>(request.send) + offset == request.recv;
}

} // namespace gc3::core
