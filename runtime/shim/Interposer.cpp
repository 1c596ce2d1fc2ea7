// SPDX-License-Identifier: Apache-2.0
#include "shim/Interposer.h"

#include "core/Log.h"
#include "core/Settings.h"
#include "ncclapi/Installed.h"
#include "shim/Bundles.h"
#include "shim/Names.h"

namespace gc3::shim {

using core::Outcome;

namespace {

/// Returns the CUDA, NCCL and GIN functions of this process, or why the process can't run programs. In the second case,
/// the process does not join, and other ranks would wait for it. So all ranks must have the same NCCL and the same
/// build of gc3.
core::Result<comm::Drivers> findDrivers() {
  static ncclapi::Nccl nccl;
  const cuda::Cuda *cuda = cuda::linkedCuda();
  if (!cuda)
    return Outcome{gc3InvalidUsage, "this build of gc3 has no GPU support"};
  if (Outcome outcome = ncclapi::Nccl::find(findInstalled, nccl); !outcome.ok())
    return outcome;
  int device = 0;
  if (Outcome outcome = cuda::outcomeOf(*cuda, cuda->getDevice(&device), "querying the current device"); !outcome.ok())
    return outcome;
  return comm::Drivers{*cuda, nccl, gin::find};
}

std::string logHead(const Communicator &communicator, const CollectiveCall &call) {
  return "rank " + std::to_string(communicator.rank()) + ": " + describe(call, communicator.ranks());
}

} // namespace

core::Request requestOf(const CollectiveCall &call) {
  return {core::CallKind::Standard,
          standardName(call.collective),
          call.send,
          call.recv,
          call.count,
          static_cast<gc3DataType_t>(call.type),
          call.preMulSum ? gc3Sum : static_cast<gc3RedOp_t>(call.op),
          call.root,
          call.stream,
          call.preMulSum};
}

Interposer &Interposer::ofProcess() {
  static auto &interposer = *new Interposer;
  return interposer;
}

Interposer::Interposer() {
  const core::Settings &settings = core::settingsAfterNccl(); // NCCL has read nccl.conf, since a communicator exists
  const std::string &names = settings.text(core::Setting::Bundles);
  if (names.empty()) {
    if (core::isInfoEnabled())
      core::log("GC3_BUNDLES is not set: NCCL serves all calls");
    return;
  }
  const core::Result<comm::Drivers> drivers = findDrivers();
  if (!drivers.ok()) {
    core::logOnce("NCCL serves all calls: " + drivers.outcome().text);
    return;
  }
  comm::ProgramTable::Files files;
  for (auto &file : openBundles(names.c_str()))
    files.push_back(std::move(file));
  cuda::Options options = cuda::environmentOptions(settings);
  options.traceName = settings.text(core::Setting::Trace);
  options.fallsBack = true;
  Outcome problem;
  if (files.empty()) // join nevertheless, since other ranks may have usable bundles
    problem = {gc3InvalidUsage, "GC3_BUNDLES names no bundle that can be used"};
  setup = std::make_shared<comm::Setup>(comm::Setup{*drivers, std::move(files), problem, options});
}

std::shared_ptr<Communicator> Interposer::find(Comm comm) const {
  return isActive() && comm ? comm::Registry::ofProcess().find(comm) : nullptr;
}

/// With NCCL, a rank may make its first call much later than other ranks. So gc3 only logs a long wait, unless the user
/// sets a timeout.
std::shared_ptr<Communicator> Interposer::findOrAdd(Comm comm) {
  if (!isActive() || !comm)
    return nullptr;
  return comm::Registry::ofProcess().findOrAdd(comm, [&] {
    const auto own = std::make_shared<comm::Setup>(*setup);
    own->options.choice.name = CommunicatorNames::ofProcess().find(comm);
    const comm::WaitLimits limits{own->options.joiningMs, own->options.timeoutMs};
    return std::make_shared<Communicator>(own, comm, limits);
  });
}

/// Returns the program's name for the log, and whether GC3_PROGRAM chose the program.
static std::string nameOf(const comm::ProgramTable &programs, uint32_t program) {
  const auto &info = programs.entry(program).loaded->program->info();
  const bool isListed = programs.choice().isListed(info);
  return info.name()->str() + (isListed ? ", chosen by GC3_PROGRAM" : "");
}

/// Returns why NCCL runs all calls on a communicator; empty if programs can run some of them.
static std::string fallbackReason(const Communicator &communicator) {
  switch (communicator.status().phase) {
  case comm::Phase::Unready:
    return "captured before another call has been made"; // gc3 can create no resources during a capture
  case comm::Phase::Ready: return communicator.refusal().text;
  default: return "the communicator was finalized";
  }
}

/// Returns why no program can run a call, whatever its size; empty if one can.
static std::string whyNcclOnly(const Communicator &communicator, const CollectiveCall &call) {
  const std::string reason = fallbackReason(communicator);
  return reason.empty() ? std::string(unsupportedReason(call, communicator.ranks())) : reason;
}

/// Returns the program that runs a call without online selection.
static core::Result<uint32_t> chooseProgram(const Communicator &communicator, const CollectiveCall &call) {
  const std::shared_ptr<comm::ProgramTable> programs = communicator.programs();
  const core::Request request = requestOf(call);
  core::Result<uint32_t> program = programs->choose(request);
  if (program.outcome().code == gc3NoProgram)
    return Outcome{gc3NoProgram, programs->choice().isListed(*common::findStandard(request.name))
                                     ? "GC3_PROGRAM has no program for it"
                                     : "no program for it"};
  Outcome refusal;
  if (program.ok())
    communicator.loaded(*program, refusal);
  if (!refusal.ok())
    return refusal;
  return program;
}

comm::CallChoice Interposer::choose(Communicator &communicator, const CollectiveCall &call) {
  const auto log = [&](const std::string &choice) {
    if (core::isInfoEnabled() && communicator.ranks() > 0)
      core::log(logHead(communicator, call) + ": " + choice);
  };
  if (const std::string reason = whyNcclOnly(communicator, call); !reason.empty())
    return log("NCCL: " + reason), comm::CallChoice{};
  const core::Result<uint32_t> program = chooseProgram(communicator, call);
  comm::CallChoice choice{program.ok() ? std::optional(*program) : std::nullopt};
  if (const std::shared_ptr<comm::OnlineRank> online = communicator.online())
    choice.kind = online->find(requestOf(call));
  if (choice.kind.family)
    log("GC3_TUNE chooses");
  else
    log(program.ok() ? nameOf(*communicator.programs(), *program) : "NCCL: " + program.outcome().text);
  return choice;
}

void Interposer::recordOperation(Comm comm, RedOp op, std::optional<core::PreMulSum> created) {
  if (!isActive())
    return;
  std::lock_guard lock(mutex);
  if (created)
    operations[comm].insert_or_assign(op, *created);
  else if (auto known = operations.find(comm); known != operations.end())
    known->second.erase(op);
}

std::optional<core::PreMulSum> Interposer::operation(Comm comm, RedOp op) const {
  std::lock_guard lock(mutex);
  const auto known = operations.find(comm);
  if (known == operations.end())
    return std::nullopt;
  const auto found = known->second.find(op);
  return found == known->second.end() ? std::nullopt : std::optional(found->second);
}

void Interposer::removeOperations(Comm comm) {
  std::lock_guard lock(mutex);
  operations.erase(comm);
}

} // namespace gc3::shim
