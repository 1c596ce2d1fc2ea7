// SPDX-License-Identifier: Apache-2.0
#include "comm/RankInfo.h"

#include <algorithm>
#include <string_view>

namespace gc3::comm {

using kernel::Protocol;

/// Returns a version code of NCCL or gc3 as a text: 22807 is "2.28.7".
static std::string versionOf(int32_t code) {
  return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." + std::to_string(code % 100);
}

void RankInfo::set(const cuda::Options &options) {
  for (size_t p = 0; p < options.tuning.size(); ++p) {
    slotBytes[p] = options.tuning[p].slotBytes;
    slots[p] = options.tuning[p].slots;
    hasChosenThreads[p] = options.tuning[p].threads != 0;
  }
  simple = options.simple;
  strictLL128 = options.strictLL128;
  direct = options.direct;
  overSwitch = options.overSwitch;
  timeout = options.timeoutMs != 0;
  allowUnproven = options.allowUnproven;
  choice = core::ChoiceInfo::of(options.choice, options.tune);
}

std::string versionMismatch(std::span<const VersionHandshake> ranks) {
  const VersionHandshake &first = ranks[0];
  for (size_t r = 0; r < ranks.size(); ++r) {
    const VersionHandshake &own = ranks[r];
    if (own.version != first.version)
      return "rank " + std::to_string(r) + " has version " + versionOf(own.version) + " of gc3, and rank 0 has " +
             versionOf(first.version);
    if (own.layout != first.layout || own.infoBytes != first.infoBytes)
      return "rank " + std::to_string(r) + " has another build of gc3 than rank 0";
  }
  return {};
}

std::string disagreement(std::span<const RankInfo> ranks) {
  const RankInfo &first = ranks[0];
  for (size_t r = 0; r < ranks.size(); ++r) {
    const RankInfo &own = ranks[r];
    const std::string rank = "rank " + std::to_string(r);
    if (own.canRunPrograms == 0)
      return rank + " can't run programs";
    if (own.bundles != first.bundles)
      return rank + " has other bundles than rank 0";
    if (const std::string difference = own.choice.differenceFrom(first.choice); !difference.empty())
      return rank + " " + difference;
    if (own.slots != first.slots || own.slotBytes != first.slotBytes)
      return rank + " has other FIFO slots than rank 0";
    if (own.strictLL128 != first.strictLL128)
      return rank + " has another GC3_LL128 than rank 0";
    if (own.direct != first.direct)
      return rank + " has another GC3_DIRECT than rank 0";
    if (own.overSwitch != first.overSwitch)
      return rank + " has another GC3_SWITCH than rank 0";
    if (own.simple != first.simple || own.timeout != first.timeout || own.allowUnproven != first.allowUnproven)
      return rank + " has other options than rank 0";
  }
  return {};
}

static bool reaches(const RankInfo &rank, int32_t peer) {
  return peer >= rank.firstPeer && peer < rank.peerEnd;
}

static bool isUntornLink(const RankInfo &rank, int32_t peer) {
  return rank.untornPeers.has(static_cast<uint32_t>(peer - rank.firstPeer));
}

/// Returns, as a text, the first two ranks that a program connects although `holds` returns false for them; empty if
/// there are none.
static std::string firstPairWithout(bool (*holds)(const RankInfo &rank, int32_t peer), const core::Program &program,
                                    std::span<const RankInfo> ranks) {
  for (uint32_t r = 0; r < program.ranks(); ++r)
    for (const auto &block : program.rank(r).threadBlocks)
      for (int32_t peer : {block.send_peer(), block.recv_peer()})
        if (peer >= 0 && !holds(ranks[r], peer))
          return "ranks " + std::to_string(r) + " and " + std::to_string(peer);
  return {};
}

std::string unreachablePair(const core::Program &program, std::span<const RankInfo> ranks) {
  return firstPairWithout(reaches, program, ranks);
}

/// Returns, as a text, the first two ranks that a program for LL128 connects over a link that can tear lines. Empty if
/// there are none, or if the program is for another protocol.
static std::string tearingPair(const core::Program &program, std::span<const RankInfo> ranks) {
  const bool wantsLines = static_cast<Protocol>(program.info().protocol()) == Protocol::LL128;
  return wantsLines ? firstPairWithout(isUntornLink, program, ranks) : "";
}

Protocol protocolOf(const core::Program &program, std::span<const RankInfo> ranks) {
  const bool replaced =
      ranks[0].simple != 0 || !unreachablePair(program, ranks).empty() || !tearingPair(program, ranks).empty();
  return replaced ? Protocol::Simple : static_cast<Protocol>(program.info().protocol());
}

std::string networkProblem(std::span<const RankInfo> ranks) {
  for (size_t r = 0; r < ranks.size(); ++r) {
    const std::string rank = "rank " + std::to_string(r);
    if (ranks[r].gin == 0)
      return rank + " has no libgc3gin.so, which sends between nodes";
    if (ranks[r].gin != ranks[r].nccl)
      return rank + " has a libgc3gin.so that was built with NCCL " + versionOf(ranks[r].gin) + ", and runs NCCL " +
             versionOf(ranks[r].nccl) + ": use one that was built with this NCCL";
    if (ranks[r].contexts == 0)
      return rank + " could not get a network of NCCL's GIN";
  }
  return {};
}

bool shareGpu(const RankInfo &a, const RankInfo &b) {
  return a.host != 0 && a.host == b.host && std::string_view(a.busId) == b.busId;
}

std::string unsupportedReason(const core::Program &program, std::span<const RankInfo> ranks) {
  const std::string name = "program '" + program.info().name()->str() + "': ";
  const std::string pair = unreachablePair(program, ranks), reason = pair.empty() ? "" : networkProblem(ranks);
  if (!reason.empty())
    return name + pair + ", which it connects, do not reach each other's memory, and " + reason;
  const bool mayReplace = ranks[0].strictLL128 == 0 || ranks[0].simple != 0;
  if (const std::string pairThatTears = mayReplace ? "" : tearingPair(program, ranks); !pairThatTears.empty())
    return name + pairThatTears +
           ", which it connects, have no link that keeps lines of LL128 whole, and GC3_LL128 refuses "
           "another protocol";
  return {};
}

core::Wiring wiringOf(std::span<const RankInfo> ranks, uint64_t stated) {
  if (stated != 0)
    return core::Wiring::ofBlocks(static_cast<uint32_t>(ranks.size()), static_cast<uint32_t>(stated));
  const auto isOfOtherHost = [&](const RankInfo &rank) {
    return rank.host != ranks[static_cast<size_t>(rank.firstPeer)].host;
  };
  const bool areDomains = std::any_of(ranks.begin(), ranks.end(), isOfOtherHost);
  std::vector<uint64_t> nodes;
  for (const RankInfo &rank : ranks)
    nodes.push_back(areDomains ? static_cast<uint64_t>(rank.firstPeer) : rank.host);
  const bool isUnknown = !areDomains && std::count(nodes.begin(), nodes.end(), 0U) != 0;
  return isUnknown ? core::Wiring{} : core::Wiring::of(nodes);
}

uint32_t oldestArchitecture(std::span<const RankInfo> ranks) {
  const auto oldest = std::min_element(
      ranks.begin(), ranks.end(), [](const RankInfo &a, const RankInfo &b) { return a.architecture < b.architecture; });
  return oldest->architecture;
}

} // namespace gc3::comm
