// SPDX-License-Identifier: Apache-2.0
// Selects the first fitting program, unless the application chooses otherwise. If no program
// fits, the error lists the bundle's programs.
#include "core/Selection.h"

#include "core/Identity.h"
#include "core/Layout.h"
#include "core/Proofs.h"

#include <algorithm>

namespace gc3::core {

namespace {

std::string_view view(const flatbuffers::String *text) {
  return {text->data(), text->size()};
}

} // namespace

void LoadedProgram::analyse() {
  if (asWritten)
    return;
  const HappensBefore order(*program);
  const auto plain = std::make_shared<Transfers>(Transfers::asWritten(*program, order));
  inPlace =
      standard && order.known() ? std::make_shared<Transfers>(Transfers::inPlace(*program, order, *standard)) : plain;
  asWritten = plain; // last, so that nothing is set if memory runs out
}

void Selection::setWiring(const Wiring &known) {
  if (known == wiring) // the ranks have been renumbered already
    return;
  wiring = known;
  for (const auto &each : loaded)
    if (each && isRenumbered(each->program->info(), wiring))
      each->program->renumber(wiring.places);
}

Result<const LoadedProgram *> Selection::load(uint32_t index) {
  if (!loaded[index]) {
    auto fresh = std::make_unique<LoadedProgram>();
    if (bundle::BundleStatus status = Program::load(file, index).moveTo(fresh->program); !status.ok())
      return toOutcome(status);
    if (isRenumbered(fresh->program->info(), wiring))
      fresh->program->renumber(wiring.places);
    const common::StandardCollective *standard = common::findStandard(view(fresh->program->info().collective()));
    if (standard && hasShape(*fresh->program, *standard, fresh->root))
      fresh->standard = standard;
    loaded[index] = std::move(fresh);
  }
  return loaded[index].get();
}

/// Checks whether a program with the name and buffers of a standard collective promises what the collective promises.
/// The bundle states the program's promise, which can differ from the collective's.
Outcome Selection::checkPromise(uint32_t index) const {
  LoadedProgram &candidate = *loaded[index];
  if (trustsPromises || !candidate.standard || candidate.isPromiseChecked)
    return {};
  const bundle::BundleResult<bundle::CheckView> promised = file.check(index);
  if (!promised.ok())
    return toOutcome(promised.outcome());
  std::string problem =
      standardPromiseProblem(*candidate.program, *promised, *candidate.standard, static_cast<uint32_t>(candidate.root));
  candidate.isPromiseChecked = problem.empty();
  return problem.empty() ? Outcome{} : Outcome{gc3BundleUnproven, problem};
}

/// Returns the programs that the request names by its collective. A collective that is not standard must have one
/// meaning; calls of standard collectives have a root.
Result<std::vector<uint32_t>> Selection::implementations(const Request &request) const {
  const std::optional<common::CollectiveForm> wanted = common::CollectiveForm::parse(request.name);
  if (!wanted)
    return Outcome{gc3InvalidArgument, "'" + std::string(request.name) +
                                           "' is no collective; write its name, or its name with arguments, such as "
                                           "'shift(4, 1)' or 'shift(by = 1)'"};
  const bundle::BundleFile *const files[] = {&file};
  if (request.kind == CallKind::Collective)
    if (Outcome outcome = checkMeaning(*wanted, ranks, files); !outcome.ok())
      return outcome;
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < file.programCount(); ++i)
    if (file.program(i).ranks() == ranks && isNamedBy(*wanted, file.program(i)))
      found.push_back(i);
  return found;
}

std::vector<uint32_t> Selection::withName(std::string_view name) const {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < file.programCount(); ++i)
    if (file.program(i).ranks() == ranks && view(file.program(i).name()) == name)
      found.push_back(i);
  return found;
}

/// Returns the programs that the request names by its collective, or by their own names.
Result<const std::vector<uint32_t> *> Selection::findNamed(const Request &request) {
  static const std::vector<uint32_t> nothing;
  auto &known = named[static_cast<size_t>(request.kind)];
  if (const auto place = known.find(request.name); place != known.end())
    return &place->second;
  Result<std::vector<uint32_t>> found =
      request.kind == CallKind::Program ? withName(request.name) : implementations(request);
  if (!found.ok())
    return found.outcome();
  if (found->empty())
    return &nothing; // a wrong name needs no memory
  if (request.kind != CallKind::Program)
    sortByFit(*found, file, wiring);
  return &known.emplace(request.name, std::move(*found)).first->second;
}

/// Adds the program to the candidates if it can serve the request, else adds the reason to `rejections`. Adds a program
/// for other sizes to both, because the application can still choose it.
Outcome Selection::addCandidate(uint32_t index, const Request &request, Candidates &candidates) {
  const auto &info = file.program(index);
  auto because = [&](const std::string &reason) {
    candidates.rejections += "; program '" + info.name()->str() + "' " + reason;
    return Outcome{};
  };
  if (request.kind != CallKind::Program && !choice.allows(info))
    return because("is not in GC3_PROGRAM");
  if (request.kind != CallKind::Program && fitOf(info, wiring) == WiringFit::None)
    return because(misfitText(info, wiring));
  const Result<const LoadedProgram *> result = load(index);
  if (!result.ok())
    return result.outcome();
  const LoadedProgram &candidate = **result;
  if (request.kind == CallKind::Standard && !candidate.standard)
    return because("does not have the buffers of '" + std::string(request.name) + "'");
  if (request.kind == CallKind::Standard && candidate.root != request.root)
    return because("has root " + std::to_string(candidate.root));
  auto bytes = callBytes(*candidate.program, request.count, elementSize(static_cast<ElementType>(request.type)));
  if (!bytes)
    return {gc3InvalidArgument, "a count of " + std::to_string(request.count) + " elements exceeds the address space"};
  if (candidates.programs.empty())
    candidates.bytes = *bytes;
  if (request.kind != CallKind::Program && (*bytes < info.min_bytes() || *bytes >= info.max_bytes()))
    because("does not serve " + std::to_string(*bytes) + " bytes");
  else if (!candidates.bySize)
    candidates.bySize = candidates.programs.size();
  candidates.programs.push_back(index);
  return {};
}

/// Chooses a candidate by size, unless the application chooses another one. Returns nothing if no candidate may serve
/// the request.
Result<std::optional<size_t>> Selection::choose(const Request &request, Candidates &candidates, bool bySize) const {
  std::optional<size_t> chosen = candidates.bySize;
  if (request.kind == CallKind::Program || candidates.programs.empty())
    return chosen;
  if (!chosen && !bySize && choice.isListed(file.program(candidates.programs[0])))
    chosen = 0;
  if (!choice.hasTuner())
    return chosen;
  std::vector<const char *> names;
  for (uint32_t index : candidates.programs)
    names.push_back(file.program(index).name()->c_str());
  Result<std::optional<size_t>> answer = choice.queryTuner({request, ranks, candidates.bytes, names, chosen});
  if (answer.ok() && !*answer)
    candidates.rejections += "; the tuner chose none";
  return answer;
}

/// Returns the candidates for a request: all, or those up to the first one for the call's size.
Result<Selection::Candidates> Selection::candidates(const Request &request, bool all) {
  const Result<const std::vector<uint32_t> *> programs = findNamed(request);
  if (!programs.ok())
    return programs.outcome();
  Candidates found;
  for (uint32_t index : **programs)
    if (all || !found.bySize)
      if (Outcome outcome = addCandidate(index, request, found); !outcome.ok())
        return outcome;
  return found;
}

Result<const LoadedProgram *> Selection::select(const Request &request, bool bySize) {
  Result<Candidates> found = candidates(request, choice.hasTuner());
  if (!found.ok())
    return found.outcome();
  const Result<std::optional<size_t>> number = choose(request, *found, bySize);
  if (!number.ok())
    return number.outcome();
  if (!*number)
    return noProgram(request, found->rejections);
  const uint32_t index = found->programs[**number];
  if (request.kind != CallKind::Program)
    if (Outcome outcome = checkPromise(index); !outcome.ok())
      return outcome;
  return &use(index);
}

Result<CallArms> Selection::arms(const Request &request) {
  if (request.kind == CallKind::Program || choice.hasTuner())
    return CallArms{};
  Result<Candidates> found = candidates(request, true);
  if (!found.ok())
    return found.outcome();
  const Result<std::optional<size_t>> fixed = choose(request, *found, false);
  if (!fixed.ok())
    return fixed.outcome();
  CallArms arms;
  arms.bytes = found->bytes;
  for (size_t i = 0; i < found->programs.size(); ++i) {
    const uint32_t index = found->programs[i];
    const Outcome outcome = checkPromise(index);
    const bool isFixed = *fixed && i == **fixed;
    if (!outcome.ok() && isFixed)
      return outcome;
    if (isFixed)
      arms.fixed = static_cast<uint32_t>(arms.programs.size());
    if (outcome.ok())
      arms.programs.push_back(index);
  }
  return arms;
}

const LoadedProgram &Selection::use(uint32_t index) {
  loaded[index]->analyse();
  return *loaded[index];
}

Outcome Selection::noProgram(const Request &request, const std::string &rejections) const {
  constexpr uint32_t listed = 16;
  std::string text = (request.kind == CallKind::Program ? "no program '" : "no program for '") +
                     std::string(request.name) + "' on " + std::to_string(ranks) + " ranks";
  if (request.root >= 0)
    text += " with root " + std::to_string(request.root);
  text += rejections + "; the bundle has:";
  for (uint32_t i = 0; i < std::min(file.programCount(), listed); ++i) {
    const auto &info = file.program(i);
    text +=
        "\n  '" + info.name()->str() + "': " + formOf(info).str() + " on " + std::to_string(info.ranks()) + " ranks";
    if (info.nodes() != 0)
      text += ", nodes " + std::to_string(info.nodes()) + " of " + std::to_string(info.ranks() / info.nodes());
    if (info.min_bytes() != 0 || info.max_bytes() != UINT64_MAX)
      text += ", " + std::to_string(info.min_bytes()) + " .. " +
              (info.max_bytes() == UINT64_MAX ? "" : std::to_string(info.max_bytes())) + " bytes";
  }
  if (file.programCount() == 0)
    text += " nothing";
  if (file.programCount() > listed)
    text += "\n  and " + std::to_string(file.programCount() - listed) + " more";
  return {gc3NoProgram, text};
}

} // namespace gc3::core
