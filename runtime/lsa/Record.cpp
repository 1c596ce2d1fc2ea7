// SPDX-License-Identifier: Apache-2.0
#include "lsa/Record.h"

#include <algorithm>
#include <string_view>

namespace gc3::lsa {

using device::Protocol;

void Record::set(const cuda::Options &options) {
  slotBytes = options.slotBytes;
  slots = options.slots;
  simple = options.simple;
  timeout = options.timeoutMs != 0;
  allowUnproven = options.allowUnproven;
  tuner = options.choice.tuner != nullptr;
  const std::string &list = options.choice.programs;
  programs = bundle::checksum(list.data(), list.size());
}

std::string disagreement(std::span<const Record> ranks) {
  const Record &first = ranks[0];
  for (size_t r = 0; r < ranks.size(); ++r) {
    const Record &own = ranks[r];
    const std::string rank = "rank " + std::to_string(r);
    if (own.layout != first.layout)
      return rank + " has another version of gc3 than rank 0";
    if (own.able == 0)
      return rank + " can't run programs";
    if (own.bundles != first.bundles)
      return rank + " has other bundles than rank 0";
    if (own.programs != first.programs)
      return rank + " has another GC3_PROGRAM than rank 0";
    if (own.tuner != first.tuner)
      return rank + " has " + (own.tuner != 0 ? "a" : "no") + " tuner, unlike rank 0";
    if (own.slots != first.slots || own.slotBytes != first.slotBytes)
      return rank + " has other FIFO slots than rank 0";
    if (own.simple != first.simple || own.timeout != first.timeout || own.allowUnproven != first.allowUnproven)
      return rank + " has other options than rank 0";
  }
  return {};
}

Protocol protocolOf(const host::Program &program, std::span<const Record> ranks) {
  const auto proven = static_cast<Protocol>(program.info().protocol());
  const bool torn = proven == Protocol::LL128 && std::any_of(ranks.begin(), ranks.end(), [](const Record &rank) {
                      return rank.linesStayWhole == 0;
                    });
  return torn || ranks[0].simple != 0 || !apart(program, ranks).empty() ? Protocol::Simple : proven;
}

std::string apart(const host::Program &program, std::span<const Record> ranks) {
  for (uint32_t r = 0; r < program.ranks(); ++r)
    for (const auto &block : program.rank(r).threadBlocks)
      for (int32_t peer : {block.send_peer(), block.recv_peer()})
        if (peer >= 0 && (peer < ranks[r].firstPeer || peer >= ranks[r].peerEnd))
          return "ranks " + std::to_string(r) + " and " + std::to_string(peer);
  return {};
}

/// As NCCL writes it.
static std::string versionOf(int32_t code) {
  return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." + std::to_string(code % 100);
}

std::string whyNoNetwork(std::span<const Record> ranks) {
  for (size_t r = 0; r < ranks.size(); ++r) {
    const std::string rank = "rank " + std::to_string(r);
    if (ranks[r].gin == 0)
      return rank + " has no libgc3gin.so, which goes between nodes";
    if (ranks[r].gin != ranks[r].nccl)
      return rank + " has a libgc3gin.so that was built with NCCL " + versionOf(ranks[r].gin) + ", and runs NCCL " +
             versionOf(ranks[r].nccl) + ": it takes one that was built with this NCCL";
    if (ranks[r].contexts == 0)
      return rank + " could not get a network of NCCL's GIN";
  }
  return {};
}

/// Of all ranks that share the GPU of rank `r`, which NCCL allows from 2.30 on.
static uint32_t blocksOnGpu(const host::Program &program, std::span<const Record> ranks, uint32_t r) {
  uint32_t blocks = 0;
  for (uint32_t other = 0; other < program.ranks(); ++other)
    if (other == r || shareGpu(ranks[other], ranks[r]))
      blocks += program.firstThreadBlock(other + 1) - program.firstThreadBlock(other);
  return blocks;
}

bool shareGpu(const Record &a, const Record &b) {
  return a.host != 0 && a.host == b.host && std::string_view(a.busId) == b.busId;
}

std::string whyNot(const host::Program &program, Protocol protocol, std::span<const Record> ranks) {
  const std::string name = "program '" + program.info().name()->str() + "': ";
  const std::string pair = apart(program, ranks), why = pair.empty() ? "" : whyNoNetwork(ranks);
  if (!why.empty())
    return name + pair + ", which it connects, do not reach each other's memory, and " + why;
  for (uint32_t r = 0; r < program.ranks(); ++r) {
    const uint32_t own = program.firstThreadBlock(r + 1) - program.firstThreadBlock(r);
    const uint32_t blocks = blocksOnGpu(program, ranks, r);
    const uint32_t room = pair.empty() ? ranks[r].room[static_cast<size_t>(protocol)] : ranks[r].networkRoom;
    if (blocks > room)
      return name + "rank " + std::to_string(r) + " has " + std::to_string(blocks) + " thread blocks" +
             (blocks > own ? ", those of ranks on the same GPU included" : "") + ", and its GPU can hold " +
             std::to_string(room) + " at once";
  }
  return {};
}

uint32_t oldestArchitecture(std::span<const Record> ranks) {
  const auto oldest = std::min_element(
      ranks.begin(), ranks.end(), [](const Record &a, const Record &b) { return a.architecture < b.architecture; });
  return oldest->architecture;
}

} // namespace gc3::lsa
