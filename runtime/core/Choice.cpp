// SPDX-License-Identifier: Apache-2.0
// An item PROGRAM of the list names no collective. It applies to every collective that has a program of this name, for
// any number of ranks.
#include "core/Choice.h"

#include <algorithm>

namespace gc3::core {

namespace {

using Files = std::span<const bundle::BundleFile *const>;
constexpr std::string_view none = "none";

/// Calls function(collective, program) for each program of the bundles. Both arguments are names.
template <typename Function>
void forEach(Files files, Function function) {
  for (const bundle::BundleFile *file : files)
    for (uint32_t i = 0; i < file->programCount(); ++i)
      function(file->program(i).collective()->string_view(), file->program(i).name()->string_view());
}

/// Returns the items `COLLECTIVE:PROGRAM` that the bundles allow in a list, for an error message. Names at most 16 of
/// them and counts the others.
std::string everyProgram(Files files) {
  constexpr size_t listed = 16;
  std::set<std::string> names;
  forEach(files, [&](auto collective, auto program) { names.insert(std::string(collective) + ":" += program); });
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
    const size_t length = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (!item.empty() && !choice.add(item, files))
      return Outcome{
          gc3InvalidArgument,
          "GC3_PROGRAM: no bundle has '" + std::string(item) +
              "'; valid items are PROGRAM, COLLECTIVE:PROGRAM, COLLECTIVE:none and none, of:" + everyProgram(files)};
  }
  return choice;
}

/// Adds one item of the list. Returns false if no bundle has the program or collective that it names.
bool Choice::add(std::string_view item, Files files) {
  if (item == none)
    return areOthersListed = true;
  const size_t colon = item.find(':');
  const std::string_view wanted = colon == item.npos ? std::string_view() : item.substr(0, colon);
  const std::string_view name = colon == item.npos ? item : item.substr(colon + 1);
  bool found = false;
  forEach(files, [&](std::string_view collective, std::string_view program) {
    if (colon != item.npos && wanted != collective)
      return;
    if (name != none && name != program)
      return;
    found = true;
    auto &names = byCollective[std::string(collective)];
    if (name != none)
      names.emplace(program);
  });
  return found;
}

bool Choice::allows(std::string_view collective, std::string_view program) const {
  const auto found = byCollective.find(collective);
  return found == byCollective.end() ? !areOthersListed : found->second.count(program) != 0;
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
