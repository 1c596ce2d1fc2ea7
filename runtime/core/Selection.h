// SPDX-License-Identifier: Apache-2.0
// Selects the program that serves a call. The result depends only on the collective, bytes, ranks, root, the wiring of
// the ranks, and the application's choice. These are identical on all ranks, so all ranks select the same program. A
// program is loaded when it is first considered, and stays loaded.
#pragma once

#include "core/ArmSource.h"
#include "core/Choice.h"
#include "core/Transfers.h"
#include "core/Wiring.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gc3::core {

/// A loaded program, the standard collective that it serves, and the analyses of its messages.
struct LoadedProgram {
  std::unique_ptr<Program> program;
  const common::StandardCollective *standard = nullptr; ///< null: the program has no standard shape
  int root = -1;
  bool isPromiseChecked = false; ///< a check has found that the program promises what the collective promises
  std::shared_ptr<const Transfers> asWritten, inPlace; ///< the same object if calls in place are not analysed

  /// Sets `asWritten` and `inPlace`, unless they are set. The other fields must be set.
  void analyse();
};

class Selection final : public ArmSource {
public:
  /// If `trusting` is true, a program serves calls of a standard collective even if it promises something else.
  Selection(const bundle::BundleFile &bundle, uint32_t rankCount, bool trusting, Choice users = {})
      : file(bundle), ranks(rankCount), trustsPromises(trusting), choice(std::move(users)),
        loaded(bundle.programCount()) {}

  /// Sets the wiring of the ranks, and renumbers the ranks of programs if it requires this. Call this before the other
  /// functions, except load(). Later calls must have the same wiring, and do nothing. Without a wiring, programs for
  /// one serve only calls by their names.
  void setWiring(const Wiring &known);

  /// Returns the program for a valid request: the first one for exactly this wiring that is for the call's size, else
  /// the first one for any wiring that is for the size. The pointer is valid as long as this object. GC3_PROGRAM can
  /// list programs for the collective of which none is for the call's size. Then returns the first listed program,
  /// unless `bySize` is true.
  Result<const LoadedProgram *> select(const Request &request, bool bySize = false);

  Result<CallArms> arms(const Request &request) override;
  const Program *programOf(uint32_t index) override { return use(index).program.get(); }

  /// Returns program `index` of the bundle. The program is not analysed until select() or use() returns it.
  Result<const LoadedProgram *> load(uint32_t index);
  /// Returns one of the programs of arms(), ready to serve a call.
  const LoadedProgram &use(uint32_t index);

private:
  /// The programs of the bundle that can serve a request.
  struct Candidates {
    std::vector<uint32_t> programs;
    std::optional<size_t> bySize; ///< index in `programs` of the first program for the call's size
    uint64_t bytes = 0;           ///< size of the call
    std::string rejections;       ///< text for an error message: why programs do not fit
  };
  Result<std::vector<uint32_t>> implementations(const Request &request) const;
  std::vector<uint32_t> withName(std::string_view name) const;
  Result<const std::vector<uint32_t> *> findNamed(const Request &request);
  Result<Candidates> candidates(const Request &request, bool all);
  Outcome addCandidate(uint32_t index, const Request &request, Candidates &candidates);
  Result<std::optional<size_t>> choose(const Request &request, Candidates &candidates, bool bySize) const;
  Outcome checkPromise(uint32_t index) const;
  Outcome noProgram(const Request &request, const std::string &rejections) const;

  const bundle::BundleFile &file;
  const uint32_t ranks;
  const bool trustsPromises;
  const Choice choice;
  Wiring wiring;
  std::vector<std::unique_ptr<LoadedProgram>> loaded; ///< indexed by program of the bundle; null: not loaded
  /// By CallKind: the programs that a call's name means, sorted by their fit to the wiring. Calls repeat few names, so
  /// each is resolved only once.
  std::array<std::map<std::string, std::vector<uint32_t>, std::less<>>, callKindCount> named;
};

} // namespace gc3::core
