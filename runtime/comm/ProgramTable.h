// SPDX-License-Identifier: Apache-2.0
// The programs of bundles for a number of ranks: which of them runs a call, under which protocol and with which slots.
// All of it follows from the bundles and the ranks' RankInfos, so it is the same on all ranks. Thread-safe after
// decide().
#pragma once

#include "comm/OccupancyBudget.h"
#include "core/Selection.h"

#include <map>
#include <mutex>

namespace gc3::comm {

class ProgramTable {
public:
  using Files = std::vector<std::shared_ptr<const bundle::BundleFile>>;

  /// Loads the programs. Returns an error if a bundle is damaged, or a program is not proven.
  static core::Result<std::unique_ptr<ProgramTable>> make(Files files, uint32_t ranks, const cuda::Options &options);
  ProgramTable(const ProgramTable &) = delete;
  ProgramTable &operator=(const ProgramTable &) = delete;

  /// The digest of all bundles in their order.
  static uint64_t digest(const Files &files);

  /// Decides what follows from the infos of all ranks, which agree. Called again once their `contexts` are known.
  void decide(std::span<const RankInfo> infos);

  struct Entry {
    const core::LoadedProgram *loaded = nullptr;
    plan::SlotSizes sizes;
    bool overNetwork = false; ///< at least one of its connections
    std::string refusal;      ///< why it can't run on these ranks; empty if it can
    std::string name() const { return loaded->program->info().name()->str(); }
  };
  /// By number. After decide(), as all that follows.
  const Entry &entry(uint32_t number) const { return entries[number]; }
  size_t size() const { return entries.size(); }
  /// True if a program is for LL128.
  bool needsUntornLines() const;
  /// Network signals that a rank needs when all programs are loaded; 0: none of them uses the network.
  uint32_t signals() const { return signalCount; }
  /// Network contexts of every rank.
  uint32_t contexts() const { return contextCount; }
  /// By rank: the ranks of a team reach each other's memory.
  const std::vector<uint32_t> &teams() const { return teamOfRanks; }
  /// The most thread blocks that other ranks on the GPU of rank `rank` can have at the same time.
  uint32_t blocksOfOthers(uint32_t rank) const { return otherBlocks[rank]; }

  /// The program that runs a valid call, or why none does, whatever the buffers; the same on all ranks.
  core::Result<uint32_t> choose(const core::Request &request);
  /// What the user says about the choice.
  const core::Choice &choice() const { return userChoice; }

private:
  ProgramTable(Files bundles, uint32_t ranks) : files(std::move(bundles)), ranks(ranks) {}
  core::Outcome load(const cuda::Options &options);
  core::Result<uint32_t> select(const core::Request &request);
  core::Result<uint32_t> selectFirst(const core::Request &request, bool bySize);
  core::Outcome checkCall(const Entry &entry, const core::Request &request) const;
  void decideProtocols(std::span<const RankInfo> infos);
  void decideSlots(kernel::Protocol protocol);
  void countSignals();

  const Files files;
  const uint32_t ranks;
  cuda::Options options;
  core::Choice userChoice; ///< GC3_PROGRAM or a tuner
  std::mutex selecting;
  std::vector<std::unique_ptr<core::Selection>> selections; ///< by bundle
  std::vector<Entry> entries;
  std::map<const core::LoadedProgram *, uint32_t> numbers;
  uint32_t architecture = 0;
  std::vector<uint32_t> teamOfRanks, otherBlocks; ///< by rank
  uint32_t signalCount = 0, contextCount = 0;
};

} // namespace gc3::comm
