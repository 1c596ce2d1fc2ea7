// SPDX-License-Identifier: Apache-2.0
// Compares the forms and meanings that the compiler has stored.
#include "core/Identity.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace gc3::core {

using common::CollectiveForm;

const flatbuffers::String &formOf(const bundle::fbs::Program &program) {
  const flatbuffers::String *form = program.form() ? program.form() : program.collective();
  assert(form && "readers refuse programs without a collective");
  return *form;
}

bool isNamedBy(const CollectiveForm &wanted, const bundle::fbs::Program &program) {
  if (wanted.name != program.collective()->string_view())
    return false;
  return wanted.arguments.empty() || wanted.names(*CollectiveForm::parse(formOf(program).string_view()));
}

bool haveOneMeaning(const bundle::fbs::Program &a, const bundle::fbs::Program &b) {
  if (common::findStandard(a.collective()->string_view()))
    return formOf(a).string_view() == formOf(b).string_view();
  return &a == &b || (a.meaning() != 0 && a.meaning() == b.meaning());
}

/// Returns a text such as "shift(n = 4, by = 1) of 'near'".
static std::string describeForm(const bundle::fbs::Program &program) {
  return formOf(program).str() + " of '" + program.name()->str() + "'";
}

Outcome checkMeaning(const CollectiveForm &wanted, uint32_t ranks, Files files) {
  constexpr size_t listed = 16;
  std::vector<const bundle::fbs::Program *> distinct; // one program for each meaning, up to listed + 1
  forEachProgram(files, [&](const bundle::fbs::Program &program) {
    auto isKnown = [&](const bundle::fbs::Program *other) { return haveOneMeaning(*other, program); };
    if (program.ranks() == ranks && distinct.size() <= listed && isNamedBy(wanted, program) &&
        std::none_of(distinct.begin(), distinct.end(), isKnown))
      distinct.push_back(&program);
  });
  if (distinct.size() <= 1)
    return {};
  std::string forms;
  for (size_t i = 0; i < std::min(distinct.size(), listed); ++i)
    forms += (i == 0 ? " " : ", ") + describeForm(*distinct[i]);
  if (distinct.size() > listed)
    forms += " and more";
  const bool isOld = std::any_of(distinct.begin(), distinct.end(), [](auto program) { return !program->form(); });
  return {gc3InvalidArgument, "'" + wanted.text() + "' can mean several collectives on " + std::to_string(ranks) +
                                  " ranks:" + forms +
                                  (isOld ? "; compile them again, because bundles before version 1.1 have no meanings"
                                         : "; give the arguments that differ")};
}

Outcome checkForms(uint32_t ranks, Files files) {
  std::map<std::string_view, const bundle::fbs::Program *> known; // by form
  std::string problem;
  forEachProgram(files, [&](const bundle::fbs::Program &program) {
    if (program.ranks() != ranks || !program.form())
      return; // calls by name check old bundles
    const auto [place, isNew] = known.emplace(program.form()->string_view(), &program);
    if (!isNew && !haveOneMeaning(*place->second, program) && problem.empty())
      problem = "programs '" + place->second->name()->str() + "' and '" + program.name()->str() + "' both implement " +
                formOf(program).str() + " on " + std::to_string(ranks) +
                " ranks, but promise different contents; give one collective another name";
  });
  return problem.empty() ? Outcome{} : Outcome{gc3BundleInvalid, problem};
}

} // namespace gc3::core
