// SPDX-License-Identifier: Apache-2.0
#include "Tables.h"

#include "Litmus.h"
#include "Mutants.h"
#include "Search.h"

#include <algorithm>

namespace gc3::memory {

namespace {

Finding findingOf(const Mutant &mutant) {
  const Result result = search(mutant.program, true, true);
  return {mutant.label, mutant.operation, mutant.change,
          result.wrong ? summaryOf(mutant.program, *result.wrong) : std::string()};
}

std::string row(const std::vector<std::string> &cells) {
  std::string text = "|";
  for (const std::string &cell : cells)
    text += " " + cell + " |";
  return text + "\n";
}

std::string code(const std::string &text) {
  return "`" + text + "`";
}

std::string litmusTable() {
  std::string text = row({"litmus test", "outcome", "verdict from"}) + row({"---", "---", "---"});
  for (const Litmus &test : litmusTests())
    text += row({test.name, search(test.program, true, false).executions > 0 ? "allowed" : "forbidden", test.source});
  return text;
}

/// Joins the changes of one label that have the same counterexample.
std::string mutantRows(const Verdict &verdict) {
  std::string text;
  for (size_t at = 0; at < verdict.mutants.size();) {
    const Finding &first = verdict.mutants[at];
    std::string changes;
    for (; at < verdict.mutants.size() && verdict.mutants[at].label == first.label &&
           verdict.mutants[at].counterexample == first.counterexample;
         ++at) {
      const std::string &change = verdict.mutants[at].change;
      changes += (changes.empty() ? "" : ", ") + (change.find('.') == std::string::npos ? change : code(change));
    }
    text += row(
        {first.label, code(first.operation), changes, first.counterexample.empty() ? "none" : first.counterexample});
  }
  return text;
}

} // namespace

Verdict verdictOf(const Program &program) {
  const Result result = search(program, false, true);
  Verdict verdict{result.executions, result.wrong ? summaryOf(program, *result.wrong) : std::string(), {}};
  if (!verdict.isProved())
    return verdict;
  std::vector<std::string> harmless; // drops without a counterexample
  for (const Mutant &mutant : mutantsOf(program)) {
    verdict.mutants.push_back(findingOf(mutant));
    if (mutant.change == "dropped" && verdict.mutants.back().counterexample.empty())
      harmless.push_back(mutant.label);
  }
  for (size_t i = 0; i < harmless.size(); ++i)
    for (size_t j = i + 1; j < harmless.size(); ++j)
      if (const Finding both = findingOf(withoutBoth(program, harmless[i], harmless[j])); !both.counterexample.empty())
        verdict.mutants.push_back(both);
  return verdict;
}

std::string tables() {
  std::string programs = row({"program", "models", "events", "executions", "verdict", "mutants", "harmless"}) +
                         row({"---", "---", "---:", "---:", "---", "---:", "---:"});
  std::string mutants;
  for (const Protocol &protocol : protocols()) {
    const Verdict verdict = verdictOf(protocol.program);
    const auto missing = std::count_if(verdict.mutants.begin(), verdict.mutants.end(),
                                       [](const Finding &finding) { return finding.counterexample.empty(); });
    programs += row({protocol.name, protocol.models, std::to_string(protocol.program.events.size()),
                     std::to_string(verdict.executions), verdict.isProved() ? "proved" : verdict.wrong,
                     std::to_string(verdict.mutants.size()), std::to_string(missing)});
    if (protocol.hasTable && verdict.isProved())
      mutants += "\n### " + protocol.name + "\n\n" + row({"events", "operation", "change", "counterexample"}) +
                 row({"---", "---", "---", "---"}) + mutantRows(verdict);
  }
  return "## Programs\n\n" + programs + "\n## Mutants\n" + mutants + "\n## Litmus tests\n\n" + litmusTable();
}

std::string executionsOf(const Protocol &protocol) {
  if (const Result result = search(protocol.program, false, true); result.wrong)
    return summaryOf(protocol.program, *result.wrong) + "\n" + textOf(protocol.program, *result.wrong);
  std::string text;
  for (const Mutant &mutant : mutantsOf(protocol.program))
    if (const Result result = search(mutant.program, true, true); result.wrong)
      text += mutant.label + ", " + mutant.operation + ": " + mutant.change + "\n" +
              summaryOf(mutant.program, *result.wrong) + "\n" + textOf(mutant.program, *result.wrong) + "\n";
  return text;
}

} // namespace gc3::memory
