// SPDX-License-Identifier: Apache-2.0
// The dispatch table: which program serves a call. A pure function of the collective, bytes, ranks and root, and of
// what users say, all of which is equal on all ranks. Programs are loaded when they are first considered and stay
// loaded.
#pragma once

#include "core/Choice.h"
#include "core/Transfers.h"

#include <memory>
#include <vector>

namespace gc3::core {

/// A loaded program, which standard collective it serves, and what its messages may do in calls of either placement.
struct LoadedProgram {
  std::unique_ptr<Program> program;
  const common::StandardCollective *standard = nullptr; ///< null where it has not that shape
  int root = -1;
  bool kept = false;                                   ///< it is known to promise what that collective promises
  std::shared_ptr<const Transfers> asWritten, inPlace; ///< the same one where calls in place are not analysed

  /// Sets the last two, unless they are; needs the others.
  void analyse();
};

class Selection {
public:
  /// With `trusting`, programs serve calls of their collective whatever they promise.
  Selection(const bundle::BundleFile &bundle, uint32_t rankCount, bool trusting, Choice users = {})
      : file(bundle), ranks(rankCount), trusts(trusting), choice(std::move(users)), loaded(bundle.programCount()) {}

  /// The program for a valid request; it stays where it is as long as this does. One that users list may be for other
  /// sizes, but with `bySize`.
  Result<const LoadedProgram *> select(const Request &request, bool bySize = false);

  /// A program of the bundle, for so many ranks; not analysed before it is selected.
  Result<const LoadedProgram *> load(uint32_t index);

private:
  /// The programs that can serve a request.
  struct Candidates {
    std::vector<uint32_t> programs;
    std::optional<size_t> bySize; ///< the first of them that is for this size
    uint64_t bytes = 0;           ///< of the call
    std::string closest;          ///< what the others lack
  };
  bool isNamed(uint32_t index, const Request &request) const;
  Outcome weigh(uint32_t index, const Request &request, Candidates &candidates);
  Result<std::optional<size_t>> choose(const Request &request, Candidates &candidates, bool bySize) const;
  Outcome checkPromise(uint32_t index) const;
  Outcome noProgram(const Request &request, const std::string &closest) const;

  const bundle::BundleFile &file;
  const uint32_t ranks;
  const bool trusts;
  const Choice choice;
  std::vector<std::unique_ptr<LoadedProgram>> loaded; ///< by program of the bundle
};

} // namespace gc3::core
