// SPDX-License-Identifier: Apache-2.0
// The programs in the FILES of --fit, and which of them a measured call ran.
#pragma once

#include "CommandLine.h"
#include "Groups.h"
#include "Programs.h"
#include "ReadResults.h"

namespace gc3::sim {

/// Returns a description of a row for messages, such as "1024 bytes of 'ring' on 8 ranks".
std::string placeOf(const Measured &measured);

class FitPrograms {
public:
  /// Programs have run on `topology`. `line` and `topology` must outlive this object.
  FitPrograms(const CommandLine &line, const topology::Topology &topology) : line(line), topology(topology) {}

  /// Reads the files. Skips those without the collective of the command line. Returns an error text, or an empty
  /// string. If `isPrinted` becomes true, the error is printed already.
  std::string read(bool &isPrinted);

  /// Returns the program that a row names, or that serves its size. Returns null after an error, which is in `error`.
  const core::Program *find(const Measured &measured, std::string &error) const;

private:
  /// What of a row no program has. Programs are compared in this order.
  enum class Lack : uint8_t { Collective, Ranks, Root, Name, Size };
  struct File {
    std::unique_ptr<Programs> programs;
    std::unique_ptr<Groups> groups;
  };
  static const char *textOf(Lack lack);
  static const core::Program *findIn(const Groups &groups, const Group &group, const Measured &measured, Lack &lack);
  bool isAmbiguous(const Measured &measured) const;

  const CommandLine &line;
  const topology::Topology &topology;
  std::vector<File> files;
};

} // namespace gc3::sim
