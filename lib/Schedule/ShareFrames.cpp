// SPDX-License-Identifier: Apache-2.0
// Lets frames share thread blocks on ranks with too many: a frame that only sends and a frame that only receives on the
// same channel become one. Pairs with the same peer come first. Linear in frames, times the logarithm of a rank's
// number of frames.
#include "Stages.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/Quantity.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::schedule;

namespace {

class FrameSharer {
public:
  FrameSharer(Frames &frames, const ProgramInfo &info, const Options &options, Diagnostics &diags)
      : frames(frames), info(info), options(options), diags(diags), ranks(info.collective.ranks) {}

  bool run();

private:
  void collectFrames();
  void share(uint32_t rank, bool samePeer);
  bool withinLimit(uint32_t rank);
  struct Origin {
    SourceRange where;
    std::string what;
  };
  Origin originOf(const Frame &frame) const;
  void reportLimit(const std::vector<uint32_t> &crowded);

  Frames &frames;
  const ProgramInfo &info;
  const Options &options;
  Diagnostics &diags;
  const uint32_t ranks;
  std::vector<std::vector<uint32_t>> framesOf; // by rank; empty if all ranks are within the limit
};

} // namespace

void FrameSharer::collectFrames() {
  framesOf.resize(ranks);
  for (uint32_t frame = 0; frame != frames.all().size(); ++frame)
    if (!frames.all()[frame].merged)
      framesOf[frames.all()[frame].rank].push_back(frame);
}

/// Pairs frames that only send with frames that only receive until the rank is within the limit or no pair is left.
void FrameSharer::share(uint32_t rank, bool samePeer) {
  auto key = [&](uint32_t channel, uint32_t peer) { return std::pair(channel, samePeer ? peer : 0); };
  std::map<std::pair<uint32_t, uint32_t>, std::deque<uint32_t>> senders;
  std::vector<uint32_t> &own = framesOf[rank];
  for (uint32_t index : own) {
    const Frame &frame = frames.all()[index];
    if (!frame.pin && frame.sendConnection != None && frame.recvConnection == None)
      senders[key(frame.channel, frames.connections()[frame.sendConnection].destination)].push_back(index);
  }
  for (uint32_t index : own) {
    const Frame &frame = frames.all()[index];
    if (frames.framesOn(rank) <= options.maxThreadBlocks)
      break;
    if (frame.pin || frame.recvConnection == None || frame.sendConnection != None)
      continue;
    auto match = senders.find(key(frame.channel, frames.connections()[frame.recvConnection].source));
    if (match == senders.end() || match->second.empty())
      continue;
    frames.join(match->second.front(), index);
    match->second.pop_front();
  }
  std::erase_if(own, [&](uint32_t index) { return frames.all()[index].merged; });
}

/// Returns the place and a description of the directive, or of the operation, that a frame was made for.
FrameSharer::Origin FrameSharer::originOf(const Frame &frame) const {
  const Directive &directive = info.directives[frame.directive];
  if (directive.parallel != 1)
    return {directive.parallelSite, "these " + std::to_string(directive.parallel) + " parallel instances"};
  if (directive.channel >= 0)
    return {directive.channelSite, "the channels chosen here"};
  return {info.sites[frame.site], "these operations, one for each peer and direction"};
}

/// Reports the rank with the most thread blocks. Notes name the directives or operations that need the most of them.
void FrameSharer::reportLimit(const std::vector<uint32_t> &crowded) {
  uint32_t rank = *std::max_element(crowded.begin(), crowded.end(),
                                    [&](uint32_t a, uint32_t b) { return framesOf[a].size() < framesOf[b].size(); });
  std::string others =
      crowded.size() == 1 ? "" : " (also above it: " + quantity(crowded.size() - 1, "other rank") + ")";
  Diagnostic &error =
      diags.error(DiagId::TooManyThreadBlocks, info.nameRange,
                  "rank " + std::to_string(rank) + " needs " + std::to_string(framesOf[rank].size()) +
                      " thread blocks, the limit is " + std::to_string(options.maxThreadBlocks) + others +
                      "; use fewer channels or parallel instances, or raise --max-threadblocks");
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, std::string>> shares; // by place: count, description
  for (uint32_t index : framesOf[rank]) {
    Origin origin = originOf(frames.all()[index]);
    auto &share = shares[{origin.where.begin, origin.where.end}];
    ++share.first;
    share.second = origin.what;
  }
  std::vector<std::tuple<uint32_t, SourceRange, std::string>> sorted;
  for (const auto &[place, share] : shares)
    sorted.emplace_back(share.first, SourceRange{place.first, place.second}, share.second);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto &a, const auto &b) { return std::get<0>(a) > std::get<0>(b); });
  for (size_t i = 0; i != std::min<size_t>(sorted.size(), 3); ++i)
    error.note(std::get<1>(sorted[i]),
               std::to_string(std::get<0>(sorted[i])) + " of them come from " + std::get<2>(sorted[i]));
}

bool FrameSharer::withinLimit(uint32_t rank) {
  if (frames.framesOn(rank) > options.maxThreadBlocks)
    share(rank, true);
  if (frames.framesOn(rank) > options.maxThreadBlocks)
    share(rank, false);
  return frames.framesOn(rank) <= options.maxThreadBlocks;
}

/// Lets frames share blocks on ranks with too many. Returns false, with an error, if a rank still has too many.
bool FrameSharer::run() {
  auto fits = [&](uint32_t rank) { return frames.framesOn(rank) <= options.maxThreadBlocks; };
  if (llvm::all_of(llvm::seq(0u, ranks), fits))
    return true;
  collectFrames();
  std::vector<uint32_t> crowded;
  for (uint32_t rank = 0; rank != ranks; ++rank)
    if (!withinLimit(rank))
      crowded.push_back(rank);
  if (!crowded.empty())
    reportLimit(crowded);
  return crowded.empty();
}

bool gc3::schedule::shareFrames(Frames &frames, const ProgramInfo &info, const Options &options, Diagnostics &diags) {
  return FrameSharer(frames, info, options, diags).run();
}
