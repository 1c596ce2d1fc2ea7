// SPDX-License-Identifier: Apache-2.0
// One rank's part in loading a program (World.cpp has what ranks do together): memory, a window, the peers' addresses,
// the image.
#include "lsa/Rank.h"

#include "core/Log.h"

#include <algorithm>

namespace gc3::lsa {

using core::Outcome;
using cuda::OnDevice;

const cuda::GpuProgram *Rank::loaded(uint32_t program) const {
  return onGpu[program];
}

Outcome Rank::reserve(uint32_t program, Loading &loading) {
  const OnDevice device(cuda, onDevice);
  if (!device.outcome().ok())
    return device.outcome();
  const Catalog::Entry &entry = catalog->entry(program);
  loading.program = program;
  loading.pool = std::make_unique<plan::ConnectionPool>(*pool);
  loading.numbers = loading.pool->add(*entry.loaded->program, entry.sizes);
  loading.parts = parts;
  loading.onGpu =
      std::make_unique<cuda::GpuProgram>(cuda, runner.room(), *entry.loaded, core::RankRange{rank(), rank() + 1},
                                         entry.sizes, entry.overNetwork ? part->interpreters : interpretersOf(cuda),
                                         options.tuned(entry.sizes.protocol).threads, catalog->blocksBeside(rank()));
  if (Outcome outcome = loading.onGpu->reserve(options.timeoutMs != 0); !outcome.ok())
    return outcome;
  if (loading.pool->pieces() == pool->pieces())
    return {};
  // As large for all ranks: before 2.29 windows have to be.
  loading.windowBytes = loading.pool->largestPart(pool->pieces());
  loading.window = Window(cuda, nccl, commOfWindows());
  return loading.window.reserve(loading.windowBytes, runner.stream());
}

ncclapi::Comm Rank::commOfWindows() const {
  std::lock_guard lock(splitting);
  return teamComm.get() ? teamComm.get() : comm;
}

/// A network comes with windows over all ranks.
bool Rank::maySplit() const {
  return commOfWindows() == comm && team.ranks < count && catalog->signals() == 0;
}

Outcome Rank::lacksWindow(const Loading &loading, bool &lacks) const {
  bool real = false;
  Outcome outcome = loading.window.isWindow(real);
  lacks = outcome.ok() && !real;
  return outcome;
}

Outcome Rank::enroll(Loading &loading) const {
  const Outcome outcome = aborted();
  return outcome.ok() ? loading.window.enroll() : outcome;
}

Outcome Rank::split(Loading &loading) const {
  if (Outcome outcome = aborted(); !outcome.ok())
    return outcome;
  loading.teamComm = TeamComm(nccl);
  return loading.teamComm.create(comm, team, firstOfTeam());
}

Outcome Rank::completeSplit(const Outcome &created, Loading &loading) const {
  return loading.teamComm.complete(created, team);
}

/// Who aborts finds it here, or has done so before, and then nothing of NCCL is touched.
Outcome Rank::keepSplit(Loading &loading) {
  const OnDevice device(cuda, onDevice);
  const ncclapi::Comm ofTeam = loading.teamComm.get();
  {
    std::lock_guard lock(splitting);
    if (Outcome outcome = aborted(); !outcome.ok())
      return outcome;
    teamComm = std::move(loading.teamComm);
  }
  loading.window.leave(ofTeam);
  if (core::informs())
    core::tell("rank " + std::to_string(own) + ": the communicator has no windows, so the " +
               std::to_string(team.ranks) + " ranks of its LSA team have one of their own for programs");
  return {};
}

Outcome Rank::connect(Loading &loading) {
  const OnDevice device(cuda, onDevice);
  if (!device.outcome().ok())
    return device.outcome();
  if (loading.windowBytes != 0) {
    std::vector<std::byte *> peers;
    if (Outcome outcome = aborted(); !outcome.ok())
      return outcome;
    if (Outcome outcome = loading.window.resolve(team.rank, team.ranks, runner.stream(), peers); !outcome.ok())
      return outcome;
    std::vector<std::byte *> all(ranks());
    for (size_t peer = 0; peer < peers.size(); ++peer)
      all[static_cast<size_t>(firstOfTeam()) + peer * static_cast<size_t>(team.stride)] = peers[peer];
    loading.parts.push_back(std::move(all));
  }
  const plan::NetworkRoute network = networkOf(loading);
  const bool overNetwork = catalog->entry(loading.program).overNetwork;
  return loading.onGpu->write({*loading.pool, loading.numbers, loading.parts, overNetwork ? &network : nullptr},
                              runner.stream());
}

plan::NetworkRoute Rank::networkOf(const Loading &loading) const {
  plan::NetworkRoute network{ownNetwork.onDevice(), catalog->contexts(), {}};
  for (const Window &window : windows)
    network.windows.push_back(window.get());
  if (loading.windowBytes != 0)
    network.windows.push_back(loading.window.get());
  return network;
}

void Rank::discard(Loading &loading) const {
  if (!*isAborted && !hasGivenUp)
    return;
  loading.window.abandon();
  loading.teamComm.abort(aside);
  if (loading.onGpu)
    loading.onGpu->abandon();
}

std::string Rank::refusal(uint32_t program) const {
  std::lock_guard lock(mutex);
  return refusals[program];
}

void Rank::refuse(uint32_t program, const std::string &why) {
  std::lock_guard lock(mutex);
  refusals[program] = why;
}

void Rank::keep(Loading &&loading) {
  std::lock_guard lock(mutex);
  pool = std::move(loading.pool);
  parts = std::move(loading.parts);
  if (loading.windowBytes != 0)
    windows.push_back(std::move(loading.window));
  if (core::informs())
    core::tell("rank " + std::to_string(own) + ": program '" + catalog->entry(loading.program).name() +
               "' is loaded: " + loading.onGpu->conditions() + ", " + std::to_string(loading.windowBytes) +
               " bytes of windows for new connections");
  onGpu[loading.program] = &runner.add(std::move(loading.onGpu));
}

} // namespace gc3::lsa
