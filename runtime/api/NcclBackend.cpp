// SPDX-License-Identifier: Apache-2.0
#include "api/NcclBackend.h"

#include "comm/Registry.h"
#include "ncclapi/Installed.h"

#include <map>

namespace gc3::api {

using core::Outcome;
using core::Request;
using core::Result;

Result<std::shared_ptr<comm::Communicator>> NcclBackend::create(ncclapi::Comm ncclComm,
                                                                std::shared_ptr<const bundle::BundleFile> file,
                                                                const cuda::Options &options) {
  const cuda::Cuda *cuda = cuda::linkedCuda();
  if (!cuda)
    return Outcome{gc3InvalidUsage, "this gc3 was built without CUDA"};
  static ncclapi::Nccl nccl;
  static const Outcome found = ncclapi::Nccl::find(ncclapi::findInstalled, nccl);
  if (!found.ok())
    return found;
  // All ranks call gc3CommInit together, so a rank that has not called it within this limit counts as missing.
  const comm::WaitLimits limits{0, std::max(options.timeoutMs, options.joiningMs)};
  const Outcome none;
  auto setup = std::make_shared<comm::Setup>(comm::Setup{{*cuda, nccl, gin::find}, {std::move(file)}, none, options});
  auto communicator = std::make_shared<comm::Communicator>(std::move(setup), ncclComm, limits);
  comm::Registry::ofProcess().add(communicator);
  return communicator;
}

/// Waits until the rank has joined. Returns why it cannot run programs, or Success if it can.
static Outcome joinError(comm::Communicator &communicator) {
  const Outcome joined = communicator.awaitJoin();
  return joined.ok() ? communicator.refusal() : joined;
}

/// Sets `first` to `outcome` if `first` is Success. A rank can get gc3InvalidUsage because of an error on another rank.
/// So this function also replaces gc3InvalidUsage by another error, which is more specific.
static void note(Outcome &first, const Outcome &outcome) {
  if (first.ok() || (first.code == gc3InvalidUsage && !outcome.ok() && outcome.code != gc3InvalidUsage))
    first = outcome;
}

/// Makes ranks join concurrently. No two of them may have the same `ncclComm`.
static Outcome joinRound(std::span<const NcclBackend::Init *const> inits) {
  for (const NcclBackend::Init *init : inits)
    init->communicator->beginJoin();
  Outcome first;
  for (const NcclBackend::Init *init : inits) {
    const Outcome outcome = joinError(*init->communicator);
    auto backend = std::make_shared<NcclBackend>(init->communicator);
    if (outcome.ok()) {
      *init->handle = new gc3Comm{backend, static_cast<uint32_t>(init->communicator->rank()), {}};
      continue;
    }
    backend->leave(false);
    note(first, outcome);
  }
  return first;
}

/// NCCL can split a communicator for only one thread at a time. So inits of the same `ncclComm` join one after the
/// other: the n-th inits of all NCCL communicators form one round.
Outcome NcclBackend::join(std::span<const Init> inits) {
  std::map<ncclapi::Comm, size_t> made;
  std::vector<std::vector<const Init *>> rounds;
  for (const Init &init : inits) {
    const size_t round = made[init.ncclComm]++;
    rounds.resize(std::max(rounds.size(), round + 1));
    rounds[round].push_back(&init);
  }
  Outcome first;
  for (const std::vector<const Init *> &round : rounds)
    note(first, joinRound(round));
  return first;
}

Result<std::optional<comm::CallGroup::Call>> NcclBackend::callOf(const Request &request) const {
  if (Outcome outcome = core::checkRequest(request, static_cast<uint32_t>(communicator->rank()), ranks());
      !outcome.ok())
    return outcome;
  if (core::isEmpty(request))
    return std::optional<comm::CallGroup::Call>();
  if (Outcome error = communicator->status().error; !error.ok())
    return error;
  const Result<uint32_t> program = communicator->programs()->choose(request);
  if (!program.ok())
    return program.outcome();
  const std::shared_ptr<comm::OnlineRank> online = communicator->online();
  return std::optional(comm::CallGroup::Call{communicator, request, comm::CallGroup::Call::State::Program, *program,
                                             online ? online->find(request) : comm::OnlineRank::Kind{}});
}

Outcome NcclBackend::complete(const Arrival &arrival) {
  Result<std::optional<comm::CallGroup::Call>> call = callOf(arrival.parts[0].request);
  if (!call.ok() || !*call)
    return call.outcome();
  comm::CallGroup::run({&**call, 1});
  return (*call)->outcome;
}

Result<const char *> NcclBackend::select(const Request &request) {
  if (Outcome error = communicator->status().error; !error.ok())
    return error;
  Result<uint32_t> program = communicator->programs()->choose(request);
  if (const std::shared_ptr<comm::OnlineRank> online = communicator->online())
    if (const comm::OnlineRank::Kind kind = online->find(request); kind.family)
      program = online->favourite(kind).program;
  if (!program.ok())
    return program.outcome();
  Outcome refusal;
  communicator->loaded(*program, refusal);
  if (!refusal.ok())
    return refusal;
  return communicator->programs()->entry(*program).loaded->program->info().name()->c_str();
}

void NcclBackend::leave(bool aborts) {
  if (aborts)
    communicator->abort();
  else
    communicator->finalize(true);
  communicator->releaseUnlessPending();
  comm::Registry::ofProcess().sweep();
}

} // namespace gc3::api
