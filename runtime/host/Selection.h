// SPDX-License-Identifier: Apache-2.0
// The dispatch table: which program serves a call. A pure function of the collective, bytes, ranks and root, equal on
// all ranks. Programs are loaded when they are first considered and stay loaded.
#pragma once

#include "host/Request.h"
#include "host/Transfers.h"

#include <memory>
#include <vector>

namespace gc3::host {

/// A loaded program, which standard collective it serves, and what its messages may do in calls of either placement.
struct LoadedProgram {
  std::unique_ptr<Program> program;
  const StandardCollective *standard = nullptr; ///< null where it has not that shape
  int root = -1;
  std::shared_ptr<const Transfers> asWritten, inPlace; ///< the same one where calls in place are not analysed

  /// Sets the last two; needs the others.
  void analyse();
};

class Selection {
public:
  Selection(const bundle::BundleFile &bundle, uint32_t rankCount)
      : file(bundle), ranks(rankCount), loaded(bundle.programCount()) {}

  /// The program for a valid request; it stays where it is as long as this does.
  Outcome select(const Request &request, const LoadedProgram *&chosen);

private:
  Outcome load(uint32_t index, const LoadedProgram *&program);
  Outcome noProgram(const Request &request, const std::string &closest) const;

  const bundle::BundleFile &file;
  const uint32_t ranks;
  std::vector<std::unique_ptr<LoadedProgram>> loaded; ///< by program of the bundle
};

} // namespace gc3::host
