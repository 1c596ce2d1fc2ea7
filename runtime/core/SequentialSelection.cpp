// SPDX-License-Identifier: Apache-2.0
#include "core/SequentialSelection.h"

#include "select/Digest.h"

#include <algorithm>

namespace gc3::core {

/// Finding a family takes about a microsecond, so this function keeps the kinds of requests. If there are too many, it
/// forgets all of them.
SequentialSelection::Kind SequentialSelection::find(const Request &request) {
  if (const auto place = known.find(request); place != known.end())
    return place->second;
  const Result<OnlineSelection::Kind> alone = selection.find(request),
                                      shared = selection.find(request, Traffic::Shared);
  if (!alone.ok() || !shared.ok())
    return {}; // the call reports the error
  if (known.size() == mostKnown)
    known.clear();
  Request kept = request;
  kept.name = *names.emplace(request.name).first;
  const bool byKernel = alone->family && copyAlike(*alone->family);
  return known.emplace(kept, Kind{alone->family, shared->family, alone->bucket, byKernel}).first->second;
}

/// Returns whether the calls of all arms copy the same data before and after their kernels, if they are in the same
/// place. A kernel does not measure these copies, and NCCL's kernels do not measure themselves.
bool SequentialSelection::copyAlike(const OnlineSelection::Family &family) const {
  const Program *first = source.programOf(family.arms.front().program);
  const auto copiesLike = [first](const Program &program) {
    bool alike = !program.info().whole_slots();
    for (uint32_t r = 0; r < program.ranks(); ++r)
      alike &=
          program.rank(r).alias == first->rank(r).alias && program.rank(r).writesInput == first->rank(r).writesInput;
    return alike;
  };
  return first && std::all_of(family.arms.begin(), family.arms.end(), [&](const Arm &arm) {
           const Program *program = source.programOf(arm.program);
           return program && copiesLike(*program);
         });
}

/// Has the fields that Request::matches() compares, except the type of a factor.
size_t SequentialSelection::RequestHash::operator()(const Request &request) const {
  uint64_t hash = select::mix(std::hash<std::string_view>()(request.name), request.count);
  for (const int value : {static_cast<int>(request.kind), static_cast<int>(request.type), static_cast<int>(request.op),
                          request.root, static_cast<int>(request.preMulSum.has_value())})
    hash = select::mix(hash, static_cast<uint64_t>(value));
  return hash;
}

/// Returns the number of a context. Numbers are in the order of the contexts' first calls, which is the same on all
/// ranks.
uint32_t SequentialSelection::contextOf(const Kind &kind, const CallConditions &conditions) {
  const auto found = std::find_if(contexts.begin(), contexts.end(), [&](const Context &each) {
    return each.kind.family == kind.family && each.conditions == conditions;
  });
  const auto number = static_cast<uint32_t>(found - contexts.begin());
  if (found == contexts.end())
    contexts.push_back({kind, conditions});
  return number;
}

select::Call SequentialSelection::choose(const Kind &kind) {
  const std::pair key(kind.family, kind.bucket);
  auto found = rows.find(key);
  if (found == rows.end())
    found = rows.emplace(key, Row{firstConditions(kind), {}}).first;
  Row &row = found->second;
  const auto [place, traffic] = row.last;
  uint32_t &repeats = row.repeats[static_cast<size_t>(traffic)][static_cast<size_t>(place)];
  select::Call call{contextOf(kind, row.last), kind.bucket, 0, repeats == 0};
  if (call.isTimed) {
    const OnlineSelection::Decision decision = selection.choose(kindUnder(kind, traffic), place);
    call.arm = decision.arm, repeats = decision.repeats;
  } else {
    --repeats;
    call.arm = selection.favouriteIndex(kindUnder(kind, traffic), place);
  }
  return call;
}

void SequentialSelection::add(const select::Call &call, float microseconds, const CallConditions &conditions,
                              select::Timing timing) {
  auto [kind, expected] = contexts[call.context];
  kind.bucket = call.bucket;
  rows[{kind.family, kind.bucket}].last = conditions;
  selection.add({kindUnder(kind, expected.traffic), expected.place, call.arm, 0, 0}, microseconds,
                kindUnder(kind, conditions.traffic), timing);
}

Arm SequentialSelection::favourite(const Kind &kind) const {
  const auto row = rows.find({kind.family, kind.bucket});
  const CallConditions expected = row == rows.end() ? firstConditions(kind) : row->second.last;
  return selection.favourite(kindUnder(kind, expected.traffic), expected.place);
}

bool isInPlace(const Request &request, uint32_t rank) {
  const common::StandardCollective *standard = common::findStandard(request.name);
  const auto size = static_cast<int64_t>(elementSize(static_cast<ElementType>(request.type)));
  const int64_t offset = standard ? standard->inPlaceOffset(rank, request.count) * size : 0;
  return static_cast<const std::byte *>(request.send) + offset == request.recv;
}

} // namespace gc3::core
