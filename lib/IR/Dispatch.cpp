// SPDX-License-Identifier: Apache-2.0
// Checks the dispatch table: byte ranges of the programs of one collective, names, and meanings. Sorts the programs, so
// that a comparison with one earlier program suffices: for names with the previous program, for sizes with the program
// whose range ends last.
#include "gc3/IR/Dispatch.h"
#include "gc3/Common/StandardCollective.h"
#include "gc3/IR/ChunkDag.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>
#include <numeric>
#include <tuple>

using namespace gc3;
using namespace gc3::ir;

static std::string sizesOf(const ProgramInfo &info) {
  if (info.minBytes == 0 && info.maxBytes == ProgramInfo::NoLimit)
    return "every size";
  if (info.maxBytes == ProgramInfo::NoLimit)
    return std::to_string(info.minBytes) + " bytes or more";
  return std::to_string(info.minBytes) + " .. " + std::to_string(info.maxBytes) + " bytes";
}

/// Returns the root of the collective's calls, or nothing if its calls name no root.
static std::optional<uint32_t> rootOf(const ProgramInfo &info) {
  const common::StandardCollective *standard = common::findStandard(info.collective.name);
  return standard ? rootOf(*standard, info.collective) : std::nullopt;
}

/// Returns "'allreduce' on 8 ranks", with the root and the nodes if there are some.
static std::string domainOf(const ProgramInfo &info) {
  std::optional<uint32_t> root = rootOf(info);
  return "'" + info.collective.name + "' on " + quantity(info.collective.ranks, "rank") +
         (root ? " with root " + std::to_string(*root) : "") +
         (info.nodes != 0 ? " (nodes " + std::to_string(info.nodes) + " of " +
                                std::to_string(info.collective.ranks / info.nodes) + ")"
                          : "");
}

static void reportOverlap(const ProgramInfo &earlier, const ProgramInfo &later, Diagnostics &diags) {
  SourceRange here = later.sizesRange.isValid() ? later.sizesRange : later.nameRange;
  SourceRange there = earlier.sizesRange.isValid() ? earlier.sizesRange : earlier.nameRange;
  diags
      .error(DiagId::SizesOverlap, here,
             "'" + later.name + "' (" + sizesOf(later) + ") and '" + earlier.name + "' (" + sizesOf(earlier) +
                 ") both implement " + domainOf(later) + "; give each a 'sizes' range of its own")
      .note(there, "'" + earlier.name + "' is here");
}

static void warnOfGap(const ProgramInfo &below, const ProgramInfo &above, Diagnostics &diags) {
  diags
      .warning(DiagId::SizesGap, above.sizesRange,
               "no program is for " + std::to_string(below.maxBytes) + " .. " + std::to_string(above.minBytes) +
                   " bytes of " + domainOf(above) + ", between '" + below.name + "' and '" + above.name +
                   "'; extend a range, or write 'sizes ... or nccl' if NCCL is to run these calls")
      .note(below.sizesRange, "'" + below.name + "' ends here");
}

static std::vector<size_t> inOrder(size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t(0));
  return order;
}

namespace {

/// The programs by domain, then by their sizes. Programs of one domain compete for calls: they have the same
/// collective, ranks, root, meaning and nodes.
class SizeOrder {
public:
  SizeOrder(const std::vector<const ProgramInfo *> &all, const std::vector<uint64_t> &meaningOfAll);
  void check(SizeCheck check, Diagnostics &diags) const;

private:
  auto domain(size_t i, uint32_t nodes) const {
    return std::tuple_cat(std::tie(programs[i]->collective.name, programs[i]->collective.ranks, roots[i], meanings[i]),
                          std::tuple(nodes));
  }
  auto domain(size_t i) const { return domain(i, programs[i]->nodes); }
  auto key(size_t i) const { return std::tuple(domain(i), programs[i]->minBytes, i); }
  bool isFilled(size_t below, size_t above) const;

  const std::vector<const ProgramInfo *> &programs;
  const std::vector<uint64_t> &meanings;
  std::vector<std::optional<uint32_t>> roots;
  std::vector<size_t> order;
};

} // namespace

SizeOrder::SizeOrder(const std::vector<const ProgramInfo *> &all, const std::vector<uint64_t> &meaningOfAll)
    : programs(all), meanings(meaningOfAll), order(inOrder(all.size())) {
  for (const ProgramInfo *program : programs)
    roots.push_back(rootOf(*program));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
}

/// Returns whether a program for any wiring is for sizes between those of two programs of one domain.
bool SizeOrder::isFilled(size_t below, size_t above) const {
  const auto end = std::tuple(domain(above, 0), programs[above]->minBytes, size_t(0));
  const auto place =
      std::lower_bound(order.begin(), order.end(), end, [&](size_t i, const auto &wanted) { return key(i) < wanted; });
  if (place == order.begin())
    return false;
  const size_t last = *(place - 1);
  return domain(last) == domain(above, 0) && programs[last]->maxBytes > programs[below]->maxBytes;
}

void SizeOrder::check(SizeCheck check, Diagnostics &diags) const {
  std::vector<std::pair<size_t, size_t>> overlaps; // the later and the earlier program in the file
  std::vector<std::pair<size_t, size_t>> holes;    // the program above a gap, and the one below
  size_t furthest = order.empty() ? 0 : order[0];  // the program of the current domain whose sizes end last
  for (size_t i = 1; i < order.size(); ++i) {
    size_t next = order[i];
    bool rivals = domain(next) == domain(furthest);
    if (rivals && programs[next]->minBytes < programs[furthest]->maxBytes)
      overlaps.emplace_back(std::max(next, furthest), std::min(next, furthest));
    if (rivals && programs[next]->minBytes > programs[furthest]->maxBytes && !programs[next]->allowsGaps &&
        !programs[furthest]->allowsGaps && !isFilled(furthest, next))
      holes.emplace_back(next, furthest);
    if (!rivals || programs[next]->maxBytes > programs[furthest]->maxBytes)
      furthest = next;
  }
  std::sort(overlaps.begin(), overlaps.end());
  for (auto [later, earlier] : overlaps)
    reportOverlap(*programs[earlier], *programs[later], diags);
  std::sort(holes.begin(), holes.end());
  for (auto [above, below] : holes)
    if (check == SizeCheck::OverlapsAndGaps)
      warnOfGap(*programs[below], *programs[above], diags);
}

/// Reports two programs whose collectives have one form, but not one meaning. A program of .gc3 cannot have this error.
static void checkMeanings(const std::vector<const ProgramInfo *> &programs, const std::vector<uint64_t> &meanings,
                          Diagnostics &diags) {
  std::vector<size_t> order = inOrder(programs.size());
  auto identity = [&](size_t i) {
    const Collective &collective = programs[i]->collective;
    return std::tie(collective.name, collective.arguments, collective.ranks);
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return identity(a) < identity(b); });
  for (size_t i = 1; i < order.size(); ++i) {
    const ProgramInfo &earlier = *programs[order[i - 1]], &later = *programs[order[i]];
    if (identity(order[i - 1]) == identity(order[i]) && meanings[order[i - 1]] != meanings[order[i]])
      diags
          .error(DiagId::TwoMeanings, later.nameRange,
                 "'" + later.name + "' and '" + earlier.name + "' both implement '" + later.collective.form() +
                     "' on " + quantity(later.collective.ranks, "rank") +
                     ", but promise different contents; give one collective another name")
          .note(earlier.nameRange, "'" + earlier.name + "' is here");
  }
}

static void checkNames(std::vector<const ProgramInfo *> programs, Diagnostics &diags) {
  std::stable_sort(programs.begin(), programs.end(),
                   [](const ProgramInfo *a, const ProgramInfo *b) { return a->name < b->name; });
  for (size_t i = 1; i < programs.size(); ++i)
    if (programs[i]->name == programs[i - 1]->name)
      diags
          .error(DiagId::Redefinition, programs[i]->nameRange, "there is a program '" + programs[i]->name + "' already")
          .note(programs[i - 1]->nameRange, "it is here");
}

void gc3::ir::checkDispatch(const std::vector<const ProgramInfo *> &programs, SizeCheck check, Diagnostics &diags) {
  checkNames(programs, diags);
  std::vector<uint64_t> meanings;
  for (const ProgramInfo *program : programs)
    meanings.push_back(meaningOf(program->collective));
  checkMeanings(programs, meanings, diags);
  if (check != SizeCheck::None)
    SizeOrder(programs, meanings).check(check, diags);
}
