// SPDX-License-Identifier: Apache-2.0
// The dispatch table: which program serves a call. A pure function of the collective, bytes, ranks and root, equal on
// all ranks. Programs are loaded when they are first considered and stay loaded, with the layouts and state of their
// runs.
#pragma once

#include "host/Request.h"
#include "host/Run.h"

#include <memory>
#include <vector>

namespace gc3::host {

/// A loaded program and what its calls reuse.
struct LoadedProgram {
  std::unique_ptr<Program> program;
  const StandardCollective *standard = nullptr; ///< null where it has not that shape
  int root = -1;
  Layout layout; ///< of the last call
  std::unique_ptr<Run> run;
};

class Selection {
public:
  Selection(const bundle::BundleFile &bundle, uint32_t rankCount)
      : file(bundle), ranks(rankCount), loaded(bundle.programCount()) {}

  /// The program for a valid request. The last decision is remembered, so that a repeated call costs a comparison.
  Outcome select(const Request &request, LoadedProgram *&chosen);

private:
  Outcome load(uint32_t index, LoadedProgram *&program);
  Outcome noProgram(const Request &request, const std::string &closest) const;

  const bundle::BundleFile &file;
  const uint32_t ranks;
  std::vector<std::unique_ptr<LoadedProgram>> loaded; ///< by program of the bundle
  std::string lastName;
  Request last;
  LoadedProgram *lastChosen = nullptr;
};

} // namespace gc3::host
