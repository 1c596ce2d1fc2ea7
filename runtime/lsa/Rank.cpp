// SPDX-License-Identifier: Apache-2.0
#include "lsa/Rank.h"

#include "core/Log.h"
#include "trace/RankFiles.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>

namespace gc3::lsa {

using core::Outcome;
using cuda::OnDevice;

static uint64_t newNonce() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

/// To be asked right before anything of NCCL is touched.
Outcome Rank::aborted() const {
  return *isAborted ? Outcome{gc3InvalidUsage, "the communicator was aborted"} : Outcome{};
}

/// Alike for all processes of a machine, containers or not; 0: not known.
static uint64_t thisHost() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  return file >> id ? bundle::checksum(id.data(), id.size()) : 0;
}

bool Rank::leavesAll() const {
  return *isAborted || hasGivenUp;
}

void Rank::drain() {
  if (leavesAll())
    return;
  const OnDevice device(cuda, onDevice);
  bool idle = false;
  while (!leavesAll() && runner.isIdle(idle).ok() && !idle) {
    runner.watch(cuda::Watchdog::Clock::now()); // nobody else may do so any more
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

Rank::~Rank() {
  drain();
  giveBack();
  if (leavesAll())
    abandon();
}

void Rank::giveBack() {
  revocation.end();
  if (leavesAll())
    return;
  const OnDevice device(cuda, onDevice);
  if (recorder)
    recorder->collect();
  if (!leavesAll())
    ownNetwork = Network();
  for (Window &window : windows) // while its device is the current one
    if (!leavesAll())
      window = Window();
  if (leavesAll())
    return;
  std::unique_lock lock(splitting);
  const TeamComm last = std::move(teamComm);
  lock.unlock();
}

/// Giving memory back waits for the GPU, and kernels of NCCL's may hang there until it is aborted, too.
void Rank::abandon() {
  for (Window &window : windows)
    window.abandon();
  ownNetwork.abandon();
  teamComm.abandon();
  runner.abandon();
  exchange.abandon();
  if (exchange.state() != Exchange::State::Idle) // and NCCL may yet use its stream
    runner.abandonStream();
  if (recorder)
    recorder->abandon();
}

Outcome Rank::ask() {
  if (Outcome outcome = outcomeOf(nccl.CommCount(comm, &count), "asking for the ranks"); !outcome.ok())
    return outcome;
  if (Outcome outcome = outcomeOf(nccl.CommUserRank(comm, &own), "asking for the rank"); !outcome.ok())
    return outcome;
  if (Outcome outcome = outcomeOf(nccl.CommCuDevice(comm, &onDevice), "asking for the device"); !outcome.ok())
    return outcome;
  team = nccl.TeamLsa(comm);
  return {};
}

Outcome Rank::prepare() {
  if (Outcome outcome = ask(); !outcome.ok())
    return outcome;
  const OnDevice device(cuda, onDevice);
  Outcome outcome = device.outcome();
  if (outcome.ok())
    outcome = runner.prepare();
  if (outcome.ok())
    outcome = exchange.prepare(rank(), ranks());
  return outcome;
}

/// Thread blocks of the kernel that needs most of a multiprocessor.
Outcome Rank::room(const cuda::Interpreters &interpreters, kernel::Protocol protocol, uint32_t &blocks) const {
  blocks = UINT32_MAX;
  for (unsigned type = 0; type < core::elementTypeCount; ++type) {
    uint64_t fit = 0;
    const void *kernel = interpreters.kernel(static_cast<core::ElementType>(type), protocol);
    const uint32_t chosen = options.tuned(protocol).threads, threads = chosen != 0 ? chosen : cuda::fewestThreads;
    if (Outcome outcome = blocksThatFit(cuda, interpreters, runner.room(), kernel, threads, fit); !outcome.ok())
      return outcome;
    blocks = static_cast<uint32_t>(std::min<uint64_t>(blocks, fit));
  }
  return {};
}

/// Nothing of the part is called where it is not for this NCCL.
Outcome Rank::describeNetwork(Record &record) {
  record.nccl = nccl.version;
  if (findPart && record.peerEnd - record.firstPeer != count)
    part = findPart();
  record.gin = part ? part->nccl : 0;
  if (record.gin != record.nccl)
    return {};
  ownNetwork = Network(cuda, nccl, *part, comm);
  if (Outcome outcome = ownNetwork.reserve(); !outcome.ok())
    return outcome;
  return room(part->interpreters, kernel::Protocol::Simple, record.networkRoom);
}

/// Of `count` ranks, with rank `own` in it: it becomes indices.
static bool isSound(const ncclapi::Team &team, int64_t own, int64_t count) {
  const int64_t first = own - int64_t{team.rank} * team.stride;
  return team.rank >= 0 && team.rank < team.ranks && team.stride > 0 && first >= 0 &&
         first + (int64_t{team.ranks} - 1) * team.stride < count;
}

Outcome Rank::describe(Record &record) {
  if (!isSound(team, own, count))
    return {gc3SystemError, "NCCL's LSA team is no part of its communicator"};
  const OnDevice device(cuda, onDevice);
  record.set(options);
  record.architecture = runner.room().architecture;
  record.firstPeer = firstOfTeam();
  record.peerEnd = team.stride == 1 ? record.firstPeer + team.ranks : own + 1;
  if (team.stride != 1)
    record.firstPeer = own;
  record.host = thisHost();
  record.joined = trace::wallClock();
  record.nonce = newNonce();
  if (!device.outcome().ok())
    return device.outcome();
  if (Outcome outcome = cuda::outcomeOf(cuda, cuda.busId(record.busId, sizeof record.busId, onDevice),
                                        "asking for the GPU's place on the bus");
      !outcome.ok())
    return outcome;
  for (size_t p = 0; p < record.room.size(); ++p)
    if (Outcome outcome = room(interpretersOf(cuda), static_cast<kernel::Protocol>(p), record.room[p]); !outcome.ok())
      return outcome;
  return describeNetwork(record);
}

/// Ranks in other processes number devices in their own ways, so GPUs go by their place on the bus.
bool Rank::keepsLinesWhole(const Record &here, const Record &there) const {
  if (shareGpu(here, there)) // or itself
    return true;
  int device = 0, whole = 0;
  return here.host != 0 && there.host == here.host && cuda.deviceOf(&device, there.busId) == 0 &&
         cuda.nativeAtomics(&whole, onDevice, device) == 0 && whole != 0;
}

PeerSet Rank::wholeLines(std::span<const Record> records) const {
  const Record &here = records[rank()];
  PeerSet peers;
  for (int32_t peer = here.firstPeer; peer < here.peerEnd; ++peer)
    if (keepsLinesWhole(here, records[static_cast<size_t>(peer)]))
      peers.add(static_cast<uint32_t>(peer - here.firstPeer));
  return peers;
}

uint32_t Rank::completeNetwork(const Outcome &created) {
  const OnDevice device(cuda, onDevice);
  const Outcome outcome = ownNetwork.complete(created, device.outcome(), runner.stream());
  if (outcome.ok())
    return ownNetwork.contexts();
  core::tellOnce("rank " + std::to_string(own) + ": no way between nodes: " + outcome.text);
  return 0;
}

/// Before anybody calls for them.
static void tellOfRefused(const Catalog &catalog, uint32_t rank) {
  for (uint32_t program = 0; core::informs() && program < catalog.size(); ++program)
    if (const std::string &why = catalog.entry(program).refused; !why.empty())
      core::tellOnce("rank " + std::to_string(rank) + ": refused: " + why);
}

void Rank::join(std::unique_ptr<Catalog> ofPrograms, std::span<const Record> records) {
  catalog = std::move(ofPrograms);
  ofAll = records[0].nonce;
  exchange.nameCommunicator(ofAll);
  pool = std::make_unique<plan::ConnectionPool>(catalog->teams());
  onGpu.resize(catalog->size());
  refusals.resize(catalog->size());
  tellOfRefused(*catalog, rank());
  if (!options.traceName.empty())
    beginTrace(records);
}

/// A rank without a trace works as well.
void Rank::beginTrace(std::span<const Record> records) {
  constexpr uint64_t mostRecords = 1 << 18; // 8 MiB on the GPU, from now on
  trace::TraceFile *file = trace::fileOfGpu(options.traceName, onDevice, {rank(), ranks(), records[0].joined});
  if (!file)
    return;
  const OnDevice device(cuda, onDevice);
  recorder.emplace(cuda, *file, core::RankRange{rank(), rank() + 1}, mostRecords);
  Outcome outcome = device.outcome();
  if (outcome.ok())
    outcome = recorder->readClock(runner.stream());
  if (outcome.ok())
    return recorder->reserveAll();
  core::tell("rank " + std::to_string(own) + " is not traced: " + outcome.text);
  recorder.reset();
}

/// Behind our own kernels: on one GPU they might hold the multiprocessors that NCCL's gather waits for, and on another
/// one have no room beside it.
Outcome Rank::beginGather(const void *bytes, size_t size) {
  const OnDevice device(cuda, onDevice);
  Outcome outcome = device.outcome();
  if (outcome.ok())
    outcome = runner.awaitLastCall(runner.stream());
  return outcome.ok() ? exchange.begin(bytes, size, runner.stream()) : outcome;
}

Outcome Rank::gather() {
  const Outcome outcome = aborted();
  return outcome.ok() ? exchange.gather(runner.stream()) : outcome;
}

Outcome Rank::endGather(void *all, Clock::time_point since) {
  const OnDevice device(cuda, onDevice);
  Outcome outcome = device.outcome();
  if (outcome.ok())
    outcome = wait(since);
  if (outcome.ok())
    outcome = exchange.hear(all, runner.stream());
  return outcome;
}

/// For a program not longer than for a kernel. All ranks join right behind the birth of the communicator, so one that
/// waits for long has peers that never will: without gc3, or without bundles.
uint32_t Rank::patienceMs() const {
  return catalog ? options.timeoutMs : std::max(options.timeoutMs, options.joiningMs);
}

Outcome Rank::late() const {
  return {gc3Timeout, "after " + std::to_string(patienceMs()) + " ms not all ranks have " +
                          (catalog ? "loaded the program" : "joined; is gc3, with the same bundles, on all of them?")};
}

/// For the other ranks, and not after abort().
Outcome Rank::wait(Clock::time_point since) {
  if (Outcome outcome = exchange.awaitOn(runner.stream()); !outcome.ok())
    return outcome;
  const uint32_t limit = patienceMs();
  for (;;) {
    bool ended = false;
    Outcome outcome = exchange.hasEnded(ended);
    if ((ended || !outcome.ok()) && revocation.hasBegun())
      return broken(); // what has ended has brought nothing
    if (ended || !outcome.ok())
      return outcome;
    if (outcome = aborted(); !outcome.ok())
      return outcome;
    if (limit != 0 && Clock::now() - since > std::chrono::milliseconds(limit))
      return late();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

Outcome Rank::plan(uint32_t program, const core::Request &request, uint64_t capture, cuda::Runner::Plan &plan) {
  std::lock_guard lock(mutex);
  const OnDevice device(cuda, onDevice);
  Outcome outcome = device.outcome();
  if (outcome.ok())
    outcome = runner.plan(*onGpu[program], {&request, 1}, capture, plan);
  if (outcome.ok() && capture != 0 && recorder && request.count != 0)
    recorder->planCapture(plan);
  return outcome;
}

Outcome Rank::enqueue(cuda::Runner::Plan &plan, cuda::Stream stream) {
  std::lock_guard lock(mutex);
  Outcome outcome = runner.broken();
  if (!outcome.ok())
    return outcome;
  const OnDevice device(cuda, onDevice);
  outcome = device.outcome();
  if (outcome.ok())
    outcome = recorder ? recorder->enqueue(runner, plan, stream) : runner.enqueue(plan, stream);
  if (!outcome.ok())
    runner.breakDown(outcome);
  return outcome;
}

Outcome Rank::broken() const {
  return runner.broken();
}

Outcome Rank::watch(cuda::Watchdog::Clock::time_point now) {
  glance(now); // before CUDA is asked anything
  return runner.watch(now);
}

Outcome Rank::glance(cuda::Watchdog::Clock::time_point now) {
  Outcome outcome = runner.glance(now);
  if (outcome.code == gc3Timeout)
    revocation.begin();
  return outcome;
}

void Rank::patrol() {
  glance(cuda::Watchdog::Clock::now());
  runner.patrol();
}

void Rank::breakDown(const Outcome &why) {
  runner.breakDown(why);
}

void Rank::giveUp(const Outcome &why) {
  breakDown(why);
  if (exchange.state() == Exchange::State::Idle)
    return;
  hasGivenUp = true;
  if (exchange.state() == Exchange::State::Noted) // the others are told, if that could be
    return;
  runner.stop(); // or NCCL would wait for ours
  if (!*isAborted)
    revocation.begin();
}

void Rank::fail(const Outcome &why) {
  if (why.code != gc3InvalidArgument && why.code != gc3InvalidUsage)
    breakDown(why);
}

void Rank::abort() {
  *isAborted = true;
  runner.stop();
  breakDown(aborted());
  revocation.end();
  std::lock_guard lock(splitting);
  teamComm.abort(aside); // whoever aborts the communicator does not know of it
}

} // namespace gc3::lsa
