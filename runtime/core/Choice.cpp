// SPDX-License-Identifier: Apache-2.0
// An item PROGRAM of the list names no collective. It applies to every collective that has a program of this name, for
// any number of ranks. Items for the communicator are added first; the others then change only collectives that these
// do not name.
#include "core/Choice.h"

#include <algorithm>
#include <fnmatch.h>

namespace gc3::core {

namespace {

constexpr std::string_view none = "none";
constexpr const char *validItems = "valid items are PROGRAM, COLLECTIVE:PROGRAM and COMMUNICATOR:COLLECTIVE:PROGRAM, "
                                   "with none for no program";

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

/// Returns the text up to the first separator outside of parentheses. Removes both from `rest`.
std::string_view takePart(std::string_view &rest, char separator) {
  const size_t length = std::min(common::findOutside(rest, separator), rest.size());
  const std::string_view part = rest.substr(0, length);
  rest.remove_prefix(std::min(length + 1, rest.size()));
  return part;
}

bool matches(std::string_view pattern, const std::string &name) {
  return fnmatch(std::string(pattern).c_str(), name.c_str(), 0) == 0;
}

} // namespace

/// Splits the list. An item has one to three parts.
Result<std::vector<Choice::Item>> Choice::read(std::string_view list) {
  std::vector<Item> items;
  while (!list.empty()) {
    const std::string_view text = takePart(list, ',');
    std::vector<std::string_view> parts;
    for (std::string_view rest = text; parts.empty() || !rest.empty();)
      parts.push_back(takePart(rest, ':'));
    if (text.ends_with(':'))
      parts.emplace_back();
    if (text.empty())
      continue;
    if (parts.size() > 3 || parts.front().empty() || parts.back().empty())
      return Outcome{gc3InvalidArgument, "'" + std::string(text) + "' is malformed; " + validItems};
    Item item{text, {}, {}, parts.back()};
    if (parts.size() >= 2)
      item.collective = parts[parts.size() - 2];
    if (parts.size() == 3)
      item.communicator = parts[0];
    items.push_back(item);
  }
  return items;
}

bool Choice::dependsOnName(std::string_view list) {
  const Result<std::vector<Item>> items = read(list);
  return items.ok() && std::ranges::any_of(*items, [](const Item &item) { return item.communicator.has_value(); });
}

Result<Choice> Choice::make(const ChoiceOptions &options, Files files) {
  Choice choice, nothing;
  choice.options = options;
  const Result<std::vector<Item>> items = read(options.programs);
  Outcome outcome = items.outcome();
  for (size_t i = 0; outcome.ok() && i < items->size(); ++i)
    if (const Item &item = (*items)[i]; item.communicator && matches(*item.communicator, options.name))
      outcome = choice.add(item, nothing, files);
  const Choice ofCommunicator = choice;
  for (size_t i = 0; outcome.ok() && i < items->size(); ++i)
    if (const Item &item = (*items)[i]; !item.communicator)
      outcome = choice.add(item, ofCommunicator, files);
  if (!outcome.ok())
    return Outcome{outcome.code, "GC3_PROGRAM: " + outcome.text};
  return choice;
}

/// Adds one item of the list, for the collectives that `settled` does not name.
Outcome Choice::add(const Item &item, const Choice &settled, Files files) {
  if (item.program == none && item.collective.empty()) {
    areOthersListed = true;
    return {};
  }
  std::optional<common::CollectiveForm> wanted; // nothing: the item names no collective
  if (!item.collective.empty())
    wanted = common::CollectiveForm::parse(item.collective);
  bool found = false;
  std::set<uint32_t> rankCounts;
  forEachProgram(files, [&](const bundle::fbs::Program &program) {
    const bool fits = item.collective.empty() || (wanted && isNamedBy(*wanted, program));
    if (!fits || (item.program != none && item.program != program.name()->string_view()))
      return;
    found = true;
    rankCounts.insert(program.ranks());
    const std::string key = keyOf(program);
    if (settled.names(key))
      return;
    Names &names = byCollective[key];
    if (item.program != none)
      names.insert(program.name()->str());
  });
  if (!found)
    return {gc3InvalidArgument,
            "no bundle has '" + std::string(item.text) + "'; " + validItems + ", of:" + everyProgram(files)};
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
