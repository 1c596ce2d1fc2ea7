// SPDX-License-Identifier: Apache-2.0
// What users say about which program serves a call: a list of programs, as GC3_PROGRAM has it, and a function that
// chooses. Without either, sizes decide.
#pragma once

#include "core/Request.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace gc3::core {

struct ChoiceOptions {
  std::string programs; ///< the list; empty: there is none
  gc3Tuner_t tuner = nullptr;
  void *tunerData = nullptr;
};

class Choice {
public:
  /// Reads a list: items with commas between, each `PROGRAM` or `COLLECTIVE:PROGRAM`, where `none` stands for no
  /// program, and alone for every collective that no other item is about. gc3InvalidArgument: it names a program, or a
  /// collective, that none of the bundles has.
  static Result<Choice> make(const ChoiceOptions &options, std::span<const bundle::BundleFile *const> files);

  /// Whether the list is about the collective: only the programs that it names serve it then, the first of them
  /// where none is for the size.
  bool lists(std::string_view collective) const { return others || byCollective.count(collective) != 0; }
  /// Whether the program may serve its collective.
  bool allows(std::string_view collective, std::string_view program) const;

  /// Whether there is a tuner, and what it says.
  bool asks() const { return options.tuner != nullptr; }
  struct Question {
    const Request &request;
    uint32_t ranks;
    uint64_t bytes;
    std::span<const char *const> programs;
    std::optional<size_t> bySize; ///< the answer where sizes are to decide
  };
  /// Nothing: none of the programs. gc3InvalidUsage: the tuner's answer means nothing.
  Result<std::optional<size_t>> ask(const Question &question) const;

private:
  bool add(std::string_view item, std::span<const bundle::BundleFile *const> files);

  ChoiceOptions options;
  bool others = false; ///< collectives that no item is about are listed, too, with no program
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> byCollective;
};

} // namespace gc3::core
