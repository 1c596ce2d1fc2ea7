// SPDX-License-Identifier: Apache-2.0
// The programs to choose from: each program of each input, for each combination of its knobs. Each is compiled and
// proved once.
#pragma once

#include "CommandLine.h"
#include "Pipeline.h"
#include "gc3/Topology/Topology.h"

#include <memory>
#include <set>

namespace gc3::tune {

struct Candidate {
  std::string name;         ///< unique: the program's name, and the values of its knobs
  std::string file;         ///< the input
  sema::Assignment defines; ///< values of its knobs
  ir::Program program;      ///< with this name, for all sizes
  verify::Verdict verdict;
  std::string whySimple; ///< why it got the protocol Simple instead of its own; empty: it did not
};

/// A candidate that can't be used.
struct Dropped {
  std::string name, reason;
  bool isEqual = false; ///< it equals another candidate
};

class Candidates {
public:
  /// `line` must outlive this object.
  explicit Candidates(const CommandLine &line) : line(line) {}

  /// Compiles all candidates, several at a time. Searches for further ones on `topology` if the command line requests
  /// it; otherwise `topology` may be null. If times are simulated, programs that the runtime runs under Simple on the
  /// topology get this protocol. Returns an error text, or an empty string. Diagnostics of inputs that have
  /// no usable candidate are part of the text.
  std::string compile(const topology::Topology *topology);

  const std::vector<Candidate> &all() const { return candidates; }
  /// Returns the number in all() of a program of the inputs, which are counted in their order.
  uint32_t numberOf(uint32_t program) const { return numbers[program]; }
  const std::vector<Dropped> &dropped() const { return droppedOnes; }
  /// Returns a line for each reason of the dropped candidates that equal no other: the first one with it, and the
  /// number of the others.
  std::vector<std::string> describeDropped() const;
  /// The files that the compilations have read, perhaps several times each.
  const std::vector<std::string> &filesRead() const { return files; }
  /// Reports a candidate as dropped.
  void drop(uint32_t candidate, const std::string &reason) {
    droppedOnes.push_back({candidates[candidate].name, reason});
  }

private:
  /// One compilation: an input with values for its knobs.
  struct Job {
    std::string file, text;
    driver::From from = driver::From::Source;
    sema::Assignment params;  ///< of the command line
    sema::Assignment defines; ///< values of the knobs
    std::string label;        ///< further end of the programs' names
    // Results
    std::vector<ir::Program> programs;
    std::vector<verify::Verdict> verdicts;
    std::string problem, diagnostics;
    std::vector<std::string> filesRead;
  };
  std::string listJobs();
  std::string listAssignments(const std::string &path, const std::string &text, sema::Assignment &params,
                              std::vector<sema::Assignment> &assignments);
  std::string addSynthesized(const topology::Topology &topology);
  void run(Job &job) const;
  void add(Job &job);
  void useSimple(const topology::Topology &topology);
  void dropMisfits(const topology::Topology &topology);
  void dropEqual();
  bool isTaken(const std::string &name) const;

  const CommandLine &line;
  std::vector<Job> jobs;
  std::vector<Candidate> candidates;
  std::vector<uint32_t> numbers; ///< by program of the inputs: of the candidate that equals it
  std::vector<Dropped> droppedOnes;
  std::vector<std::string> files;
  std::set<std::string> usedParams; ///< of the command line
};

/// Returns a copy of the program with another name and other sizes.
ir::Program renamed(const ir::Program &program, const std::string &name, uint64_t minBytes, uint64_t maxBytes);

} // namespace gc3::tune
