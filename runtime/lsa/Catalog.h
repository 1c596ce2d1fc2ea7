// SPDX-License-Identifier: Apache-2.0
// The programs of bundles for so many ranks: which of them serves a call, under which protocol and with which slots.
// All of it follows from the bundles and the ranks' records, so it is alike on all ranks. Any number of threads may
// ask.
#pragma once

#include "core/Selection.h"
#include "lsa/SharedRoom.h"

#include <map>
#include <mutex>

namespace gc3::lsa {

class Catalog {
public:
  using Files = std::vector<std::shared_ptr<const bundle::BundleFile>>;

  /// Loads the programs. Not ok: a bundle is damaged, or a program is not proven.
  static core::Outcome make(Files files, uint32_t ranks, const cuda::Options &options,
                            std::unique_ptr<Catalog> &catalog);
  Catalog(const Catalog &) = delete;
  Catalog &operator=(const Catalog &) = delete;

  /// Of all bundles in their order.
  static uint64_t digest(const Files &files);

  /// Decides what follows from the records of all ranks, which agree; once more when they say what became of the
  /// network.
  void settle(std::span<const Record> records);

  struct Entry {
    const core::LoadedProgram *loaded = nullptr;
    plan::SlotSizes sizes;
    bool overNetwork = false; ///< some of its connections
    std::string refused;      ///< why it can't run on these ranks, if so
    std::string name() const { return loaded->program->info().name()->str(); }
  };
  /// Behind settle(). By number.
  const Entry &entry(uint32_t number) const { return entries[number]; }
  size_t size() const { return entries.size(); }
  /// Whether any program is for LL128.
  bool wantsWholeLines() const;
  /// Behind settle(). Signals of the network that a rank needs when all programs have been loaded; 0: none goes over
  /// it.
  uint32_t signals() const { return signalCount; }
  /// Of the network, on every rank.
  uint32_t contexts() const { return contextCount; }
  /// By rank: those of one team reach each other's memory.
  const std::vector<uint32_t> &teams() const { return teamOfRanks; }
  /// Behind settle(). Thread blocks that others on the GPU of that rank may have at the same time, at most.
  uint32_t blocksBeside(uint32_t rank) const { return besides[rank]; }

  /// The program for a valid call, and whether it can make such a call, buffers aside. The error is alike on all ranks.
  core::Outcome choose(const core::Request &request, uint32_t &number);
  /// What users say about that.
  const core::Choice &choice() const { return users; }

private:
  Catalog(Files bundles, uint32_t ranks) : files(std::move(bundles)), ranks(ranks) {}
  core::Outcome load(const cuda::Options &options);
  core::Outcome select(const core::Request &request, uint32_t &number);
  core::Outcome selectFirst(const core::Request &request, bool bySize, uint32_t &number);
  core::Outcome admit(const Entry &entry, const core::Request &request) const;
  void settleWays(std::span<const Record> records);
  void settleSlots(kernel::Protocol protocol);
  void countSignals();

  const Files files;
  const uint32_t ranks;
  cuda::Options options;
  core::Choice users;
  std::mutex selecting;
  std::vector<std::unique_ptr<core::Selection>> selections; ///< by bundle
  std::vector<Entry> entries;
  std::map<const core::LoadedProgram *, uint32_t> numbers;
  uint32_t architecture = 0;
  std::vector<uint32_t> teamOfRanks, besides; ///< by rank
  uint32_t signalCount = 0, contextCount = 0;
};

} // namespace gc3::lsa
