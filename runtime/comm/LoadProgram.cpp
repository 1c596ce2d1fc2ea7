// SPDX-License-Identifier: Apache-2.0
// Loads a program: allocates memory, registers a window, gets the peers' addresses, and writes the image. After each
// stage that can fail on one rank alone, the ranks exchange their outcomes. So either all ranks load the program or
// none does.
#include "comm/GpuRank.h"

#include "core/Log.h"

#include <algorithm>

namespace gc3::comm {

using core::Outcome;

cuda::GpuProgram::Terms GpuRank::termsOf(const ProgramTable::Entry &entry) const {
  cuda::GpuProgram::Terms terms{{rank(), rank() + 1},
                                entry.sizes,
                                setup.options.tuned(entry.sizes.protocol).threads,
                                table->blocksOfOthers(rank())};
  const core::Program &program = *entry.loaded->program;
  if (entry.sizes.protocol != kernel::Protocol::Simple)
    return terms;
  if (setup.options.direct && entry.loaded->asWritten)
    terms.direct = plan::DirectMessages::betweenLaunches(program, *entry.loaded->asWritten, table->teams());
  if (setup.options.overSwitch && !entry.overNetwork)
    terms.switchSteps = plan::SwitchSteps::find(program, core::HappensBefore(program), table->teams());
  return terms;
}

Outcome GpuRank::reserve() {
  const ProgramTable::Entry &entry = table->entry(loading->program);
  loading->pool = std::make_unique<plan::ConnectionPool>(*pool);
  loading->numbers = loading->pool->add(*entry.loaded->program, entry.sizes);
  loading->parts = parts;
  loading->onGpu = std::make_unique<cuda::GpuProgram>(cuda, runner.limits(), *entry.loaded, termsOf(entry),
                                                      entry.overNetwork ? part->interpreters : interpretersOf(cuda));
  if (Outcome outcome = loading->onGpu->reserve(setup.options.timeoutMs != 0); !outcome.ok())
    return outcome;
  if (loading->pool->pieces() == pool->pieces())
    return {};
  // All ranks allocate the size of the largest part: NCCL before 2.29 requires the same size on all ranks.
  loading->windowBytes = loading->pool->largestPart(pool->pieces());
  loading->window = Window(cuda, nccl, child.windowComm());
  return loading->window.reserve(loading->windowBytes, runner.stream());
}

/// Exchanges the outcomes of all ranks, and stores the common outcome in `loading`. Returns an error if the exchange
/// itself fails, or if the ranks load different programs.
Outcome GpuRank::agree() {
  LoadVerdict own{static_cast<uint32_t>(loading->outcome.code), loading->lacksWindows, loading->program, {}};
  loading->outcome.text.copy(own.reason, sizeof own.reason - 1);
  const core::Result<std::vector<LoadVerdict>> all = gatherEach(own);
  if (!all.ok())
    return all.outcome();
  for (size_t r = 0; r < all->size(); ++r) {
    const LoadVerdict &theirs = (*all)[r];
    if (theirs.program != loading->program)
      return {gc3InvalidUsage, "rank " + std::to_string(r) + " loads " + programName(theirs.program) + ", and rank " +
                                   std::to_string(self.rank) + " " + programName(loading->program) +
                                   ": they make different calls, or their tuners choose differently"};
    loading->lacksWindows |= theirs.lacksWindows != 0;
    if (loading->outcome.ok() && theirs.code != gc3Success)
      loading->outcome = {static_cast<gc3Result_t>(theirs.code),
                          "rank " + std::to_string(r) + " could not load it: " + theirs.reason};
  }
  return {};
}

/// Returns true if the child may have to be split into one communicator for each LSA team. That is not needed if
/// programs use the network: then a window can span all ranks.
bool GpuRank::maySplitByTeam() const {
  return child.windowComm() == child.get() && team.ranks < self.ranks && table->signals() == 0;
}

/// From 2.29 on, NCCL supports windows that span several LSA teams only if there is a network. If the registration has
/// given no window, splits the child into one communicator for each team, and registers the window with the
/// communicator of this rank's team. Later loads register their windows with that communicator at once.
Outcome GpuRank::registerInTeam() {
  if (loading->outcome.ok()) {
    const core::Result<bool> isWindow = loading->window.isWindow();
    loading->outcome = isWindow.outcome();
    loading->lacksWindows = isWindow.ok() && !*isWindow;
  }
  if (Outcome outcome = agree(); !outcome.ok())
    return outcome;
  if (!loading->outcome.ok() || !loading->lacksWindows)
    return {};
  loading->outcome = child.splitByTeam(self.rank, team);
  if (Outcome outcome = agree(); !outcome.ok() || !loading->outcome.ok())
    return outcome;
  loading->window.moveTo(child.windowComm());
  if (core::isInfoEnabled())
    core::log("rank " + std::to_string(self.rank) + ": the communicator has no windows, so the " +
              std::to_string(team.ranks) + " ranks of its LSA team have one of their own for programs");
  loading->outcome = child.complete(loading->window.registerPart(), "registering a window");
  return {};
}

/// Registers the new window, if the program needs one. Stores an error of the registration in `loading`. Returns an
/// error only if agree() does.
Outcome GpuRank::registerWindow() {
  if (!loading->outcome.ok() || loading->windowBytes == 0)
    return {};
  loading->outcome = child.complete(loading->window.registerPart(), "registering a window");
  return maySplitByTeam() ? registerInTeam() : Outcome{};
}

plan::NetworkRoute GpuRank::network() const {
  plan::NetworkRoute network{deviceComm.onDevice(), table->contexts(), {}};
  for (const Window &window : windows)
    network.windows.push_back(window.get());
  if (loading->windowBytes != 0)
    network.windows.push_back(loading->window.get());
  return network;
}

/// Gets the addresses of the peers' parts of the new window, if there is one, and writes the image.
Outcome GpuRank::connect() {
  if (loading->windowBytes != 0) {
    const core::Result<std::vector<std::byte *>> peers = loading->window.resolve(team, runner.stream());
    if (!peers.ok())
      return peers.outcome();
    std::vector<std::byte *> all(static_cast<size_t>(self.ranks));
    for (size_t peer = 0; peer < peers->size(); ++peer)
      all[static_cast<size_t>(firstOfTeam()) + peer * static_cast<size_t>(team.stride)] = (*peers)[peer];
    loading->parts.push_back(std::move(all));
  }
  const plan::NetworkRoute network = this->network();
  const bool overNetwork = table->entry(loading->program).overNetwork;
  return loading->onGpu->write({*loading->pool, loading->numbers, loading->parts, overNetwork ? &network : nullptr},
                               runner.stream());
}

const cuda::GpuProgram *GpuRank::commitLoad() {
  pool = std::move(loading->pool);
  parts = std::move(loading->parts);
  if (loading->windowBytes != 0)
    windows.push_back(std::move(loading->window));
  if (core::isInfoEnabled())
    core::log("rank " + std::to_string(self.rank) + ": " + programName(loading->program) +
              " is loaded: " + loading->onGpu->conditions() + ", " + std::to_string(loading->windowBytes) +
              " bytes of windows for new connections");
  return &runner.add(std::move(loading->onGpu));
}

/// Loads the program together with the other ranks. Stores the common outcome in `loading`. Returns an error only if
/// agree() does.
Outcome GpuRank::loadOnAllRanks() {
  if (loading->outcome.ok())
    loading->outcome = reserve();
  if (Outcome outcome = agree(); !outcome.ok())
    return outcome;
  if (Outcome outcome = registerWindow(); !outcome.ok())
    return outcome;
  if (loading->outcome.ok())
    loading->outcome = connect();
  return agree();
}

/// Keeps `loading` after a failure, because NCCL can write to it until the child is aborted.
GpuRank::LoadResult GpuRank::load(uint32_t program, const Outcome &localError) {
  loading = std::make_unique<PendingLoad>();
  loading->program = program;
  loading->outcome = localError;
  if (Outcome outcome = loadOnAllRanks(); !outcome.ok())
    return {outcome, {}, nullptr};
  LoadResult loaded;
  if (loading->outcome.ok())
    loaded.program = commitLoad();
  else
    loaded.refusal = {loading->outcome.code, programName(program) + " could not be loaded: " + loading->outcome.text};
  loading.reset();
  return loaded;
}

} // namespace gc3::comm
