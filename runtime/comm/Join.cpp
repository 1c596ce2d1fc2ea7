// SPDX-License-Identifier: Apache-2.0
// Joining: the ranks exchange RankInfos, and each rank computes the same decisions from the same data.
#include "comm/GpuRank.h"

#include "core/LearnedTimes.h"
#include "core/Log.h"
#include "select/Digest.h"
#include "trace/RankFiles.h"

#include <fstream>
#include <random>
#include <set>

namespace gc3::comm {

using core::Outcome;

namespace {

uint64_t newNonce() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

/// Returns a number that identifies the machine, and is the same in all its containers. Returns 0 if the machine is
/// unknown.
uint64_t thisHost() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  return file >> id ? bundle::checksum(id.data(), id.size()) : 0;
}

/// Returns true if all ranks of the team are ranks of a communicator that has `count` ranks. `own` is this rank's
/// number in the communicator.
bool isSound(const ncclapi::Team &team, int64_t own, int64_t count) {
  const int64_t first = own - int64_t{team.rank} * team.stride;
  return team.rank >= 0 && team.rank < team.ranks && team.stride > 0 && first >= 0 &&
         first + (int64_t{team.ranks} - 1) * team.stride < count;
}

void logRefused(const ProgramTable &table, uint32_t rank) {
  for (uint32_t program = 0; core::isInfoEnabled() && program < table.size(); ++program)
    if (const std::string &reason = table.entry(program).refusal; !reason.empty())
      core::logOnce("rank " + std::to_string(rank) + ": refused: " + reason);
}

} // namespace

Outcome GpuRank::prepare() {
  if (Outcome outcome = runner.prepare(); !outcome.ok())
    return outcome;
  constexpr size_t mostBytes =
      std::max({sizeof(VersionHandshake), sizeof(RankInfo), sizeof(LoadVerdict), sizeof(net::Endpoint)});
  return child.prepareGathers(static_cast<uint32_t>(self.ranks), mostBytes);
}

/// Returns how many thread blocks fit on the GPU at once. This is the minimum over the kernels of all element types.
core::Result<uint32_t> GpuRank::mostBlocks(const cuda::Interpreters &interpreters, kernel::Protocol protocol) const {
  uint32_t blocks = UINT32_MAX;
  for (unsigned type = 0; type < core::elementTypeCount; ++type) {
    const void *kernel = interpreters.kernel(static_cast<core::ElementType>(type), protocol);
    const uint32_t chosen = setup.options.tuned(protocol).threads;
    const uint32_t threads = chosen != 0 ? chosen : cuda::fewestThreads;
    const core::Result<uint64_t> fit = blocksThatFit(cuda, interpreters, runner.limits(), kernel, threads);
    if (!fit.ok())
      return fit.outcome();
    blocks = static_cast<uint32_t>(std::min<uint64_t>(blocks, *fit));
  }
  return blocks;
}

/// Sets the fields of `own` that concern NCCL and the network. Calls the plugin only if it was built with the installed
/// NCCL's version.
Outcome GpuRank::describeNetwork(RankInfo &own) {
  own.nccl = nccl.version;
  if (setup.drivers.findGin && own.peerEnd - own.firstPeer != self.ranks)
    part = setup.drivers.findGin();
  own.gin = part ? part->nccl : 0;
  if (!part || own.gin != own.nccl)
    return {};
  deviceComm = DeviceComm(cuda, nccl, *part, child.get());
  if (Outcome outcome = deviceComm.reserve(); !outcome.ok())
    return outcome;
  const core::Result<uint32_t> room = mostBlocks(part->interpreters, kernel::Protocol::Simple);
  own.networkBlockLimit = room.ok() ? *room : 0;
  return room.outcome();
}

Outcome GpuRank::describe(RankInfo &own) {
  team = child.lsaTeam();
  if (!isSound(team, self.rank, self.ranks))
    return {gc3SystemError, "NCCL's LSA team is no part of its communicator"};
  own.set(setup.options);
  own.architecture = runner.limits().architecture;
  // The range of reachable peers must have no gaps. So if the team's stride is not 1, the range contains only this
  // rank.
  own.firstPeer = team.stride == 1 ? firstOfTeam() : self.rank;
  own.peerEnd = team.stride == 1 ? own.firstPeer + team.ranks : self.rank + 1;
  own.host = thisHost();
  own.joined = trace::wallClock();
  if (Outcome outcome =
          cuda::outcomeOf(cuda, cuda.busId(own.busId, sizeof own.busId, self.device), "querying the GPU's bus id");
      !outcome.ok())
    return outcome;
  for (size_t p = 0; p < own.blockLimits.size(); ++p) {
    const core::Result<uint32_t> room = mostBlocks(interpretersOf(cuda), static_cast<kernel::Protocol>(p));
    if (!room.ok())
      return room.outcome();
    own.blockLimits[p] = *room;
  }
  return describeNetwork(own);
}

/// Sets the fields of `own` that need no data of other ranks. On an error, sets `own.canRunPrograms` to 0, from which
/// the other ranks learn that this rank can't run programs.
Outcome GpuRank::examine(RankInfo &own) {
  Outcome outcome = setup.problem;
  if (outcome.ok())
    outcome = check(setup.options);
  if (outcome.ok())
    outcome = describe(own);
  if (outcome.ok()) {
    core::Result<std::unique_ptr<ProgramTable>> made =
        ProgramTable::make(setup.files, static_cast<uint32_t>(self.ranks), setup.options);
    outcome = made.outcome();
    if (made.ok())
      table = std::move(*made);
  }
  own.bundles = ProgramTable::digest(setup.files);
  static const uint64_t process = newNonce();
  own.process = process;
  own.object = reinterpret_cast<uint64_t>(&child);
  own.canRunPrograms = outcome.ok();
  return outcome;
}

/// Returns true if the link between this rank and rank `there` does not tear LL128 lines. Identifies GPUs by bus id,
/// because processes can number devices differently.
bool GpuRank::isUntornLink(const RankInfo &here, const RankInfo &there) const {
  if (shareGpu(here, there)) // also true for this rank itself
    return true;
  int device = 0, whole = 0;
  return here.host != 0 && there.host == here.host && cuda.deviceOf(&device, there.busId) == 0 &&
         cuda.nativeAtomics(&whole, self.device, device) == 0 && whole != 0;
}

PeerSet GpuRank::findUntornPeers(std::span<const RankInfo> infos) const {
  const RankInfo &here = infos[rank()];
  PeerSet peers;
  for (int32_t peer = here.firstPeer; peer < here.peerEnd; ++peer)
    if (isUntornLink(here, infos[static_cast<size_t>(peer)]))
      peers.add(static_cast<uint32_t>(peer - here.firstPeer));
  return peers;
}

/// Gathers `untornPeers` of all ranks. Does nothing if no program is for LL128.
Outcome GpuRank::gatherUntornPeers(std::vector<RankInfo> &infos) {
  if (!table->needsUntornLines())
    return {};
  const core::Result<std::vector<PeerSet>> lines = gatherEach(findUntornPeers(infos));
  for (size_t r = 0; lines.ok() && r < infos.size(); ++r)
    infos[r].untornPeers = (*lines)[r];
  return lines.outcome();
}

/// Creates this rank's device communicator, and decides again which programs can run. Returns at once if no program
/// uses the network.
Outcome GpuRank::connectNetwork(std::vector<RankInfo> &infos) {
  if (table->signals() == 0)
    return {};
  Outcome created = child.complete(deviceComm.create(table->signals()), "creating a device communicator");
  if (created.ok())
    created = deviceComm.publish(runner.stream());
  if (!created.ok())
    core::logOnce("rank " + std::to_string(self.rank) + ": no way between nodes: " + created.text);
  const core::Result<std::vector<uint32_t>> contexts = gatherEach(created.ok() ? deviceComm.contexts() : 0u);
  if (!contexts.ok())
    return contexts.outcome();
  for (size_t r = 0; r < infos.size(); ++r)
    infos[r].contexts = (*contexts)[r];
  table->decide(infos);
  return {};
}

/// Connects the ranks' exchangers. Sets `problem` to the error of this rank, or of its exchanger. Returns an error only
/// if a gather fails.
Outcome GpuRank::connectExchanger(uint64_t host, std::unique_ptr<net::Exchanger> &exchanger, Outcome &problem) {
  constexpr std::chrono::seconds timeout{10};
  exchanger = std::make_unique<net::Exchanger>(
      net::Exchanger::Identity{rank(), static_cast<uint32_t>(self.ranks), host, setup.options.secret});
  net::Endpoint own;
  if (rank() == 0)
    problem = exchanger->listen(setup.options.interfaces).moveTo(own);
  const core::Result<std::vector<net::Endpoint>> endpoints = gatherEach(own);
  if (!endpoints.ok())
    return endpoints.outcome();
  const net::Endpoint &hub = endpoints->front();
  if (hub.port == 0)
    problem = problem.ok() ? Outcome{gc3SystemError, "rank 0 has no port"} : problem;
  else
    problem = exchanger->connect(hub, timeout, [this] { return child.interruption(); });
  return {};
}

/// Returns the number of machines. Ranks on unknown machines count as one.
static uint32_t countHosts(std::span<const RankInfo> infos) {
  std::set<uint64_t> hosts;
  for (const RankInfo &info : infos)
    hosts.insert(info.host);
  return static_cast<uint32_t>(hosts.size());
}

/// Loads what earlier jobs have learned. Beside NCCL, events measure what kernels measure otherwise, and these times do
/// not compare. So a job beside NCCL ignores files of jobs without NCCL, and the reverse. The ranks begin without it if
/// they have loaded different contents. Returns an error only if the gather fails.
Outcome GpuRank::loadEarlier(select::TuneFile &earlier) {
  const std::string machine = runner.limits().machine() + (setup.options.fallsBack ? ", beside NCCL" : "");
  const uint64_t bundles = ProgramTable::digest(setup.files);
  earlier = core::loadLearned(setup.options.tune.file, machine, bundles);
  const core::Result<std::vector<uint64_t>> digests = gatherEach(core::digestOf(earlier));
  if (!digests.ok())
    return digests.outcome();
  if (std::count(digests->begin(), digests->end(), digests->front()) != self.ranks)
    core::ignoreLearned(earlier);
  return {};
}

/// Begins online selection if all ranks can exchange times, else no rank chooses. Returns an error only if a gather
/// fails.
Outcome GpuRank::joinOnline(std::span<const RankInfo> infos) {
  const core::TuneOptions &tune = setup.options.tune;
  if (!tune.isOnline || table->choice().hasTuner())
    return {};
  runner.inFlight().setCommunicator(select::mix(select::mix(infos[0].process, infos[0].object), infos[0].joined));
  OnlineRank::Terms terms{tune, {static_cast<uint32_t>(self.ranks), countHosts(infos)}, rank(), {}};
  if (Outcome outcome = loadEarlier(terms.earlier); !outcome.ok())
    return outcome;
  std::unique_ptr<net::Exchanger> exchanger;
  Outcome problem;
  if (tune.explorable > 0)
    if (Outcome outcome = connectExchanger(infos[rank()].host, exchanger, problem); !outcome.ok())
      return outcome;
  auto made = std::make_shared<OnlineRank>(cuda, *table, std::move(terms), runner.inFlight(), std::move(exchanger));
  if (problem.ok())
    problem = made->start();
  const core::Result<std::vector<uint32_t>> begun = gatherEach(static_cast<uint32_t>(problem.ok()));
  if (!begun.ok())
    return begun.outcome();
  if (!problem.ok())
    core::logOnce("rank " + std::to_string(self.rank) + ": GC3_TUNE has no effect: " + problem.text);
  if (std::count(begun->begin(), begun->end(), 0U) == 0)
    onlineRank = std::move(made);
  return {};
}

/// Begins the rank's trace. Only logs an error: the rank then works without a trace.
void GpuRank::beginTrace(std::span<const RankInfo> infos) {
  constexpr uint64_t mostRecords = 1 << 18; // 8 MiB on the GPU
  const std::string &name = setup.options.traceName;
  trace::TraceFile *file =
      name.empty() ? nullptr
                   : trace::fileOfGpu(name, self.device, {rank(), static_cast<uint32_t>(self.ranks), infos[0].joined});
  if (!file)
    return;
  recorder.emplace(cuda, *file, core::RankRange{rank(), rank() + 1}, mostRecords);
  const Outcome outcome = recorder->readClock(runner.stream());
  if (outcome.ok())
    return recorder->reserveAll();
  core::log("rank " + std::to_string(self.rank) + " is not traced: " + outcome.text);
  recorder.reset();
}

void GpuRank::recordChildrenInProcess(std::span<const RankInfo> infos) {
  for (const RankInfo &each : infos)
    if (each.process == infos[rank()].process)
      childrenInProcess.push_back(each.object);
}

void GpuRank::finishJoin(std::span<const RankInfo> infos) {
  pool = std::make_unique<plan::ConnectionPool>(table->teams());
  core::logWiring(table->bundles(), static_cast<uint32_t>(self.ranks), table->wiring(), setup.options.choice.name);
  logRefused(*table, rank());
  beginTrace(infos);
}

GpuRank::JoinResult GpuRank::join(const Identity &identity) {
  self = identity;
  if (Outcome outcome = prepare(); !outcome.ok())
    return {outcome, {}};
  RankInfo own;
  const Outcome problem = examine(own);
  const auto refuse = [&](const std::string &reason) {
    return JoinResult{{}, problem.ok() ? Outcome{gc3InvalidUsage, reason} : problem};
  };
  const core::Result<std::vector<VersionHandshake>> versions = gatherEach(VersionHandshake{});
  if (!versions.ok())
    return {versions.outcome(), {}};
  if (const std::string reason = versionMismatch(*versions); !reason.empty())
    return refuse(reason);
  core::Result<std::vector<RankInfo>> infos = gatherEach(own);
  if (!infos.ok())
    return {infos.outcome(), {}};
  recordChildrenInProcess(*infos);
  if (const std::string reason = disagreement(*infos); !reason.empty())
    return refuse(reason);
  if (Outcome outcome = gatherUntornPeers(*infos); !outcome.ok())
    return {outcome, {}};
  table->decide(*infos);
  if (Outcome outcome = connectNetwork(*infos); !outcome.ok())
    return {outcome, {}};
  if (Outcome outcome = joinOnline(*infos); !outcome.ok())
    return {outcome, {}};
  if (setup.options.choice.tunerTimes) {
    measured.emplace(cuda, setup.options.choice, static_cast<uint32_t>(self.ranks), self.rank);
    if (Outcome outcome = measured->prepare(); !outcome.ok())
      return {outcome, {}};
  }
  finishJoin(*infos);
  return {};
}

} // namespace gc3::comm
