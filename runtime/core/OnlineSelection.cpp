// SPDX-License-Identifier: Apache-2.0
#include "core/OnlineSelection.h"

#include "bundle/Times.h"
#include "core/Log.h"
#include "core/PlainCost.h"
#include "gc3/Common/CollectiveForm.h"
#include "select/Digest.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <utility>

namespace gc3::core {

namespace {

constexpr uint32_t bucketCount = 48; ///< larger calls are in the last bucket
constexpr int64_t anyProgram = -1;

uint32_t bucketOf(uint64_t bytes) {
  const auto width = static_cast<uint32_t>(std::bit_width(std::max<uint64_t>(bytes, 1)));
  return std::min(width - 1, bucketCount - 1);
}

/// Returns a size in the middle of a bucket.
double sizeOf(uint32_t bucket) {
  return 1.5 * static_cast<double>(uint64_t{1} << bucket);
}

/// Returns whether programs can give results that differ in rounding.
bool isRounded(const Request &request) {
  const common::StandardCollective *standard = common::findStandard(request.name);
  const bool reduces = !standard || standard->reduces;
  const bool selects = request.op == gc3Max || request.op == gc3Min;
  return reduces && !isInteger(static_cast<ElementType>(request.type)) && (!selects || request.preMulSum);
}

/// Returns whether a program keeps its sizes, and the call has one of them.
bool isPinned(const Program *program, const CallArms &arms) {
  return program && program->info().pinned() && arms.bytes >= program->info().min_bytes() &&
         arms.bytes < program->info().max_bytes();
}

/// Returns the collective of a valid request as a form.
std::string collectiveOf(const Request &request) {
  if (request.root >= 0)
    return std::string(request.name) + "(root = " + std::to_string(request.root) + ")";
  return common::CollectiveForm::parse(request.name)->text();
}

std::string typeOf(const Request &request) {
  std::string text = elementTypeName(static_cast<ElementType>(request.type));
  const common::StandardCollective *standard = common::findStandard(request.name);
  if (standard && !standard->reduces)
    return text;
  return text + "/" + (request.preMulSum ? "mulsum" : reduceOpName(static_cast<ReduceOp>(request.op)));
}

void excludeFrom(OnlineSelection::Family &family, uint32_t program) {
  for (uint32_t arm = 0; arm < family.arms.size(); ++arm) {
    if (family.arms[arm].program != program)
      continue;
    family.known.exclude(arm);
    for (const auto &selector : family.selectors)
      if (selector)
        selector->exclude(arm);
  }
}

std::string sizeText(uint32_t bucket) {
  constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  return std::to_string(1U << bucket % 10) + " " + units[bucket / 10];
}

} // namespace

OnlineSelection::OnlineSelection(ArmSource &armSource, const TuneOptions &chosen, const CommunicatorShape &ownShape,
                                 select::TuneFile ofEarlierJobs, ShapeRule shapeRule)
    : source(armSource), options(chosen), shape(ownShape), earlier(std::move(ofEarlierJobs)),
      shapes(chosen.hasShapes ? std::move(shapeRule) : ShapeRule{}), budget(chosen.explorable) {}

/// If the program is fixed, there is still a choice among its shapes.
Result<OnlineSelection::Kind> OnlineSelection::find(const Request &request, Traffic traffic) {
  const bool keepsProgram = options.keepsBits && isRounded(request);
  if (keepsProgram && shapes.shapes.empty())
    return Kind{};
  const Result<CallArms> found = source.arms(request);
  if (!found.ok())
    return found.outcome();
  if (!found->fixed)
    return Kind{};
  std::vector<uint32_t> programs = found->programs;
  const uint32_t fixed = programs[*found->fixed];
  if (keepsProgram || isPinned(source.programOf(fixed), *found))
    programs = {fixed};
  const std::string collective = collectiveOf(request);
  const std::string type = typeOf(request) + (traffic == Traffic::Shared ? "/shared" : "");
  const std::tuple key(collective, type, request.kind, programs.size() == 1 ? int64_t{programs[0]} : anyProgram);
  auto place = families.find(key);
  if (place == families.end()) {
    Family made = makeFamily(request, collective, type, programs);
    if (made.arms.size() < 2)
      return Kind{};
    place = families.emplace(key, std::move(made)).first;
    for (const uint32_t program : excluded)
      excludeFrom(place->second, program);
  }
  const uint32_t bucket = bucketOf(found->bytes);
  return place->second.hasChoice[bucket] ? Kind{&place->second, bucket} : Kind{};
}

/// Returns the index of the first arm for this size; 0 if no arm is for it. NCCL is for all sizes.
uint32_t OnlineSelection::fixedFor(const std::vector<uint32_t> &programs, double bytes) const {
  for (uint32_t arm = 0; arm < programs.size(); ++arm) {
    const Program *program = source.programOf(programs[arm]);
    if (!program || (bytes >= static_cast<double>(program->info().min_bytes()) &&
                     bytes < static_cast<double>(program->info().max_bytes())))
      return arm;
  }
  return 0;
}

OnlineSelection::Family OnlineSelection::makeFamily(const Request &request, std::string collective, std::string type,
                                                    const std::vector<uint32_t> &programs) const {
  Family made{std::move(collective), std::move(type), {}, std::vector<bool>(bucketCount, programs.size() > 1), {}, {}};
  if (programs.size() < 2 && shapes.shapes.empty())
    return made;
  for (const uint32_t program : programs)
    made.arms.push_back({program, {}});
  made.known.buckets = bucketCount;
  made.known.count = static_cast<uint32_t>(programs.size());
  predict(programs, made.known);
  addShapes(request, made);
  return made;
}

/// Predicts times by the bundle if it has times of all programs. Times of some programs do not compare with a model.
/// The time of NCCL is unknown.
void OnlineSelection::predict(const std::vector<uint32_t> &numbers, select::Arms &known) const {
  std::vector<const Program *> programs;
  for (const uint32_t number : numbers)
    programs.push_back(source.programOf(number));
  const bool areTimed = std::all_of(programs.begin(), programs.end(), [&](const Program *program) {
    return !program || !std::isnan(bundle::predictedMicroseconds(program->info(), 1));
  });
  std::vector<PlainCost> costs;
  for (const Program *program : programs)
    costs.push_back(program ? PlainCost::of(*program) : PlainCost{});
  for (uint32_t b = 0; b < bucketCount; ++b) {
    known.fixed.push_back(fixedFor(numbers, sizeOf(b)));
    for (uint32_t arm = 0; arm < known.count; ++arm)
      known.predicted.push_back(!programs[arm] ? std::numeric_limits<float>::quiet_NaN()
                                : areTimed     ? static_cast<float>(bundle::predictedMicroseconds(
                                                     programs[arm]->info(), static_cast<uint64_t>(sizeOf(b))))
                                               : static_cast<float>(costs[arm].time(sizeOf(b))));
  }
}

/// Adds the shapes of the family's programs as arms. They can run in the buckets in which they differ from the default.
void OnlineSelection::addShapes(const Request &request, Family &family) const {
  const auto elementBytes = static_cast<uint32_t>(elementSize(static_cast<ElementType>(request.type)));
  const select::Arms programs = family.known;
  select::Arms &all = family.known;
  std::vector<std::bitset<bucketCount>> canRun(programs.count, ~std::bitset<bucketCount>()); // by arm, in each bucket
  for (uint32_t p = 0; p < programs.count; ++p)
    all.variantOf.push_back(p);
  for (uint32_t p = 0; p < programs.count; ++p)
    for (const Shape &each : shapes.shapes) {
      const Arm arm{family.arms[p].program, each};
      std::bitset<bucketCount> differs;
      for (uint32_t b = 0; b < bucketCount && source.programOf(arm.program); ++b)
        differs[b] = shapes.differs(arm, elementBytes, static_cast<uint64_t>(sizeOf(b)));
      if (differs.any())
        family.arms.push_back(arm), all.variantOf.push_back(p), canRun.push_back(differs);
    }
  all.count = static_cast<uint32_t>(family.arms.size());
  all.predicted.clear();
  for (uint32_t b = 0; b < bucketCount; ++b)
    for (uint32_t arm = 0; arm < all.count; ++arm) {
      family.hasChoice[b] = family.hasChoice[b] || (arm >= programs.count && canRun[arm][b]);
      all.predicted.push_back(canRun[arm][b] ? programs.predicted[size_t{b} * programs.count + all.variantOf[arm]]
                                             : std::numeric_limits<float>::infinity());
    }
}

std::unique_ptr<select::Selector> OnlineSelection::makeSelector(const Family &family, CallPlace place,
                                                                select::Budget &common) const {
  auto selector = std::make_unique<select::Selector>(family.known, common);
  teach(*selector, family, place);
  return selector;
}

select::Selector &OnlineSelection::selectorOf(Family &family, CallPlace place) {
  std::unique_ptr<select::Selector> &selector = family.selectors[static_cast<size_t>(place)];
  if (!selector)
    selector = makeSelector(family, place, budget);
  return *selector;
}

select::TuneContext OnlineSelection::contextOf(const Family &family, CallPlace place) const {
  return {family.collective, family.type, place == CallPlace::InPlace, shape.ranks, shape.hosts};
}

/// Adds what earlier jobs have learned about a family.
void OnlineSelection::teach(select::Selector &selector, const Family &family, CallPlace place) const {
  const select::TuneContext own = contextOf(family, place);
  for (const select::TuneRow &row : earlier.rows)
    if (row.bucket < bucketCount && earlier.contexts[row.context] == own)
      for (uint32_t arm = 0; arm < family.arms.size(); ++arm)
        if (row.arm == nameInFiles(family.arms[arm]))
          selector.learn(row.bucket, arm, {row.calls, row.microseconds, row.spread});
}

CallPlace OnlineSelection::usualPlace(const Kind &kind) const {
  std::array<uint64_t, 2> callsOf{};
  for (const CallPlace place : {CallPlace::Apart, CallPlace::InPlace}) {
    const select::TuneContext own = contextOf(*kind.family, place);
    for (const select::TuneRow &row : earlier.rows)
      if (row.bucket == kind.bucket && earlier.contexts[row.context] == own)
        callsOf[static_cast<size_t>(place)] += row.calls;
  }
  return callsOf[1] > callsOf[0] ? CallPlace::InPlace : CallPlace::Apart;
}

OnlineSelection::Decision OnlineSelection::choose(const Kind &kind, CallPlace place) {
  select::Selector &selector = selectorOf(*kind.family, place);
  const select::Selector::Choice choice = selector.choose(kind.bucket);
  const uint32_t favourite = selector.favourite(kind.bucket);
  calls += 1 + choice.repeats;
  explored += choice.arm != favourite;
  return {kind, place, choice.arm, favourite, choice.repeats};
}

void OnlineSelection::add(const Decision &decision, float microseconds, const Kind &kind, select::Timing timing) {
  select::Selector &chooser = selectorOf(*decision.kind.family, decision.place);
  select::Selector &selector = selectorOf(*kind.family, decision.place);
  const uint32_t before = selector.favourite(kind.bucket);
  if (&selector == &chooser)
    selector.add(kind.bucket, decision.arm, microseconds, timing);
  else
    selector.adopt(chooser, kind.bucket, decision.arm, microseconds, timing);
  if (selector.favourite(kind.bucket) == before)
    return;
  ++changes;
  if (options.logsChanges && isInfoEnabled())
    logChange(kind, before, selector);
}

void OnlineSelection::logChange(const Kind &kind, uint32_t before, const select::Selector &selector) const {
  const Family &family = *kind.family;
  const uint32_t bucket = kind.bucket, now = selector.favourite(bucket);
  const auto describe = [&](uint32_t arm) {
    char time[32];
    std::snprintf(time, sizeof time, " (%.1f us)", static_cast<double>(selector.expected(bucket, arm)));
    return (source.programOf(family.arms[arm].program) ? "program '" + nameInFiles(family.arms[arm]) + "'" : "NCCL") +
           time;
  };
  log("GC3_TUNE: " + family.collective + " " + family.type + " from " + sizeText(bucket) + ": " + describe(now) +
      " instead of " + describe(before));
}

/// Does not keep a selector that it needs, because digests must not depend on queries.
uint32_t OnlineSelection::favouriteIndex(const Kind &kind, CallPlace place) const {
  if (const auto &selector = kind.family->selectors[static_cast<size_t>(place)])
    return selector->favourite(kind.bucket);
  select::Budget unused(0);
  return makeSelector(*kind.family, place, unused)->favourite(kind.bucket);
}

Arm OnlineSelection::favourite(const Kind &kind, CallPlace place) const {
  return kind.family->arms[favouriteIndex(kind, place)];
}

void OnlineSelection::exclude(uint32_t program) {
  if (std::find(excluded.begin(), excluded.end(), program) != excluded.end())
    return;
  excluded.push_back(program);
  for (auto &[key, family] : families)
    excludeFrom(family, program);
}

/// Returns the name of an arm in files of learned times.
std::string OnlineSelection::nameInFiles(const Arm &arm) const {
  return source.programOf(arm.program) ? nameOf(arm.program) + shapeSuffix(arm.shape) : "nccl";
}

const char *OnlineSelection::nameOf(uint32_t number) const {
  const Program *program = source.programOf(number);
  return program ? program->info().name()->c_str() : "NCCL";
}

uint64_t OnlineSelection::digest() const {
  uint64_t digest = 0;
  for (const auto &[key, family] : families)
    for (const auto &selector : family.selectors)
      if (selector)
        digest = select::mix(digest, selector->digest());
  return digest;
}

/// Adds what the selector of a family knows, as the last context of `own`.
void OnlineSelection::addRows(select::TuneFile &own, const Family &family, CallPlace place) const {
  const auto &selector = family.selectors[static_cast<size_t>(place)];
  if (!selector)
    return;
  const int64_t now = std::time(nullptr);
  own.contexts.push_back(contextOf(family, place));
  for (uint32_t bucket = 0; bucket < bucketCount; ++bucket)
    for (uint32_t arm = 0; arm < family.arms.size(); ++arm)
      if (const auto [count, median, spread] = selector->experience(bucket, arm); count != 0 && median > 0)
        own.rows.push_back({static_cast<uint32_t>(own.contexts.size() - 1), bucket, nameInFiles(family.arms[arm]),
                            count, median, spread, now});
}

select::TuneFile OnlineSelection::learned() const {
  select::TuneFile all = earlier, own;
  for (const auto &[key, family] : families)
    for (const CallPlace place : {CallPlace::Apart, CallPlace::InPlace})
      addRows(own, family, place);
  select::mergeTuneFile(all, own);
  return all;
}

OnlineSelection::Counters OnlineSelection::counters() const {
  return {calls, explored, changes, budget.timeOfCalls(), budget.timeOfExploration()};
}

} // namespace gc3::core
