// SPDX-License-Identifier: Apache-2.0
#include "FitPrograms.h"
#include "OptionText.h"
#include "core/Identity.h"
#include "gc3/Common/CollectiveForm.h"
#include <algorithm>
#include <set>

namespace gc3::sim {

std::string placeOf(const Measured &measured) {
  return std::to_string(measured.bytes) + " bytes" +
         (measured.program.empty() ? "" : " of '" + measured.program + "'") +
         (measured.ranks == 0 ? "" : " on " + std::to_string(measured.ranks) + " ranks");
}

static bool hasCollective(const bundle::BundleFile &file, const std::string &collective) {
  const auto wanted = common::CollectiveForm::parse(collective);
  for (uint32_t i = 0; i < file.programCount(); ++i)
    if (core::isNamedBy(*wanted, file.program(i)))
      return true;
  return false;
}

std::string FitPrograms::read(bool &isPrinted) {
  std::set<std::string> used;
  for (const std::string &path : line.inputs) {
    auto programs = std::make_unique<Programs>(path, line.defines);
    std::string error;
    if (!programs->readAmongOthers(used, error)) {
      isPrinted = error.empty();
      return error.empty() ? path : error;
    }
    if (!line.collective.empty() && !hasCollective(programs->bundle(), line.collective))
      continue;
    auto groups = std::make_unique<Groups>(programs->bundle(), wiringOf(topology));
    if (std::string problem = groups->find(line.collective, ""); !problem.empty())
      return path + ": " + problem;
    files.push_back({std::move(programs), std::move(groups)});
  }
  if (std::string problem = findUnused(line.defines, used); !problem.empty())
    return problem;
  return files.empty() ? "no FILE has a program for collective '" + line.collective + "'" : "";
}

/// Returns whether a row could be of several collectives, because neither the row nor its table names one.
bool FitPrograms::isAmbiguous(const Measured &measured) const {
  std::set<std::string> labels;
  for (const File &file : files)
    for (const Group &group : file.groups->all())
      labels.insert(group.label);
  return measured.collective.empty() && measured.program.empty() && labels.size() > 1;
}

const char *FitPrograms::textOf(Lack lack) {
  switch (lack) {
  case Lack::Collective: return "no program has its collective";
  case Lack::Ranks: return "no program has its number of ranks";
  case Lack::Root: return "no program has its root";
  case Lack::Name: return "no program has its name";
  case Lack::Size: return "the 'sizes' of the programs leave this size out";
  }
  return "";
}

const core::Program *FitPrograms::findIn(const Groups &groups, const Group &group, const Measured &measured,
                                         Lack &lack) {
  const bundle::fbs::Program &first = groups.program(group.programs[0]).info();
  lack = Lack::Collective;
  if (!measured.collective.empty() && measured.collective != group.label &&
      measured.collective != first.collective()->string_view())
    return nullptr;
  lack = Lack::Ranks;
  if (measured.ranks != 0 && measured.ranks != first.ranks())
    return nullptr;
  lack = Lack::Root;
  if (measured.root >= 0 && group.root >= 0 && measured.root != group.root)
    return nullptr;
  lack = measured.program.empty() ? Lack::Size : Lack::Name;
  if (measured.program.empty()) {
    const auto index = groups.select(group, measured.bytes);
    return index ? &groups.program(*index) : nullptr;
  }
  for (const uint32_t index : group.programs)
    if (groups.program(index).info().name()->string_view() == measured.program)
      return &groups.program(index);
  return nullptr;
}

const core::Program *FitPrograms::find(const Measured &measured, std::string &error) const {
  if (isAmbiguous(measured)) {
    error = "the row of " + placeOf(measured) + " does not name its collective; choose one with --collective";
    return nullptr;
  }
  Lack last = Lack::Collective;
  for (const File &file : files)
    for (const Group &group : file.groups->all()) {
      Lack lack = Lack::Collective;
      if (const core::Program *program = findIn(*file.groups, group, measured, lack))
        return program;
      last = std::max(last, lack);
    }
  error = "no program for the row of " + placeOf(measured) +
          (measured.collective.empty() ? "" : ", collective '" + measured.collective + "'") + ": " + textOf(last);
  return nullptr;
}

} // namespace gc3::sim
