// SPDX-License-Identifier: Apache-2.0
#include "Groups.h"
#include "core/Identity.h"
#include "gc3/Common/StandardCollective.h"
#include "gc3/Topology/Nodes.h"
#include <algorithm>

namespace gc3::sim {

core::Wiring wiringOf(const topology::Topology &topology) {
  return core::Wiring::of(topology::nodesOf(topology));
}

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
    if (!collective.empty())
      names += " for " + core::formOf(info).str();
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
  if (!groups.empty())
    return {};
  const std::string missing = collective.empty() ? "no such program" : "no program for collective '" + collective + "'";
  return missing + "; the file has" + (names.empty() ? " none" : names);
}

std::optional<uint32_t> Groups::select(const Group &group, uint64_t bytes) const {
  std::vector<uint32_t> sorted = group.programs;
  core::sortByFit(sorted, file, wiring);
  for (uint32_t index : sorted) {
    const bundle::fbs::Program &info = file.program(index);
    if (core::fitOf(info, wiring) != core::WiringFit::None && bytes >= info.min_bytes() && bytes < info.max_bytes())
      return index;
  }
  return {};
}

const Group *Groups::findLike(const core::Program &other, int root) const {
  const auto same = std::find_if(groups.begin(), groups.end(),
                                 [&](const Group &group) { return haveOneCollective(group, other.info(), root); });
  return same == groups.end() ? nullptr : &*same;
}

} // namespace gc3::sim
