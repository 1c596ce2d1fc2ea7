// SPDX-License-Identifier: Apache-2.0
// Programs share connections and the FIFO slots of these connections. So all programs of one protocol have the same
// slot size. It is so small that all of them can be loaded at once.
#include "comm/ProgramTable.h"

#include "core/Proofs.h"
#include "cuda/GpuProgram.h"
#include "gin/Plugin.h"

#include <algorithm>

namespace gc3::comm {

using core::ElementType;
using core::Outcome;
using core::Request;
using kernel::Protocol;

core::Result<std::unique_ptr<ProgramTable>> ProgramTable::make(Files files, uint32_t ranks,
                                                               const cuda::Options &options) {
  std::unique_ptr<ProgramTable> made(new ProgramTable(std::move(files), ranks));
  if (Outcome outcome = made->load(options); !outcome.ok())
    return outcome;
  return made;
}

uint64_t ProgramTable::digest(const Files &files) {
  if (files.size() == 1)
    return files[0]->digest();
  std::vector<uint64_t> digests;
  for (const auto &file : files)
    digests.push_back(file->digest());
  return bundle::checksum(digests.data(), digests.size() * sizeof digests[0]);
}

Outcome ProgramTable::load(const cuda::Options &chosen) {
  options = chosen;
  for (const auto &file : files)
    views.push_back(file.get());
  if (Outcome outcome = core::checkForms(ranks, views); !outcome.ok())
    return outcome;
  if (Outcome outcome = core::checkNodes(options.choice.nodes, ranks); !outcome.ok())
    return outcome;
  if (Outcome outcome = core::Choice::make(options.choice, views).moveTo(userChoice); !outcome.ok())
    return outcome;
  for (const auto &file : files) {
    if (!options.allowUnproven)
      if (Outcome outcome = core::checkProofs(*file, ranks); !outcome.ok())
        return outcome;
    selections.push_back(std::make_unique<core::Selection>(*file, ranks, options.allowUnproven, userChoice));
    for (uint32_t i = 0; i < file->programCount(); ++i) {
      if (file->program(i).ranks() != ranks)
        continue;
      Entry entry;
      if (Outcome outcome = selections.back()->load(i).moveTo(entry.loaded); !outcome.ok())
        return outcome;
      numbers[entry.loaded] = static_cast<uint32_t>(entries.size());
      entries.push_back(std::move(entry));
    }
  }
  return {};
}

bool ProgramTable::needsUntornLines() const {
  return std::any_of(entries.begin(), entries.end(), [](const Entry &entry) {
    return static_cast<Protocol>(entry.loaded->program->info().protocol()) == Protocol::LL128;
  });
}

void ProgramTable::decide(std::span<const RankInfo> infos) {
  architecture = oldestArchitecture(infos);
  wiringOfRanks = wiringOf(infos, options.choice.nodes);
  if (options.allowUnproven)
    wiringOfRanks = withoutPlaces(std::move(wiringOfRanks));
  for (const auto &selection : selections)
    selection->setWiring(wiringOfRanks);
  teamOfRanks.clear();
  contextCount = RankInfo::unknown;
  hasChosenThreads = {};
  for (const RankInfo &info : infos) {
    teamOfRanks.push_back(static_cast<uint32_t>(info.firstPeer));
    contextCount = std::min(contextCount, info.contexts);
    for (size_t p = 0; p < hasChosenThreads.size(); ++p)
      hasChosenThreads[p] |= info.hasChosenThreads[p] != 0;
  }
  decideProtocols(infos);
  for (Protocol protocol : {Protocol::Simple, Protocol::LL, Protocol::LL128})
    decideSlots(protocol);
  countSignals();
}

/// Decides each program's protocol, and whether it can run. Adds programs to the occupancy budget in the order of the
/// bundles, so earlier programs take precedence.
void ProgramTable::decideProtocols(std::span<const RankInfo> infos) {
  OccupancyBudget budget(infos);
  for (Entry &entry : entries) {
    const core::Program &program = *entry.loaded->program;
    entry.sizes.protocol = protocolOf(program, infos);
    entry.overNetwork = !unreachablePair(program, infos).empty();
    entry.refusal = unsupportedReason(program, infos);
    if (!entry.refusal.empty())
      continue;
    if (const std::string reason = budget.add(program, entry.sizes.protocol, entry.overNetwork); !reason.empty())
      entry.refusal = "program '" + entry.name() + "': " + reason;
  }
  otherBlocks.clear();
  for (uint32_t r = 0; r < infos.size(); ++r)
    otherBlocks.push_back(budget.blocksOfOthers(r));
}

/// Chooses the slot sizes for those programs of one protocol that can run, so that all of them can be loaded at once.
void ProgramTable::decideSlots(Protocol protocol) {
  cuda::SlotNeeds needs;
  plan::ConnectionPool pool(teamOfRanks);
  std::vector<Entry *> sharing;
  for (Entry &entry : entries)
    if (entry.refusal.empty() && entry.sizes.protocol == protocol) {
      sharing.push_back(&entry);
      needs.add(*entry.loaded->program);
      pool.add(*entry.loaded->program, {protocol, 1, 0});
    }
  needs.connections = pool.mostWithSlots();
  const plan::SlotSizes sizes = cuda::chooseSlots(protocol, needs, options);
  for (Entry *entry : sharing) {
    entry->sizes = sizes;
    if (!cuda::isPossible(sizes, needs.connections))
      entry->refusal = "program '" + entry->name() + "': FIFO slots would take more than 1 TiB";
  }
}

/// Counts the network signals of the programs, in the order of the bundles. Refuses a program if too few signals are
/// left for it.
void ProgramTable::countSignals() {
  plan::ConnectionPool all(teamOfRanks);
  for (Entry &entry : entries) {
    if (!entry.overNetwork || !entry.refusal.empty())
      continue;
    plan::ConnectionPool more = all;
    more.add(*entry.loaded->program, entry.sizes);
    if (more.mostSignals() > gin::mostSignals)
      entry.refusal = "program '" + entry.name() + "': with the programs before it, its connections over the network " +
                      "take " + std::to_string(more.mostSignals()) + " signals on a rank; NCCL's GIN has " +
                      std::to_string(gin::mostSignals) + ": compile it with fewer channels or FIFO slots";
    else
      all = std::move(more);
  }
  signalCount = all.mostSignals();
}

/// Returns the program of the first bundle that has a program for the call.
core::Result<uint32_t> ProgramTable::selectFirst(const Request &request, bool bySize) {
  Outcome first{gc3NoProgram, "there are no bundles"};
  for (size_t i = 0; i < selections.size(); ++i) {
    const core::Result<const core::LoadedProgram *> chosen = selections[i]->select(request, bySize);
    if (chosen.ok())
      return numbers.at(*chosen);
    const Outcome outcome = chosen.outcome();
    if (outcome.code != gc3NoProgram)
      return outcome;
    if (i == 0)
      first = outcome;
  }
  return first;
}

/// Checks that a collective that is not standard has one meaning in all bundles. Checks each name only once.
Outcome ProgramTable::checkMeaning(const Request &request) {
  if (selections.size() <= 1 || request.kind != core::CallKind::Collective || clearNames.contains(request.name))
    return {};
  const auto wanted = common::CollectiveForm::parse(request.name);
  if (!wanted)
    return {}; // the selection reports it
  Outcome outcome = core::checkMeaning(*wanted, ranks, views);
  if (outcome.ok())
    clearNames.emplace(request.name);
  return outcome;
}

/// GC3_PROGRAM can list a program for sizes other than the call's. So this function first searches all bundles for a
/// listed program for the call's size.
core::Result<uint32_t> ProgramTable::select(const Request &request) {
  std::lock_guard lock(selecting);
  if (Outcome outcome = checkMeaning(request); !outcome.ok())
    return outcome;
  if (selections.size() > 1 && !userChoice.hasTuner())
    if (core::Result<uint32_t> bySize = selectFirst(request, true); bySize.outcome().code != gc3NoProgram)
      return bySize;
  return selectFirst(request, false);
}

/// Checks what does not depend on the call's size.
Outcome ProgramTable::checkKind(const Entry &entry, const Request &request) const {
  const core::Program &program = *entry.loaded->program;
  if (!entry.refusal.empty())
    return {gc3InvalidUsage, entry.refusal};
  if (request.op == gc3Avg && program.info().contributions() == 0)
    return {gc3InvalidArgument, "avg is not defined for program '" + entry.name() +
                                    "': its outputs have different numbers of contributions"};
  return cuda::checkType(program, static_cast<ElementType>(request.type), architecture);
}

Outcome ProgramTable::checkCall(const Entry &entry, const Request &request) const {
  if (Outcome outcome = checkKind(entry, request); !outcome.ok())
    return outcome;
  kernel::KernelArgs geometry;
  std::string problem = plan::setGeometry(
      *entry.loaded->program, request.count,
      static_cast<uint32_t>(core::elementSize(static_cast<ElementType>(request.type))), entry.sizes, geometry);
  return problem.empty() ? Outcome{} : Outcome{gc3InvalidArgument, problem};
}

/// A list in GC3_PROGRAM limits the programs, and so excludes NCCL.
bool ProgramTable::mayUseNccl(const Request &request) const {
  const common::StandardCollective *standard = common::findStandard(request.name);
  return options.fallsBack && request.kind == core::CallKind::Standard && !userChoice.hasTuner() &&
         !(standard && userChoice.isListed(*standard));
}

core::Result<core::CallArms> ProgramTable::arms(const Request &request) {
  core::CallArms all;
  std::optional<uint32_t> fixed = mayUseNccl(request) ? std::optional(ncclArm) : std::nullopt;
  {
    std::lock_guard lock(selecting);
    if (Outcome outcome = checkMeaning(request); !outcome.ok())
      return outcome;
    for (const auto &selection : selections) {
      const core::Result<core::CallArms> own = selection->arms(request);
      if (!own.ok())
        return own.outcome();
      for (const uint32_t index : own->programs)
        if (const uint32_t number = numbers.at(*selection->load(index)); checkKind(entries[number], request).ok())
          all.programs.push_back(number);
      all.bytes = std::max(all.bytes, own->bytes);
    }
  }
  if (!all.programs.empty() && mayUseNccl(request))
    all.programs.push_back(ncclArm);
  if (const core::Result<uint32_t> chosen = select(request); chosen.ok())
    fixed = *chosen;
  const auto place = std::find(all.programs.begin(), all.programs.end(), fixed.value_or(0));
  if (fixed && place != all.programs.end())
    all.fixed = static_cast<uint32_t>(place - all.programs.begin());
  return all;
}

core::ShapeRule ProgramTable::shapes() const {
  const auto differ = [this](const core::Arm &arm, uint32_t elementBytes, uint64_t bytes) {
    const Entry &entry = entries[arm.program];
    return cuda::shapeDiffers(*entry.loaded->program, entry.sizes,
                              hasChosenThreads[static_cast<size_t>(entry.sizes.protocol)], arm.shape, elementBytes,
                              bytes);
  };
  return {cuda::gpuShapes(), differ};
}

core::Result<uint32_t> ProgramTable::choose(const Request &request) {
  core::Result<uint32_t> number = select(request);
  if (number.ok())
    if (Outcome outcome = checkCall(entries[*number], request); !outcome.ok())
      return outcome;
  return number;
}

} // namespace gc3::comm
