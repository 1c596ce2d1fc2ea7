// SPDX-License-Identifier: Apache-2.0
#include "Groups.h"
#include "core/Identity.h"
#include "core/Layout.h"
#include "cuda/Options.h"
#include "gc3/Common/StandardCollective.h"
#include <algorithm>

namespace gc3::sim {

/// Returns the root of a program whose collective has one, or -1.
static int rootOf(const core::Program &program) {
  const common::StandardCollective *standard = common::findStandard(program.info().collective()->string_view());
  if (!standard || !standard->hasRoot())
    return -1;
  const std::optional<uint32_t> root = isOnRoot(standard->input) ? program.onlyInput() : program.onlyOutput();
  return root ? static_cast<int>(*root) : -1;
}

bool Groups::haveOneCollective(const Group &group, const bundle::fbs::Program &program, int root) const {
  const bundle::fbs::Program &first = file.program(group.programs[0]);
  return first.ranks() == program.ranks() && group.root == root &&
         first.collective()->string_view() == program.collective()->string_view() &&
         core::haveOneMeaning(first, program);
}

std::string Groups::find(const std::string &collective, const std::string &name) {
  const auto wanted = common::CollectiveForm::parse(collective);
  std::string names;
  for (uint32_t i = 0; i < file.programCount(); ++i) {
    const bundle::fbs::Program &info = file.program(i);
    names += (names.empty() ? " '" : ", '") + info.name()->str() + "'";
    if ((!collective.empty() && !core::isNamedBy(*wanted, info)) ||
        (!name.empty() && name != "all" && name != info.name()->string_view()))
      continue;
    if (auto status = core::Program::load(file, i).moveTo(programs[i]); !status.ok())
      return status.message;
    const int root = rootOf(*programs[i]);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group &group) {
      return name.empty() && haveOneCollective(group, info, root);
    });
    if (same == groups.end())
      groups.push_back({core::formOf(info).str(), root, {i}});
    else
      same->programs.push_back(i);
  }
  return groups.empty() ? "no such program; the file has" + (names.empty() ? " none" : names) : "";
}

std::optional<uint32_t> Groups::select(const Group &group, uint64_t bytes) const {
  for (uint32_t index : group.programs) {
    const bundle::fbs::Program &info = file.program(index);
    if (bytes >= info.min_bytes() && bytes < info.max_bytes())
      return index;
  }
  return {};
}

const Group *Groups::findLike(const core::Program &other, int root) const {
  const auto same = std::find_if(groups.begin(), groups.end(),
                                 [&](const Group &group) { return haveOneCollective(group, other.info(), root); });
  return same == groups.end() ? nullptr : &*same;
}

simulate::Call callOf(const core::Program &program, uint64_t count, const CommandLine &line) {
  const auto protocol = static_cast<kernel::Protocol>(program.info().protocol());
  cuda::SlotNeeds needs;
  needs.add(program);
  std::vector<uint64_t> incoming(program.ranks()); // connections by receiving rank
  for (uint32_t rank = 0; rank < program.ranks(); ++rank)
    for (uint32_t i = program.firstThreadBlock(rank); i < program.firstThreadBlock(rank + 1); ++i)
      incoming[rank] += program.incoming(i) != core::Program::none;
  needs.connections = *std::max_element(incoming.begin(), incoming.end());
  cuda::Options options;
  options.tuning[static_cast<size_t>(protocol)] = {line.slots, line.slotBytes, 0};
  return {program, cuda::chooseSlots(protocol, needs, options), count,
          static_cast<uint32_t>(core::elementSize(line.type))};
}

std::vector<uint64_t> countsOf(const core::Program &program, const CommandLine &line) {
  constexpr uint64_t probe = 1 << 20;
  std::vector<uint64_t> counts;
  const std::optional<uint64_t> largest = core::callBytes(program, probe, core::elementSize(line.type));
  if (!largest || *largest == 0)
    return counts;
  for (uint64_t bytes = line.minBytes; bytes <= line.maxBytes;) {
    const auto count =
        static_cast<uint64_t>(static_cast<long double>(bytes) * probe / static_cast<long double>(*largest));
    if (counts.empty() || counts.back() != count)
      counts.push_back(count);
    const uint64_t next = line.stepBytes ? bytes + line.stepBytes : std::max<uint64_t>(bytes, 1) * line.factor;
    if (next <= bytes)
      break;
    bytes = next;
  }
  return counts;
}

} // namespace gc3::sim
