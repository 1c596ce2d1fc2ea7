// SPDX-License-Identifier: Apache-2.0
#include "Calls.h"
#include "core/Layout.h"
#include "cuda/Options.h"
#include "gc3/Simulate/Carries.h"
#include <algorithm>

namespace gc3::sim {

static kernel::Protocol ownProtocol(const core::Program &program) {
  return static_cast<kernel::Protocol>(program.info().protocol());
}

std::string whySimple(const core::Program &program, const simulate::Fabric &fabric, const CallOptions &options) {
  if (options.keepsProtocol || program.ranks() != fabric.topology().ranks)
    return {};
  std::vector<uint32_t> rankOf; // by thread block
  for (uint32_t rank = 0; rank < program.ranks(); ++rank)
    rankOf.resize(program.firstThreadBlock(rank + 1), rank);
  for (const core::Connection &each : program.connections())
    if (std::string reason = whyNotCarried(fabric, ownProtocol(program), rankOf[each.sender], rankOf[each.receiver]);
        !reason.empty())
      return reason;
  return {};
}

std::string findFreeProtocol(const topology::Topology &topology, const std::set<kernel::Protocol> &used) {
  const auto &all = topology.costs.protocols;
  if (std::none_of(all.begin(), all.end(), [](const topology::ProtocolCosts &each) { return each.isSet(); }))
    return {};
  std::string names;
  for (const kernel::Protocol protocol : used)
    if (!all[static_cast<size_t>(protocol)].isSet())
      names +=
          std::string(names.empty() ? "" : " and ") + EnumNameProtocol(static_cast<bundle::fbs::Protocol>(protocol));
  return names.empty() ? ""
                       : "topology '" + topology.name + "' has no costs for " + names +
                             ", so predictions of such programs are too short";
}

simulate::Call callOf(const core::Program &program, uint64_t count, const simulate::Fabric &fabric,
                      const CallOptions &options) {
  const kernel::Protocol protocol =
      whySimple(program, fabric, options).empty() ? ownProtocol(program) : kernel::Protocol::Simple;
  cuda::SlotNeeds needs;
  needs.add(program);
  std::vector<uint64_t> incoming(program.ranks()); // connections by receiving rank
  for (uint32_t rank = 0; rank < program.ranks(); ++rank)
    for (uint32_t i = program.firstThreadBlock(rank); i < program.firstThreadBlock(rank + 1); ++i)
      incoming[rank] += program.incoming(i) != core::Program::none;
  needs.connections = *std::max_element(incoming.begin(), incoming.end());
  cuda::Options choices;
  choices.tuning[static_cast<size_t>(protocol)] = {options.slots, options.slotBytes, 0};
  return {program, cuda::chooseSlots(protocol, needs, choices), count,
          static_cast<uint32_t>(core::elementSize(options.type))};
}

std::vector<uint64_t> countsOf(const core::Program &program, const CallOptions &options) {
  constexpr uint64_t probe = 1 << 20;
  std::vector<uint64_t> counts;
  const std::optional<uint64_t> largest = core::callBytes(program, probe, core::elementSize(options.type));
  if (!largest || *largest == 0)
    return counts;
  for (uint64_t bytes = options.minBytes; bytes <= options.maxBytes;) {
    const auto count =
        static_cast<uint64_t>(static_cast<long double>(bytes) * probe / static_cast<long double>(*largest));
    if (counts.empty() || counts.back() != count)
      counts.push_back(count);
    const uint64_t next = options.stepBytes ? bytes + options.stepBytes : std::max<uint64_t>(bytes, 1) * options.factor;
    if (next <= bytes)
      break;
    bytes = next;
  }
  return counts;
}

} // namespace gc3::sim
