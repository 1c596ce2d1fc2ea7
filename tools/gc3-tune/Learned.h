// SPDX-License-Identifier: Apache-2.0
// Times the programs of a bundle by what jobs have learned (docs/learned-times.md), and gives them the ranges of sizes
// in which they are the fastest.
#pragma once

#include "Contest.h"
#include "select/TuneFile.h"

namespace gc3::tune {

class Learned {
public:
  /// Reads a file of learned times, and the bundle that it is for. Returns an error text, or an empty string.
  std::string open(const std::string &file, const std::string &bundle);

  /// Chooses the programs of all contests. `candidates` has the programs of the bundle. Returns an error text, or an
  /// empty string.
  std::string run(const CommandLine &line, const Candidates &candidates, std::vector<Contest> &contests) const;

private:
  struct Own;
  std::vector<Own> programsOf(const Candidates &candidates, const Contest &contest) const;
  void time(const std::vector<Own> &own, Contest &contest) const;
  void serve(const std::vector<Own> &own, Contest &contest) const;
  void keepOthers(const std::vector<Own> &own, Contest &contest) const;

  std::unique_ptr<bundle::BundleFile> file;
  select::TuneFile times;
};

} // namespace gc3::tune
