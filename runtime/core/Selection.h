// SPDX-License-Identifier: Apache-2.0
// Selects the program that serves a call. A pure function of the collective, bytes, ranks, root, and the application's
// choice, which are all identical on all ranks. A program is loaded when it is first considered, and stays loaded.
#pragma once

#include "core/Choice.h"
#include "core/Transfers.h"

#include <memory>
#include <vector>

namespace gc3::core {

/// A loaded program, the standard collective that it serves, and how its messages can be moved in calls of either
/// placement.
struct LoadedProgram {
  std::unique_ptr<Program> program;
  const common::StandardCollective *standard = nullptr; ///< null: the program has no standard shape
  int root = -1;
  bool isPromiseChecked = false; ///< the program was checked to promise what the collective promises
  std::shared_ptr<const Transfers> asWritten, inPlace; ///< the same object if calls in place are not analysed

  /// Sets the last two fields unless they are set. The other fields must be set.
  void analyse();
};

class Selection {
public:
  /// If `trusting` is true, a program serves calls of its collective whatever it promises.
  Selection(const bundle::BundleFile &bundle, uint32_t rankCount, bool trusting, Choice users = {})
      : file(bundle), ranks(rankCount), trustsPromises(trusting), choice(std::move(users)),
        loaded(bundle.programCount()) {}

  /// Returns the program for a valid request. The pointer is valid as long as this object. A program of the
  /// application's list can be selected for a size that it does not name, unless `bySize` is true.
  Result<const LoadedProgram *> select(const Request &request, bool bySize = false);

  /// Returns program `index` of the bundle. It is not analysed before select() returns it.
  Result<const LoadedProgram *> load(uint32_t index);

private:
  /// The programs that can serve a request.
  struct Candidates {
    std::vector<uint32_t> programs;
    std::optional<size_t> bySize; ///< index in `programs` of the first one for this size
    uint64_t bytes = 0;           ///< size of the call
    std::string rejections;       ///< for an error message: why the other programs do not fit
  };
  bool isNamed(uint32_t index, const Request &request) const;
  Outcome addCandidate(uint32_t index, const Request &request, Candidates &candidates);
  Result<std::optional<size_t>> choose(const Request &request, Candidates &candidates, bool bySize) const;
  Outcome checkPromise(uint32_t index) const;
  Outcome noProgram(const Request &request, const std::string &rejections) const;

  const bundle::BundleFile &file;
  const uint32_t ranks;
  const bool trustsPromises;
  const Choice choice;
  std::vector<std::unique_ptr<LoadedProgram>> loaded; ///< by program of the bundle
};

} // namespace gc3::core
