// SPDX-License-Identifier: Apache-2.0
// Makes tasks from the names of collectives. The compiler's front end evaluates a program without steps that implements
// the collective, so that the solver's demand agrees with the language. The paper's section 3.6 says which collectives
// are inverses of each other.
#include "Task.h"
#include "gc3/Common/StandardCollective.h"
#include "gc3/Sema/Sema.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <numeric>

namespace gc3::synth {

namespace {

/// Returns the collective whose inverse on the reversed topology is `collective`. For an Allreduce, the inverse is only
/// its first half. Returns an empty string if algorithms for `collective` are found directly.
llvm::StringRef inverseOf(llvm::StringRef collective) {
  if (collective == "reduce_scatter" || collective == "allreduce")
    return "allgather";
  return collective == "reduce" ? "broadcast" : "";
}

/// Returns the text after `implements` in a program for a standard collective. Omits the placement if `inPlace` is
/// empty.
std::string promiseOf(llvm::StringRef name, uint32_t ranks, uint32_t chunks, uint32_t root, llvm::StringRef inPlace) {
  const common::StandardCollective *standard = common::findStandard(name);
  std::string text = (name + "(ranks = " + std::to_string(ranks)).str();
  if (standard->hasRoot())
    text += ", root = " + std::to_string(root);
  text += ", chunks = " + std::to_string(chunks);
  return text + (inPlace.empty() ? "" : (", inplace = " + inPlace).str()) + ")";
}

constexpr llvm::StringLiteral madeProgram = "-"; ///< file name of a program that gc3-synth makes

/// Appends the errors to `error`. If the error is in the program that gc3-synth makes from its options, omits the
/// place, because the user does not know that program. Also omits the name of a limit that only gc3c can change.
void printErrors(const Diagnostics &diags, std::string &error) {
  if (diags.all().empty()) // the evaluation was stopped
    return;
  llvm::raw_string_ostream out(error);
  const Diagnostic &first = diags.all().front();
  if (!first.range.isValid() || diags.sourceManager().place(first.range.begin).file == madeProgram)
    out << llvm::StringRef(first.message).split("; --max-").first;
  else
    diags.print(out, false);
}

std::optional<ir::Collective> evaluate(const std::string &implements, const std::vector<std::string> &imports,
                                       const std::function<bool()> &stops, std::string &error) {
  SourceManager sources;
  Diagnostics diags(sources);
  std::string text;
  for (const std::string &import : imports)
    text += "import \"" + import + "\";\n";
  text += "program p implements " + implements + " { }\n";
  sema::SemaOptions options;
  options.stops = stops;
  std::optional<ir::Collective> collective = sema::analyzeCollective(sources, diags, madeProgram, text, options);
  if (!collective)
    printErrors(diags, error);
  return collective;
}

bool fill(Task &task, const Request &request, std::string &error) {
  std::string text = task.implements;
  if (task.hasPlacement) // the front end needs a value instead of the program's param
    text.replace(text.rfind("= inplace"), 9, "= true");
  std::optional<ir::Collective> collective = evaluate(text, task.imports, request.stops, error);
  if (!collective)
    return false;
  if (collective->ranks != task.topology.ranks) {
    error = "'" + task.name + "' has " + std::to_string(collective->ranks) + " ranks, but '" + task.topology.name +
            "' has " + std::to_string(task.topology.ranks);
    return false;
  }
  std::optional<algorithm::Demand> demand = algorithm::demandOf(*collective, error, request.stops);
  if (!demand)
    return false;
  task.collective = std::move(*collective);
  task.demand = std::move(*demand);
  return true;
}

/// Fills in a task for FILE.gc3:NAME(ARGUMENTS).
bool fillCustom(Task &task, const Request &request, std::string &error) {
  const llvm::StringRef spelled = request.collective;
  const size_t open = std::min(spelled.find('('), spelled.size()), colon = spelled.take_front(open).rfind(':');
  task.imports = {spelled.take_front(colon).str()};
  if (task.imports[0].find_first_of("\"\\\n") != std::string::npos) {
    error = "programs can't import '" + task.imports[0] + "': its name has a quote, a backslash or a line break";
    return false;
  }
  task.implements = spelled.drop_front(colon + 1).str();
  if (!llvm::StringRef(task.implements).contains('('))
    task.implements += "()";
  task.name = llvm::StringRef(task.implements).take_until([](char c) { return c == '('; }).trim().str();
  if (!fill(task, request, error))
    return false;
  if (task.demand.combines()) {
    error = "'" + task.name + "' has outputs that are reductions; gc3-synth finds these only for standard collectives";
    return false;
  }
  if (task.demand.chunks() == 0) {
    error = "'" + task.name + "' promises nothing";
    return false;
  }
  task.direct = task.demand;
  return true;
}

bool fillStandard(Task &task, const Request &request, std::string &error) {
  const uint32_t ranks = task.topology.ranks, unit = chunkUnit(task.name, ranks);
  if (task.chunks % unit != 0) {
    error = "'" + task.name + "' on " + std::to_string(ranks) + " ranks needs a multiple of " + std::to_string(unit) +
            " chunks, not " + std::to_string(task.chunks);
    return false;
  }
  // For an Alltoall, the language counts the chunks of a block.
  const uint32_t chunks = task.name == "alltoall" ? task.chunks / unit : task.chunks;
  // In place, a rank of an Alltoall must send data before arriving data overwrites it. So one program for both
  // placements would be slower out of place.
  task.hasPlacement = task.name != "alltoall";
  task.implements = promiseOf(task.name, ranks, chunks, request.root,
                              task.hasPlacement ? "inplace"
                              : request.inPlace ? "true"
                                                : "");
  if (!fill(task, request, error))
    return false;
  const llvm::StringRef other = inverseOf(task.name);
  task.direct = task.demand;
  if (other.empty())
    return true;
  task.derivation = task.name == "allreduce" ? Task::Derivation::InverseThenDirect : Task::Derivation::Inverse;
  std::optional<ir::Collective> collective =
      evaluate(promiseOf(other, ranks, task.name == "allreduce" ? chunks / unit : chunks, request.root, ""), {},
               request.stops, error);
  std::optional<algorithm::Demand> demand =
      collective ? algorithm::demandOf(*collective, error, request.stops) : std::nullopt;
  if (demand)
    task.direct = std::move(*demand);
  return demand.has_value();
}

/// Returns the same algorithm on the reversed topology: each link is replaced by its twin.
algorithm::Algorithm onTwins(algorithm::Algorithm algorithm, const std::vector<uint32_t> &twins) {
  for (algorithm::Send &send : algorithm.sends)
    send.link = twins[send.link];
  return algorithm;
}

Outcome findAllreduce(const Task &task, const Finder &find) {
  Outcome gather = find(task.topology, task.direct);
  if (!gather.algorithm)
    return gather;
  Outcome back = gather;
  if (std::optional<std::vector<uint32_t>> twins = twinLinks(task.topology))
    back.algorithm = onTwins(*gather.algorithm, *twins);
  else
    back = find(topology::reversed(task.topology), task.direct);
  if (back.algorithm)
    back.algorithm = sequence(inverted(*back.algorithm), *gather.algorithm);
  return back;
}

Bounds leastOf(const Task &task, const std::function<bool()> &stops) {
  if (task.derivation == Task::Derivation::Direct)
    return lowerBounds(task.topology, task.direct, stops);
  Bounds bounds = lowerBounds(topology::reversed(task.topology), task.direct, stops);
  if (task.derivation == Task::Derivation::InverseThenDirect) {
    const Bounds gather = lowerBounds(task.topology, task.direct, stops);
    bounds.steps += gather.steps;
    bounds.atLeast = bounds.rounds() + gather.rounds();
    bounds.crossing = bounds.crossing * gather.bandwidth + gather.crossing * bounds.bandwidth;
    bounds.bandwidth *= gather.bandwidth;
    const uint64_t divisor = std::max<uint64_t>(1, std::gcd(bounds.crossing, bounds.bandwidth));
    bounds.crossing /= divisor, bounds.bandwidth /= divisor;
  }
  return bounds;
}

} // namespace

uint32_t chunkUnit(const std::string &collective, uint32_t ranks) {
  return collective == "alltoall" || collective == "allreduce" ? ranks : 1;
}

bool isCustom(const std::string &collective) {
  return collective.find(".gc3:") != std::string::npos;
}

std::optional<Task> makeTask(const topology::Topology &topology, const Request &request, std::string &error) {
  Task task;
  task.topology = topology;
  task.name = request.collective;
  task.chunks = request.chunks;
  error.clear();
  const bool custom = isCustom(request.collective);
  if (custom) {
    task.chunks = 1; // rounds are for the whole collective
  } else if (!common::findStandard(task.name)) {
    std::vector<std::string> names;
    for (const common::StandardCollective &each : common::standardCollectives)
      names.emplace_back(each.name);
    const std::string nearest = suggestion(task.name, names);
    error = "unknown collective '" + task.name + "'" + (nearest.empty() ? "; --help lists them" : nearest);
    return {};
  } else if (request.root != 0 && !common::findStandard(task.name)->hasRoot()) {
    error = "'" + task.name + "' has no root; leave --root out";
    return {};
  }
  if (!(custom ? fillCustom(task, request, error) : fillStandard(task, request, error)))
    return {};
  task.least = leastOf(task, request.stops);
  if (request.stops && request.stops())
    return {};
  return task;
}

bool isShapeOf(const Task &task, Shape shape) {
  return task.derivation != Task::Derivation::InverseThenDirect || (shape.steps % 2 == 0 && shape.rounds % 2 == 0);
}

Outcome findBy(const Task &task, const Finder &find) {
  Outcome outcome;
  switch (task.derivation) {
  case Task::Derivation::Direct: outcome = find(task.topology, task.direct); break;
  case Task::Derivation::Inverse:
    outcome = find(topology::reversed(task.topology), task.direct);
    if (outcome.algorithm)
      outcome.algorithm = inverted(*outcome.algorithm);
    break;
  case Task::Derivation::InverseThenDirect: outcome = findAllreduce(task, find); break;
  }
  return outcome;
}

} // namespace gc3::synth
