// SPDX-License-Identifier: Apache-2.0
#include "Candidates.h"
#include "Groups.h"
#include "Input.h"
#include "InputKind.h"
#include "MachineCosts.h"
#include "OptionText.h"
#include "gc3/Emit/Bundle.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace gc3::tune {

ir::Program renamed(const ir::Program &program, const std::string &name, uint64_t minBytes, uint64_t maxBytes) {
  auto info = std::make_shared<ir::ProgramInfo>(*program.info);
  info->name = name, info->minBytes = minBytes, info->maxBytes = maxBytes, info->isPinned = false;
  ir::Program copy = program;
  copy.info = std::move(info);
  return copy;
}

/// Returns a program's name with the values of its knobs, such as "ring_channels4_LL". A value that is a word needs no
/// name. A protocol that is not the program's is left out.
static std::string nameOf(const ir::ProgramInfo &program, const sema::Assignment &defines) {
  std::string name = program.name;
  for (const auto &[param, value] : defines) {
    const bool isProtocol = value == "Simple" || value == "LL" || value == "LL128";
    if (isProtocol && value != ir::name(program.protocol))
      continue;
    const bool isWord = !value.empty() && llvm::isAlpha(value[0]) && value != "true" && value != "false";
    name += isWord ? "_" : "_" + param;
    for (char c : value)
      name += llvm::isAlnum(c) ? c : '_';
  }
  return name;
}

static std::string textOf(const sema::Assignment &defines) {
  std::string text;
  for (const auto &[param, value] : defines)
    text += " -D" + param + "=" + value;
  return text;
}

static const Diagnostic *firstError(const Diagnostics &diags) {
  for (const Diagnostic &each : diags.all())
    if (each.severity == Severity::Error)
      return &each;
  return nullptr;
}

/// Sets the params of the command line that a source file has, and the combinations of the other knobs' values. Returns
/// an error text, or an empty string.
std::string Candidates::listAssignments(const std::string &path, const std::string &text, sema::Assignment &params,
                                        std::vector<sema::Assignment> &assignments) {
  SourceManager sources;
  Diagnostics diags(sources);
  sema::SemaOptions options;
  options.includeDirs = line.includeDirs;
  const auto names = sema::listParams(sources, diags, path, text, options);
  if (names)
    params = sim::ownDefines(line.defines, *names, usedParams);
  options.defines = params;
  auto listed = names ? sema::listAssignments(sources, diags, path, text, options, line.mostCandidates) : std::nullopt;
  if (listed) {
    assignments = std::move(*listed);
    return {};
  }
  std::string problem;
  llvm::raw_string_ostream out(problem);
  diags.print(out, false);
  return out.str();
}

/// Reads the inputs, and lists a job for each combination of knobs. Returns an error text, or an empty string.
std::string Candidates::listJobs() {
  for (const std::string &path : line.inputs) {
    std::string problem;
    const auto buffer = driver::readInput(path, driver::mostStreamedText, problem);
    if (!buffer)
      return "cannot read '" + path + "': " + problem;
    const std::string text = buffer->getBuffer().str();
    const driver::From from = driver::kindOf(path, text);
    sema::Assignment params;
    std::vector<sema::Assignment> assignments(1);
    if (from == driver::From::Source)
      if (problem = listAssignments(path, text, params, assignments); !problem.empty())
        return problem;
    for (sema::Assignment &assignment : assignments) {
      Job &job = jobs.emplace_back();
      job.file = path, job.text = text, job.from = from;
      job.params = params, job.defines = std::move(assignment);
    }
    if (jobs.size() > line.mostCandidates)
      return "the inputs have more than " + std::to_string(line.mostCandidates) +
             " combinations of knobs; set some with -D, or permit more with --most-candidates";
  }
  return sim::findUnused(line.defines, usedParams);
}

void Candidates::run(Job &job) const {
  driver::Options options;
  options.input = job.file, options.from = job.from;
  options.sema.defines = job.params, options.sema.includeDirs = line.includeDirs;
  options.sema.sizeCheck = ir::SizeCheck::None; // the chosen programs get new sizes
  options.sema.defines.insert(options.sema.defines.end(), job.defines.begin(), job.defines.end());
  options.schedule.maxThreadBlocks = line.maxThreadBlocks;
  driver::Session session(options);
  driver::Pipeline pipeline(session);
  std::string bundle;
  const bool isCompiled = pipeline.compile(job.text, bundle);
  job.filesRead = session.filesRead;
  if (isCompiled && !session.diags.hasErrors()) {
    job.programs = pipeline.allPrograms();
    job.verdicts = pipeline.allVerdicts();
    return;
  }
  const Diagnostic *error = firstError(session.diags);
  job.problem = error ? error->message : "it doesn't compile";
  llvm::raw_string_ostream out(job.diagnostics);
  session.diags.print(out, false);
}

bool Candidates::isTaken(const std::string &name) const {
  return name == "nccl" ||
         std::any_of(candidates.begin(), candidates.end(), [&](const Candidate &each) { return each.name == name; });
}

/// Adds the programs of a job under unique names.
void Candidates::add(Job &job) {
  if (!job.problem.empty())
    droppedOnes.push_back({job.file + textOf(job.defines), job.problem});
  for (size_t i = 0; i < job.programs.size(); ++i) {
    const std::string plain = nameOf(*job.programs[i].info, job.defines) + job.label;
    std::string name = plain;
    for (unsigned number = 2; isTaken(name); ++number)
      name = plain + "_" + std::to_string(number);
    candidates.push_back({name, job.file, job.defines, renamed(job.programs[i], name, 0, ir::ProgramInfo::NoLimit),
                          std::move(job.verdicts[i]), ""});
  }
  files.insert(files.end(), job.filesRead.begin(), job.filesRead.end());
  job.programs.clear(), job.text.clear(), job.filesRead.clear();
}

/// Gives programs the protocol Simple if the runtime replaces their own by it on the topology. Their names say so. They
/// come after the others, which stay if both are equal.
void Candidates::useSimple(const topology::Topology &topology) {
  const simulate::Fabric fabric(topology);
  for (Candidate &each : candidates) {
    if (each.program.ranks() == topology.ranks)
      each.whySimple = driver::whySimple(each.program, fabric);
    if (each.whySimple.empty())
      continue;
    std::string name = each.name + "_as_Simple";
    while (isTaken(name))
      name += '_';
    each.program = renamed(each.program, name, 0, ir::ProgramInfo::NoLimit);
    auto info = std::make_shared<ir::ProgramInfo>(*each.program.info);
    info->protocol = ir::Protocol::Simple;
    each.program.info = std::move(info), each.name = std::move(name);
  }
  std::stable_partition(candidates.begin(), candidates.end(),
                        [](const Candidate &each) { return each.whySimple.empty(); });
}

/// Drops candidates that are for other nodes than those of the topology.
void Candidates::dropMisfits(const topology::Topology &topology) {
  const core::Wiring wiring = sim::wiringOf(topology);
  std::erase_if(candidates, [&](const Candidate &each) {
    const ir::ProgramInfo &info = *each.program.info;
    if (info.nodes == 0 || core::Wiring::ofBlocks(each.program.ranks(), info.nodes) == wiring)
      return false;
    droppedOnes.push_back({each.name, "it is for " + core::Wiring::ofBlocks(each.program.ranks(), info.nodes).text() +
                                          ", but topology '" + topology.name + "' has " + wiring.text()});
    return true;
  });
}

/// Drops candidates that are equal to an earlier one, as for values of a knob that a program does not use.
void Candidates::dropEqual() {
  llvm::StringMap<uint32_t> numberOfProgram;
  std::vector<Candidate> different;
  for (Candidate &each : candidates) {
    const ir::Program nameless = renamed(each.program, "", 0, ir::ProgramInfo::NoLimit);
    const std::string bytes = emit::writeBundle({{&nameless, 0, 0, false}}, "");
    const auto [same, isNew] = numberOfProgram.try_emplace(bytes, static_cast<uint32_t>(different.size()));
    numbers.push_back(same->second);
    if (isNew)
      different.push_back(std::move(each));
    else
      droppedOnes.push_back({each.name,
                             "it is the same program as '" + different[same->second].name + "'" +
                                 (each.whySimple.empty() ? "" : " under Simple: " + each.whySimple),
                             true});
  }
  candidates = std::move(different);
}

/// Returns a reason without the name of its program and without numbers, which differ between candidates.
static std::string withoutName(const Dropped &dropped) {
  std::string reason = dropped.reason;
  if (const size_t begin = reason.find("'" + dropped.name + "'"); begin != std::string::npos)
    reason.erase(begin, dropped.name.size() + 2);
  std::erase_if(reason, llvm::isDigit);
  return reason;
}

std::vector<std::string> Candidates::describeDropped() const {
  std::vector<std::string> lines;
  std::vector<unsigned> others; // by line
  llvm::StringMap<size_t> lineOfReason;
  for (const Dropped &each : droppedOnes) {
    if (each.isEqual)
      continue;
    const auto [known, isNew] = lineOfReason.try_emplace(withoutName(each), lines.size());
    if (isNew)
      lines.push_back(each.name + ": " + each.reason), others.push_back(0);
    else
      ++others[known->second];
  }
  for (size_t i = 0; i < lines.size(); ++i)
    if (others[i] != 0)
      lines[i] += " (and " + std::to_string(others[i]) + " more for such a reason)";
  return lines;
}

std::string Candidates::compile([[maybe_unused]] const topology::Topology *topology) {
  if (std::string problem = listJobs(); !problem.empty())
    return problem;
#ifdef GC3_TUNE_SYNTH
  if (!line.synthesize.empty())
    if (std::string problem = addSynthesized(*topology); !problem.empty())
      return problem;
#endif
  {
    llvm::ThreadPool threads(llvm::hardware_concurrency(line.jobs));
    for (Job &job : jobs)
      threads.async([this, &job] { run(job); });
    threads.wait();
  }
  for (Job &job : jobs)
    add(job);
  if (candidates.empty())
    return jobs.front().diagnostics + "no candidate compiles";
  if (topology && line.timing == Timing::Simulator) {
    useSimple(*topology);
    dropMisfits(*topology);
  }
  if (candidates.empty())
    return "no candidate is for the nodes of the topology: " + droppedOnes.back().reason;
  dropEqual();
  return {};
}

} // namespace gc3::tune
