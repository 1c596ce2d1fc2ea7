// SPDX-License-Identifier: Apache-2.0
// The application's choice of programs: the list in GC3_PROGRAM, and a tuner function. Both are optional. Without them
// gc3 selects a program by the size of the call.
#pragma once

#include "core/Identity.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace gc3::core {

struct ChoiceOptions {
  std::string programs; ///< the list; empty: no list
  std::string name;     ///< of the communicator; empty: it has none
  uint64_t nodes = 0; ///< on which the ranks are, in consecutive blocks; 0: the communicator finds out (core/Wiring.h)
  gc3Tuner_t tuner = nullptr;
  gc3TunerTimes_t tunerTimes = nullptr;
  void *tunerData = nullptr;
};

class Choice {
public:
  /// Reads a list of items, separated by commas. An item is `PROGRAM` or `COLLECTIVE:PROGRAM`. An item
  /// `COLLECTIVE:none` lists the collective, but allows no program for it. An item `none` does this for every
  /// collective that no other item names. COLLECTIVE is a form, as in calls. An item `COMMUNICATOR:COLLECTIVE:PROGRAM`
  /// is only for communicators whose names match the pattern COMMUNICATOR. There it replaces the other items for its
  /// collective; an empty COLLECTIVE stands for all. Returns gc3InvalidArgument if an item is malformed, if no bundle
  /// has a program or collective that an item for the communicator names, or if the collective of such an item can have
  /// several meanings.
  static Result<Choice> make(const ChoiceOptions &options, Files files);

  /// Returns whether a list has items for communicators by their names.
  static bool dependsOnName(std::string_view list);

  /// Returns whether the list names the program's collective, or has the item `none`. Then only listed programs serve
  /// the collective. If no listed program is for the size of a call, the first listed program serves the call.
  bool isListed(const bundle::fbs::Program &program) const { return listed(program) || areOthersListed; }
  /// Returns whether the list names the standard collective, or has the item `none`.
  bool isListed(const common::StandardCollective &standard) const {
    return byCollective.count(standard.name) != 0 || areOthersListed;
  }
  /// Returns whether the list allows the program for its collective.
  bool allows(const bundle::fbs::Program &program) const;

  /// Returns whether there is a tuner.
  bool hasTuner() const { return options.tuner != nullptr; }
  struct TunerQuery {
    const Request &request;
    uint32_t ranks;
    uint64_t bytes;
    std::span<const char *const> programs;
    std::optional<size_t> bySize; ///< index of the program that gc3 would select by size
  };
  /// Calls the tuner. Returns the index of the chosen program, or nothing if the tuner chooses none of the programs.
  /// Returns gc3InvalidUsage if its result is out of range.
  Result<std::optional<size_t>> queryTuner(const TunerQuery &query) const;

private:
  using Names = std::set<std::string, std::less<>>;
  /// An item of the list. The views are parts of the list.
  struct Item {
    std::string_view text;
    std::optional<std::string_view> communicator; ///< pattern; no value: all communicators
    std::string_view collective;                  ///< empty: all collectives
    std::string_view program;
  };
  static Result<std::vector<Item>> read(std::string_view list);
  Outcome add(const Item &item, const Choice &settled, Files files);
  bool names(std::string_view key) const { return areOthersListed || byCollective.count(key) != 0; }
  const Names *listed(const bundle::fbs::Program &program) const;

  ChoiceOptions options;
  bool areOthersListed = false; ///< the list has the item `none`: collectives that no other item names have no program
  std::map<std::string, Names, std::less<>> byCollective; ///< by keyOf(program)
};

} // namespace gc3::core
