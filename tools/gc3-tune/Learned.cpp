// SPDX-License-Identifier: Apache-2.0
// A size of a contest is the first size of a bucket with learned times, so a range ends where a bucket begins. Between
// such buckets, each size keeps the program that it has in the bundle.
#include "Learned.h"
#include "bundle/Times.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>

namespace gc3::tune {

static constexpr double NoTime = std::numeric_limits<double>::infinity();

/// A program of the bundle.
struct Learned::Own {
  const bundle::fbs::Program *program;
  uint32_t candidate; ///< index in Contest::candidates
};

std::string Learned::open(const std::string &learned, const std::string &bundle) {
  if (auto status = bundle::BundleFile::open(bundle.c_str()).moveTo(file); !status.ok())
    return bundle + ": " + status.message;
  if (auto status = select::loadTuneFile(learned).moveTo(times); !status.ok())
    return status.message;
  if (times.bundle != file->digest())
    return learned + ": it is for the bundle " + select::digestText(times.bundle) + ", but '" + bundle + "' is " +
           select::digestText(file->digest());
  return {};
}

/// Returns the programs of a contest in the order of the bundle. A bundle can have a program several times, for several
/// ranges.
std::vector<Learned::Own> Learned::programsOf(const Candidates &candidates, const Contest &contest) const {
  std::vector<Own> own;
  for (uint32_t i = 0; i < file->programCount(); ++i) {
    const auto place = std::find(contest.candidates.begin(), contest.candidates.end(), candidates.numberOf(i));
    if (place != contest.candidates.end())
      own.push_back({&file->program(i), static_cast<uint32_t>(place - contest.candidates.begin())});
  }
  return own;
}

static uint32_t bucketOf(uint64_t bytes) {
  return static_cast<uint32_t>(std::bit_width(std::max<uint64_t>(bytes, 1)) - 1);
}

/// Returns the index of the bucket's size in the contest, or nothing if the bucket has no learned times.
static std::optional<uint32_t> indexOf(const Contest &contest, uint64_t bytes) {
  const auto size = std::find(contest.sizes.begin(), contest.sizes.end(), uint64_t{1} << bucketOf(bytes));
  return size == contest.sizes.end() ? std::nullopt
                                     : std::optional(static_cast<uint32_t>(size - contest.sizes.begin()));
}

/// Returns the context that each bucket takes its times from: the one with the most calls. Times of several contexts,
/// such as datatypes, do not compare. A context counts if it has a time of one of `programs`.
static std::map<uint32_t, uint32_t> contextsOf(const select::TuneFile &times, uint32_t ranks,
                                               const std::set<std::string_view> &programs) {
  std::set<uint32_t> fitting;
  for (const select::TuneRow &row : times.rows)
    if (times.contexts[row.context].ranks == ranks && programs.count(row.arm) != 0)
      fitting.insert(row.context);
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> calls; // by bucket and context
  for (const select::TuneRow &row : times.rows)
    if (fitting.count(row.context) != 0)
      calls[{row.bucket, row.context}] += row.calls;
  std::map<uint32_t, uint32_t> busiest;
  for (const auto &[place, number] : calls)
    if (const auto [known, isNew] = busiest.insert(place); !isNew && number > calls[{place.first, known->second}])
      known->second = place.second;
  return busiest;
}

/// Sets the sizes and the times of a contest.
void Learned::time(const std::vector<Own> &own, Contest &contest) const {
  const auto nccl = static_cast<uint32_t>(contest.candidates.size());
  std::map<std::string_view, uint32_t> arms = {{"nccl", nccl}};
  std::set<std::string_view> names;
  for (const Own &each : own) {
    arms[each.program->name()->string_view()] = each.candidate;
    names.insert(each.program->name()->string_view());
  }
  const std::map<uint32_t, uint32_t> contexts = contextsOf(times, contest.ranks, names);
  std::map<uint32_t, std::vector<double>> columns; // by bucket: times by candidate, then of NCCL
  for (const select::TuneRow &row : times.rows) {
    const auto arm = arms.find(row.arm);
    const auto context = contexts.find(row.bucket);
    if (arm == arms.end() || context == contexts.end() || context->second != row.context)
      continue;
    std::vector<double> &column = columns.try_emplace(row.bucket, std::vector<double>(nccl + 1, NoTime)).first->second;
    column[arm->second] = std::min(column[arm->second], static_cast<double>(row.microseconds));
  }
  TimeTable &table = contest.table;
  table.sizes = static_cast<uint32_t>(columns.size()), table.candidates = nccl;
  for (const auto &[bucket, column] : columns)
    contest.sizes.push_back(uint64_t{1} << bucket);
  for (uint32_t arm = 0; arm <= nccl; ++arm)
    for (const auto &[bucket, column] : columns)
      (arm == nccl ? table.baseline : table.times).push_back(column[arm]);
  if (std::all_of(table.baseline.begin(), table.baseline.end(), [](double time) { return time == NoTime; }))
    table.baseline.clear();
}

/// Keeps the bundle's times of other sizes.
void Learned::keepOthers(const std::vector<Own> &own, Contest &contest) const {
  const auto keep = [&](uint32_t arm, std::span<const bundle::fbs::TimePoint> points) {
    for (const bundle::fbs::TimePoint &point : points)
      if (!indexOf(contest, point.bytes()))
        contest.earlier[arm][point.bytes()] = point.microseconds();
  };
  contest.earlier.resize(contest.candidates.size() + 1);
  for (const Own &each : own)
    keep(each.candidate, bundle::pointsOf(each.program->times()));
  keep(contest.table.candidates, bundle::baselineTimes(file->manifest(), contest.label, contest.ranks));
}

/// Gives each size its server: the chosen one, or without times the one that it has in the bundle.
void Learned::serve(const std::vector<Own> &own, Contest &contest) const {
  std::set<uint64_t> begins = {0};
  for (const uint64_t size : contest.sizes)
    begins.insert({size == 1 ? 0 : size, size > UINT64_MAX / 2 ? 0 : 2 * size});
  for (const Own &each : own) {
    begins.insert(each.program->min_bytes());
    if (each.program->max_bytes() != ir::ProgramInfo::NoLimit)
      begins.insert(each.program->max_bytes());
  }
  const auto serverOf = [&](uint64_t bytes) {
    if (const std::optional<uint32_t> size = indexOf(contest, bytes))
      for (const Range &range : contest.choice.ranges)
        if (*size >= range.begin && *size < range.end)
          return range.candidate;
    for (const Own &each : own)
      if (bytes >= each.program->min_bytes() && bytes < each.program->max_bytes())
        return each.candidate;
    return TimeTable::Baseline;
  };
  for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
    const uint64_t end = std::next(begin) == begins.end() ? ir::ProgramInfo::NoLimit : *std::next(begin);
    const uint32_t server = serverOf(*begin);
    if (!contest.servings.empty() && contest.servings.back().candidate == server)
      contest.servings.back().maxBytes = end;
    else
      contest.servings.push_back({server, "", *begin, end});
  }
}

std::string Learned::run(const CommandLine &line, const Candidates &candidates, std::vector<Contest> &contests) const {
  bool hasTimes = false;
  for (Contest &contest : contests) {
    const std::vector<Own> own = programsOf(candidates, contest);
    time(own, contest);
    if (!contest.sizes.empty()) {
      hasTimes = true;
      contest.choice = choose(contest.table, line.programs, line.within);
      if (contest.choice.ranges.empty())
        return "the times of " + contest.label + " need more than " + quantity(line.programs, "program") +
               ", because no program has times at all sizes; permit more with --programs";
    }
    serve(own, contest);
    keepOthers(own, contest);
  }
  return hasTimes ? "" : line.fromLog + ": it has no times for the programs of '" + line.inputs[0] + "'";
}

} // namespace gc3::tune
