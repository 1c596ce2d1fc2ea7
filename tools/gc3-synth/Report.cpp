// SPDX-License-Identifier: Apache-2.0
// Describes trials, and writes the files of programs. Each program of a frontier serves the sizes for which it is the
// fastest. Given the topology's alpha and beta, a program's time is a linear function of the size. The lower envelope
// of these functions determines the sizes.
#include "Report.h"
#include "gc3/Algorithm/Print.h"
#include "gc3/Support/JsonWriter.h"
#include "gc3/Support/Quantity.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <numeric>

namespace gc3::synth {

namespace {

const char *word(Verdict verdict) {
  switch (verdict) {
  case Verdict::Satisfiable: return "satisfiable";
  case Verdict::Unsatisfiable: return "unsatisfiable";
  case Verdict::Unknown: return "unknown";
  }
  return "";
}

std::string stateOf(const Trial &trial) {
  if (trial.tries)
    return "no result after " + std::to_string(*trial.tries) + (*trial.tries == 1 ? " try" : " tries");
  return trial.isGreedy && trial.outcome.algorithm ? "found" : word(trial.outcome.verdict);
}

std::string instanceOf(const Trial &trial) {
  std::string chunks = quantity(trial.task.chunks, "chunk");
  if (trial.isGreedy && !trial.outcome.algorithm)
    return chunks;
  return chunks + ", " + quantity(trial.shape.steps, "step") + ", " + quantity(trial.shape.rounds, "round");
}

/// Returns in which respects the algorithm is proven optimal; empty if in none. For an Allreduce, the comparison is
/// only with algorithms that consist of a Reducescatter and an Allgather.
std::string optimality(const Trial &trial) {
  std::string text;
  if (trial.fewestSteps)
    text = "latency-optimal";
  if (trial.fewestRounds)
    text += std::string(text.empty() ? "" : " and ") + "bandwidth-optimal";
  const bool isComposed = trial.task.derivation == Task::Derivation::InverseThenDirect;
  return text.empty() || !isComposed ? text : text + " among algorithms of a reduce_scatter and an allgather";
}

static llvm::StringRef nameOf(Method method) {
  switch (method) {
  case Method::Solver: return "solver";
  case Method::Greedy: return "greedy";
  case Method::Flow: return "flow";
  }
  llvm_unreachable("every method has a name");
}

/// Returns text with the lower bound on the rounds, for an algorithm of the greedy search. Returns an empty string for
/// other searches, or if the algorithm has the fewest rounds.
std::string roundsNeeded(const Trial &trial) {
  if (!trial.isGreedy || trial.fewestRounds)
    return "";
  const uint64_t least = std::max<uint64_t>(trial.least.rounds(), trial.least.steps);
  const bool isComposed = trial.task.derivation == Task::Derivation::InverseThenDirect;
  const std::string subject = isComposed ? "no algorithm of a reduce_scatter and an allgather" : "no algorithm";
  return subject + " has fewer" + (least == trial.cost.rounds ? " rounds" : " than " + quantity(least, "round"));
}

std::string fraction(uint64_t numerator, uint64_t denominator) {
  const uint64_t divisor = std::gcd(numerator, denominator);
  const std::string text = std::to_string(numerator / divisor);
  return denominator == divisor ? text : text + "/" + std::to_string(denominator / divisor);
}

/// Returns words that describe the bytes L in the paper's cost.
std::string costUnit(const Task &task) {
  if (task.name == "allgather" || task.name == "gather")
    return "that each rank contributes";
  if (task.name == "reduce_scatter" || task.name == "scatter")
    return "that each rank receives";
  return task.imports.empty() ? "of the buffer" : "of a chunk";
}

std::string identifier(const std::string &text) {
  std::string result;
  for (char c : text)
    result += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return result;
}

/// Returns the number of chunks in the larger of a rank's buffers. The size of a call is the size of that buffer.
uint32_t chunksOfCall(const Task &task) {
  return std::max(task.collective.input.total(), task.collective.output.total());
}

/// Returns the estimated time of a call of `bytes` bytes, in microseconds.
double microsecondsOf(const Trial &trial, double bytes) {
  return trial.cost.steps * trial.task.topology.alpha() +
         trial.cost.rounds * trial.task.topology.beta() * bytes / 1e6 / chunksOfCall(trial.task);
}

/// A program and the first size for which it is the fastest.
struct Choice {
  const Trial *trial;
  uint64_t from;
};

/// Returns the fastest programs, in the order of their sizes. Trials must be sorted so that steps increase and rounds
/// per chunk decrease.
std::vector<Choice> envelope(const Result &result) {
  std::vector<Choice> choices;
  for (size_t index : result.found) {
    const Trial &trial = result.trials[index];
    uint64_t from = 0;
    while (!choices.empty()) {
      const Trial &before = *choices.back().trial;
      const double steeper = microsecondsOf(before, 1e6) - microsecondsOf(before, 0) - microsecondsOf(trial, 1e6) +
                             microsecondsOf(trial, 0);
      const double meet = steeper > 0 ? (microsecondsOf(trial, 0) - microsecondsOf(before, 0)) / steeper * 1e6 : 1e18;
      from = static_cast<uint64_t>(std::ceil(std::clamp(meet, 0.0, 1e18)));
      if (from > choices.back().from)
        break;
      choices.pop_back(); // never the fastest
      from = 0;
    }
    if (from < uint64_t(1e18))
      choices.push_back({&trial, from});
  }
  return choices;
}

std::string sizesOf(const std::vector<Choice> &choices, size_t i) {
  if (choices.size() == 1)
    return "";
  return std::to_string(choices[i].from) + " .. " +
         (i + 1 < choices.size() ? std::to_string(choices[i + 1].from) : "1 << 62");
}

/// Describes the file whose first program is the result of `trial`. One method finds all programs of a file.
std::vector<std::string> aboutFile(const CommandLine &line, const Trial &trial) {
  const Task &task = trial.task;
  const topology::Topology &topology = task.topology;
  std::string alpha, beta;
  llvm::raw_string_ostream(alpha) << llvm::format("%g", topology.alpha());
  llvm::raw_string_ostream(beta) << llvm::format("%g", topology.beta());
  return {task.name + " on " + topology.name + ": " + quantity(topology.ranks, "rank") + ", " +
              quantity(topology.linkCount(), "link") +
              (topology.boundCount() ? ", " + quantity(topology.boundCount(), "bound") : "") + ", alpha = " + alpha +
              " us, beta = " + beta + " us/MB.",
          "Made by gc3-synth " GC3_VERSION + (trial.method == Method::Solver ? " with " + solverVersion() : "") + ":",
          "  " + line.spelled};
}

std::string aboutProgram(const Trial &trial) {
  const Task &task = trial.task;
  const std::string shown = optimality(trial);
  std::string text = quantity(task.chunks, "chunk") + " in " + quantity(trial.cost.steps, "step") + " of " +
                     quantity(trial.cost.rounds, "round") + " in all: " + std::to_string(trial.cost.steps) +
                     " alpha + " + fraction(trial.cost.rounds, task.chunks) + " L beta, for L bytes " + costUnit(task);
  const std::string needed = roundsNeeded(trial);
  return text + (shown.empty() ? "" : "; " + shown) + (needed.empty() ? "" : "; " + needed) + ".";
}

/// Returns the path by which a program in the file `out` must import the file at `path`.
std::string importPath(const std::string &path, const std::string &out) {
  std::error_code error;
  if (out == "-" || std::filesystem::path(path).is_absolute())
    return path;
  const std::filesystem::path folder = std::filesystem::path(out).parent_path();
  const std::filesystem::path relative = std::filesystem::relative(path, folder.empty() ? "." : folder, error);
  return error || relative.empty() ? path : relative.string();
}

void writeTrial(JsonWriter &json, const Trial &trial) {
  json.object([&] {
    json.key("chunks");
    json.value(trial.task.chunks);
    json.key("steps");
    json.value(trial.shape.steps);
    json.key("rounds");
    json.value(trial.shape.rounds);
    json.key("method");
    json.value(nameOf(trial.method));
    json.key("leastSteps");
    json.value(trial.least.steps);
    json.key("leastRounds");
    json.value(static_cast<int64_t>(trial.least.rounds()));
    json.key("verdict");
    json.value(llvm::StringRef(word(trial.outcome.verdict)));
    json.key("milliseconds");
    json.value(static_cast<int64_t>(std::llround(trial.seconds * 1000)));
    json.key("latencyOptimal");
    json.boolean(trial.outcome.algorithm && trial.fewestSteps);
    json.key("bandwidthOptimal");
    json.boolean(trial.outcome.algorithm && trial.fewestRounds);
    if (!trial.outcome.algorithm)
      return;
    json.key("foundSteps");
    json.value(trial.cost.steps);
    json.key("foundRounds");
    json.value(trial.cost.rounds);
    json.key("sends");
    json.value(static_cast<int64_t>(trial.outcome.algorithm->sends.size()));
    json.key("roundsOfSteps");
    json.array([&] {
      for (uint32_t rounds : trial.outcome.algorithm->rounds)
        json.value(rounds);
    });
  });
}

} // namespace

std::string describe(const Trial &trial) {
  std::string seconds;
  llvm::raw_string_ostream(seconds) << llvm::format("%.2f s", trial.seconds);
  std::string text = trial.task.name + " on " + trial.task.topology.name + ", " + instanceOf(trial) + ": " +
                     stateOf(trial) + ", " + seconds;
  if (trial.outcome.verdict == Verdict::Unsatisfiable && trial.task.derivation == Task::Derivation::InverseThenDirect)
    text += ", as two halves of equal steps and rounds";
  if (trial.outcome.algorithm && (trial.cost.steps != trial.shape.steps || trial.cost.rounds != trial.shape.rounds))
    text += ", with " + quantity(trial.cost.steps, "step") + " and " + quantity(trial.cost.rounds, "round");
  if (trial.outcome.algorithm)
    for (const std::string &shown : {optimality(trial), roundsNeeded(trial)})
      text += shown.empty() ? "" : ", " + shown;
  return text;
}

std::string programs(const CommandLine &line, const Result &result) {
  std::string text;
  llvm::raw_string_ostream out(text);
  const std::vector<Choice> choices = envelope(result);
  for (size_t i = 0; i < choices.size(); ++i) {
    const Trial &trial = *choices[i].trial;
    algorithm::ProgramText program;
    if (i == 0)
      program.comment = aboutFile(line, trial);
    else
      out << '\n';
    if (i == 0)
      program.comment.insert(program.comment.end(), {"", aboutProgram(trial)});
    else
      program.comment = {aboutProgram(trial)};
    if (i == 0)
      for (const std::string &import : trial.task.imports)
        program.imports.push_back(importPath(import, line.out));
    program.name = identifier(trial.task.name + "_" + trial.task.topology.name);
    if (!trial.task.imports.empty()) // an imported file may already define `at`
      program.at += "_" + program.name;
    if (choices.size() > 1)
      program.name += "_" + std::to_string(trial.cost.steps) + "_" + std::to_string(trial.cost.rounds);
    program.implements = trial.task.implements;
    program.isFirst = i == 0;
    program.declaresPlacement = trial.task.hasPlacement && i == 0;
    program.protocol = line.protocol, program.sizes = sizesOf(choices, i);
    print(out, trial.task.topology, trial.task.collective, trial.task.demand, *trial.outcome.algorithm, program);
  }
  return out.str();
}

std::string json(const CommandLine &line, const Result &result) {
  std::string text;
  llvm::raw_string_ostream out(text);
  JsonWriter json(out);
  json.object([&] {
    json.key("topology");
    json.value(llvm::StringRef(line.topology));
    json.key("collective");
    json.value(llvm::StringRef(line.collective));
    json.key("solver");
    json.value(llvm::StringRef(solverVersion()));
    json.key("seed");
    json.value(line.seed);
    json.key("complete");
    json.boolean(result.isComplete);
    json.key("trials");
    json.array([&] {
      for (const Trial &trial : result.trials)
        writeTrial(json, trial);
    });
  });
  out << '\n';
  return out.str();
}

} // namespace gc3::synth
