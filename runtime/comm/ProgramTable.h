// SPDX-License-Identifier: Apache-2.0
// The programs that the bundles have for a given number of ranks. Chooses the program that runs each call, and each
// program's protocol and FIFO slots. All results depend only on the bundles and the RankInfos of all ranks, so they are
// identical on all ranks. Thread-safe after decide().
#pragma once

#include "comm/OccupancyBudget.h"
#include "core/Selection.h"

#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace gc3::comm {

class ProgramTable final : public core::ArmSource {
public:
  using Files = std::vector<std::shared_ptr<const bundle::BundleFile>>;

  /// Loads the programs. Returns an error if a bundle is damaged, a program is not proven, or two bundles have
  /// collectives of one form that promise different contents.
  static core::Result<std::unique_ptr<ProgramTable>> make(Files files, uint32_t ranks, const cuda::Options &options);
  ProgramTable(const ProgramTable &) = delete;
  ProgramTable &operator=(const ProgramTable &) = delete;

  /// Returns a digest of all bundles, which depends on their order. The digest of one bundle is its own.
  static uint64_t digest(const Files &files);

  /// Decides the protocol and the slots of each program, and whether it is refused. `infos` are the RankInfos of all
  /// ranks, after disagreement() has returned an empty text. Call this again when the ranks' `contexts` are known.
  void decide(std::span<const RankInfo> infos);

  struct Entry {
    const core::LoadedProgram *loaded = nullptr;
    plan::SlotSizes sizes;
    bool overNetwork = false; ///< at least one connection uses the network
    std::string refusal;      ///< why the program can't run on these ranks; empty if it can
    std::string name() const { return loaded->program->info().name()->str(); }
  };
  /// Returns the program with this number. Call after decide(). This also holds for the functions below, except size(),
  /// needsUntornLines() and choice().
  const Entry &entry(uint32_t number) const { return entries[number]; }
  size_t size() const { return entries.size(); }
  /// Returns true if at least one program is for LL128.
  bool needsUntornLines() const;
  /// Returns the number of network signals that a rank needs when all programs are loaded; 0: no program uses the
  /// network.
  uint32_t signals() const { return signalCount; }
  /// Returns the smallest number of network contexts of a rank, over all ranks.
  uint32_t contexts() const { return contextCount; }
  /// Returns the number of each rank's team, by rank. The ranks of one team reach each other's memory.
  const std::vector<uint32_t> &teams() const { return teamOfRanks; }
  /// Returns the largest number of thread blocks that the other ranks on the GPU of rank `rank` can have at once.
  uint32_t blocksOfOthers(uint32_t rank) const { return otherBlocks[rank]; }

  /// Returns the number of the program that runs a valid call, or an error with the reason why no program does. The
  /// result does not depend on buffers, and is identical on all ranks.
  core::Result<uint32_t> choose(const core::Request &request);
  /// The number of NCCL among the arms of a call.
  static constexpr uint32_t ncclArm = UINT32_MAX;
  /// Returns the programs that can run a valid request, and NCCL if it runs calls that no program runs. Does not check
  /// whether they can run calls of this size. Thread-safe.
  core::Result<core::CallArms> arms(const core::Request &request) override;
  const core::Program *programOf(uint32_t number) override {
    return number == ncclArm ? nullptr : entries[number].loaded->program.get();
  }
  /// Returns the shapes of the programs. This object must outlive the result.
  core::ShapeRule shapes() const;
  /// Checks whether a program can run a call. Ignores what depends on the buffers.
  core::Outcome checkCall(const Entry &entry, const core::Request &request) const;
  core::Files bundles() const { return views; }
  /// Returns the wiring of the ranks.
  const core::Wiring &wiring() const { return wiringOfRanks; }
  /// Returns the user's choice of programs.
  const core::Choice &choice() const { return userChoice; }

private:
  ProgramTable(Files bundles, uint32_t ranks) : files(std::move(bundles)), ranks(ranks) {}
  core::Outcome load(const cuda::Options &options);
  core::Outcome checkMeaning(const core::Request &request);
  core::Result<uint32_t> select(const core::Request &request);
  core::Result<uint32_t> selectFirst(const core::Request &request, bool bySize);
  core::Outcome checkKind(const Entry &entry, const core::Request &request) const;
  bool mayUseNccl(const core::Request &request) const;
  void decideProtocols(std::span<const RankInfo> infos);
  void decideSlots(kernel::Protocol protocol);
  void countSignals();

  const Files files;
  std::vector<const bundle::BundleFile *> views; ///< of `files`
  const uint32_t ranks;
  cuda::Options options;
  core::Choice userChoice; ///< GC3_PROGRAM or a tuner
  std::mutex selecting;
  std::vector<std::unique_ptr<core::Selection>> selections; ///< by bundle
  std::set<std::string, std::less<>> clearNames;            ///< names of calls that checkMeaning() has accepted
  std::vector<Entry> entries;
  std::map<const core::LoadedProgram *, uint32_t> numbers;
  uint32_t architecture = 0;
  std::array<bool, kernel::protocolCount> hasChosenThreads{}; ///< by protocol: on at least one rank
  core::Wiring wiringOfRanks;
  std::vector<uint32_t> teamOfRanks, otherBlocks; ///< by rank
  uint32_t signalCount = 0, contextCount = 0;
};

} // namespace gc3::comm
