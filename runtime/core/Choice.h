// SPDX-License-Identifier: Apache-2.0
// The application's choice of programs: the list of GC3_PROGRAM, and a tuner function. Without either, sizes decide.
#pragma once

#include "core/Request.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace gc3::core {

struct ChoiceOptions {
  std::string programs; ///< the list; empty: no list
  gc3Tuner_t tuner = nullptr;
  void *tunerData = nullptr;
};

class Choice {
public:
  /// Reads a list of items, separated by commas. An item is `PROGRAM` or `COLLECTIVE:PROGRAM`. `COLLECTIVE:none` lists
  /// the collective with no program; `none` alone does so for every collective that no other item names. Returns
  /// gc3InvalidArgument if no bundle has a program or collective that an item names.
  static Result<Choice> make(const ChoiceOptions &options, std::span<const bundle::BundleFile *const> files);

  /// Returns whether the list applies to the collective. Then only the programs in the list serve it, and the first of
  /// them does if none is for the size.
  bool isListed(std::string_view collective) const { return areOthersListed || byCollective.count(collective) != 0; }
  /// Returns whether the list allows the program for this collective.
  bool allows(std::string_view collective, std::string_view program) const;

  /// Returns whether there is a tuner.
  bool hasTuner() const { return options.tuner != nullptr; }
  struct TunerQuery {
    const Request &request;
    uint32_t ranks;
    uint64_t bytes;
    std::span<const char *const> programs;
    std::optional<size_t> bySize; ///< the program that sizes select
  };
  /// Asks the tuner. Returns nothing if the tuner chooses none of the programs. Returns gc3InvalidUsage if its answer
  /// is out of range.
  Result<std::optional<size_t>> queryTuner(const TunerQuery &query) const;

private:
  bool add(std::string_view item, std::span<const bundle::BundleFile *const> files);

  ChoiceOptions options;
  bool areOthersListed = false; ///< collectives that no item names count as listed, with no program
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> byCollective;
};

} // namespace gc3::core
