// SPDX-License-Identifier: Apache-2.0
// An item PROGRAM of the list names no collective. It applies to every collective that has a program of this name, for
// any number of ranks.
#include "core/Choice.h"

#include <algorithm>

namespace gc3::core {

namespace {

constexpr std::string_view none = "none";

/// Returns a text that identifies a program's collective. Standard collectives have their names. Others have meanings,
/// which are comparable for one number of ranks.
std::string keyOf(const bundle::fbs::Program &program) {
  std::string name = program.collective()->str();
  if (common::findStandard(name))
    return name;
  return name + " " + std::to_string(program.ranks()) + " " + std::to_string(program.meaning());
}

/// Returns the items `COLLECTIVE:PROGRAM` that the bundles allow in a list, for an error message. Names at most 16 of
/// them and counts the others.
std::string everyProgram(Files files) {
  constexpr size_t listed = 16;
  std::set<std::string> names;
  forEachProgram(files, [&](const bundle::fbs::Program &program) {
    names.insert(formOf(program).str() + ":" + program.name()->str());
  });
  std::string text;
  size_t number = 0;
  for (const std::string &name : names)
    if (number++ < listed)
      text += " " + name;
  return number > listed ? text + " and " + std::to_string(number - listed) + " more" : text;
}

} // namespace

Result<Choice> Choice::make(const ChoiceOptions &options, Files files) {
  Choice choice;
  choice.options = options;
  std::string_view rest = options.programs;
  while (!rest.empty()) {
    const size_t length = std::min(common::findOutside(rest, ','), rest.size());
    const std::string_view item = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (Outcome outcome = item.empty() ? Outcome{} : choice.add(item, files); !outcome.ok())
      return Outcome{outcome.code, "GC3_PROGRAM: " + outcome.text};
  }
  return choice;
}

/// Adds one item of the list.
Outcome Choice::add(std::string_view item, Files files) {
  if (item == none) {
    areOthersListed = true;
    return {};
  }
  const size_t colon = common::findOutside(item, ':');
  const std::string_view name = colon == item.npos ? item : item.substr(colon + 1);
  std::optional<common::CollectiveForm> wanted; // nothing: the item names no collective
  if (colon != item.npos)
    wanted = common::CollectiveForm::parse(item.substr(0, colon));
  bool found = false;
  std::set<uint32_t> rankCounts;
  forEachProgram(files, [&](const bundle::fbs::Program &program) {
    const bool fits = colon == item.npos || (wanted && isNamedBy(*wanted, program));
    if (!fits || (name != none && name != program.name()->string_view()))
      return;
    found = true;
    rankCounts.insert(program.ranks());
    Names &names = byCollective[keyOf(program)];
    if (name != none)
      names.insert(program.name()->str());
  });
  if (!found)
    return {gc3InvalidArgument,
            "no bundle has '" + std::string(item) +
                "'; valid items are PROGRAM, COLLECTIVE:PROGRAM, COLLECTIVE:none and none, of:" + everyProgram(files)};
  if (wanted && !common::findStandard(wanted->name))
    for (const uint32_t ranks : rankCounts)
      if (Outcome outcome = checkMeaning(*wanted, ranks, files); !outcome.ok())
        return outcome;
  return {};
}

/// Returns the names of the programs that the list has for the program's collective. Returns null if the list does not
/// name this collective.
const Choice::Names *Choice::listed(const bundle::fbs::Program &program) const {
  if (byCollective.empty()) // usual, so calls make no key
    return nullptr;
  const auto found = byCollective.find(keyOf(program));
  return found == byCollective.end() ? nullptr : &found->second;
}

bool Choice::allows(const bundle::fbs::Program &program) const {
  const Names *names = listed(program);
  return names ? names->count(program.name()->string_view()) != 0 : !areOthersListed;
}

Result<std::optional<size_t>> Choice::queryTuner(const TunerQuery &query) const {
  const Request &request = query.request;
  const std::string collective(request.name);
  const auto count = static_cast<int>(query.programs.size());
  const gc3TunerCall_t call{
      sizeof call,  collective.c_str(), static_cast<int>(query.ranks), request.root, request.count, query.bytes,
      request.type, request.op,         query.programs.data(),         count};
  const int chosen = options.tuner(&call, options.tunerData);
  if (chosen == gc3TunerNone)
    return std::optional<size_t>();
  if (chosen == gc3TunerBySize)
    return query.bySize;
  if (chosen >= 0 && chosen < count)
    return std::optional(static_cast<size_t>(chosen));
  return Outcome{gc3InvalidUsage, "the tuner returned " + std::to_string(chosen) + " for '" + collective + "' of " +
                                      std::to_string(request.count) + " elements, but it can choose from " +
                                      std::to_string(count) + " programs"};
}

} // namespace gc3::core
