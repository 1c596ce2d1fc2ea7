// SPDX-License-Identifier: Apache-2.0
// Slots are as large as they can be if one day all programs have been loaded: a connection keeps its slots, whichever
// program comes next.
#include "lsa/Catalog.h"

#include "core/Proofs.h"
#include "cuda/GpuProgram.h"
#include "gin/Part.h"

#include <algorithm>

namespace gc3::lsa {

using core::ElementType;
using core::Outcome;
using core::Request;
using kernel::Protocol;

Outcome Catalog::make(Files files, uint32_t ranks, const cuda::Options &options, std::unique_ptr<Catalog> &catalog) {
  std::unique_ptr<Catalog> made(new Catalog(std::move(files), ranks));
  Outcome outcome = made->load(options);
  if (outcome.ok())
    catalog = std::move(made);
  return outcome;
}

uint64_t Catalog::digest(const Files &files) {
  std::vector<uint64_t> digests;
  for (const auto &file : files)
    digests.push_back(file->digest());
  return bundle::checksum(digests.data(), digests.size() * sizeof digests[0]);
}

Outcome Catalog::load(const cuda::Options &chosen) {
  options = chosen;
  std::vector<const bundle::BundleFile *> all;
  for (const auto &file : files)
    all.push_back(file.get());
  if (Outcome outcome = core::Choice::make(options.choice, all, users); !outcome.ok())
    return outcome;
  for (const auto &file : files) {
    if (!options.allowUnproven)
      if (Outcome outcome = core::checkProofs(*file, ranks); !outcome.ok())
        return outcome;
    selections.push_back(std::make_unique<core::Selection>(*file, ranks, options.allowUnproven, users));
    for (uint32_t i = 0; i < file->programCount(); ++i) {
      if (file->program(i).ranks() != ranks)
        continue;
      Entry entry;
      if (Outcome outcome = selections.back()->load(i, entry.loaded); !outcome.ok())
        return outcome;
      numbers[entry.loaded] = static_cast<uint32_t>(entries.size());
      entries.push_back(std::move(entry));
    }
  }
  return {};
}

bool Catalog::wantsWholeLines() const {
  return std::any_of(entries.begin(), entries.end(), [](const Entry &entry) {
    return static_cast<Protocol>(entry.loaded->program->info().protocol()) == Protocol::LL128;
  });
}

void Catalog::settle(std::span<const Record> records) {
  architecture = oldestArchitecture(records);
  teamOfRanks.clear();
  contextCount = Record::unknown;
  for (const Record &record : records) {
    teamOfRanks.push_back(static_cast<uint32_t>(record.firstPeer));
    contextCount = std::min(contextCount, record.contexts);
  }
  settleWays(records);
  for (Protocol protocol : {Protocol::Simple, Protocol::LL, Protocol::LL128})
    settleSlots(protocol);
  countSignals();
}

/// What programs go by, and which can't run: those come first in the order of their bundles that have room.
void Catalog::settleWays(std::span<const Record> records) {
  SharedRoom room(records);
  for (Entry &entry : entries) {
    const core::Program &program = *entry.loaded->program;
    entry.sizes.protocol = protocolOf(program, records);
    entry.overNetwork = !apart(program, records).empty();
    entry.refused = whyNot(program, records);
    if (!entry.refused.empty())
      continue;
    if (const std::string why = room.add(program, entry.sizes.protocol, entry.overNetwork); !why.empty())
      entry.refused = "program '" + entry.name() + "': " + why;
  }
  besides.clear();
  for (uint32_t r = 0; r < records.size(); ++r)
    besides.push_back(room.beside(r));
}

/// Of the programs that can run, for when all of them have been loaded.
void Catalog::settleSlots(Protocol protocol) {
  cuda::SlotNeeds needs;
  plan::ConnectionPool pool(teamOfRanks);
  std::vector<Entry *> those;
  for (Entry &entry : entries)
    if (entry.refused.empty() && entry.sizes.protocol == protocol) {
      those.push_back(&entry);
      needs.add(*entry.loaded->program);
      pool.add(*entry.loaded->program, {protocol, 1, 0});
    }
  needs.connections = pool.mostWithSlots();
  const plan::SlotSizes sizes = cuda::chooseSlots(protocol, needs, options);
  for (Entry *entry : those) {
    entry->sizes = sizes;
    if (!cuda::isPossible(sizes, needs.connections))
      entry->refused = "program '" + entry->name() + "': FIFO slots would take more than 1 TiB";
  }
}

/// Programs come first in the order of their bundles.
void Catalog::countSignals() {
  plan::ConnectionPool all(teamOfRanks);
  for (Entry &entry : entries) {
    if (!entry.overNetwork || !entry.refused.empty())
      continue;
    plan::ConnectionPool more = all;
    more.add(*entry.loaded->program, entry.sizes);
    if (more.mostSignals() > gin::mostSignals)
      entry.refused = "program '" + entry.name() + "': with the programs before it, its connections over the network " +
                      "take " + std::to_string(more.mostSignals()) + " signals on a rank; NCCL's GIN has " +
                      std::to_string(gin::mostSignals) + ": compile it with fewer channels or FIFO slots";
    else
      all = std::move(more);
  }
  signalCount = all.mostSignals();
}

/// The first bundle that has a program for it.
Outcome Catalog::selectFirst(const Request &request, bool bySize, uint32_t &number) {
  Outcome first{gc3NoProgram, "there are no bundles"};
  for (size_t i = 0; i < selections.size(); ++i) {
    const core::LoadedProgram *chosen = nullptr;
    Outcome outcome = selections[i]->select(request, chosen, bySize);
    if (outcome.ok())
      number = numbers.at(chosen);
    if (outcome.code != gc3NoProgram)
      return outcome;
    if (i == 0)
      first = outcome;
  }
  return first;
}

/// One that users list may be for other sizes; one for this size goes before it, whichever bundle has that.
Outcome Catalog::select(const Request &request, uint32_t &number) {
  std::lock_guard lock(selecting);
  if (selections.size() > 1 && users.lists(request.name) && !users.asks())
    if (Outcome outcome = selectFirst(request, true, number); outcome.code != gc3NoProgram)
      return outcome;
  return selectFirst(request, false, number);
}

/// Of what can be said without buffers.
Outcome Catalog::admit(const Entry &entry, const Request &request) const {
  const core::Program &program = *entry.loaded->program;
  const auto type = static_cast<ElementType>(request.type);
  if (!entry.refused.empty())
    return {gc3InvalidUsage, entry.refused};
  if (request.op == gc3Avg && program.info().contributions() == 0)
    return {gc3InvalidArgument, "avg is not defined for program '" + entry.name() +
                                    "': its outputs have different numbers of contributions"};
  if (Outcome outcome = cuda::checkType(program, type, architecture); !outcome.ok())
    return outcome;
  kernel::KernelArgs geometry;
  std::string problem =
      plan::setGeometry(program, request.count, static_cast<uint32_t>(core::elementSize(type)), entry.sizes, geometry);
  return problem.empty() ? Outcome{} : Outcome{gc3InvalidArgument, problem};
}

Outcome Catalog::choose(const Request &request, uint32_t &number) {
  if (Outcome outcome = select(request, number); !outcome.ok())
    return outcome;
  return admit(entries[number], request);
}

} // namespace gc3::lsa
