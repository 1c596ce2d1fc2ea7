// SPDX-License-Identifier: Apache-2.0
// Reads the `ensures` lines of an IR's text. First parses the words of each line; evaluates them when the shapes of all
// ranks are known.
#pragma once

#include "Scanner.h"
#include "gc3/IR/Collective.h"
#include "gc3/IR/Read.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <vector>

namespace gc3::ir {

/// One `ensures` line.
struct Promise {
  static constexpr size_t maxCounters = 8; ///< counters of the clause; a reduction can have one more

  /// Counts first, first + 1, ..., first + count - 1.
  struct Counter {
    uint32_t first = 0;
    uint32_t count = 1;
  };
  /// A linear expression: constant + the sum of factor * counter.
  struct Linear {
    int64_t constant = 0;
    std::array<int64_t, maxCounters + 1> factors{}; ///< the last factor is for the reduction's own counter
  };
  /// input(rank, index) for each value of the term's own counter.
  struct Term {
    Linear rank, index;
    Counter own;
  };

  SourceRange place;
  std::vector<Counter> counters;
  Linear rank, index;      ///< the output chunk
  std::vector<Term> terms; ///< required contents of that chunk; empty: all chunks of `rank` have the requirements of
                           ///< rank `model`
  Linear model;
};

/// Reads the words after `ensures`, up to the end of the line. Returns false after an error.
bool readPromise(Scanner &scanner, Promise &promise);

/// Fills in a collective's postcondition, promise by promise.
class PostconditionReader {
public:
  PostconditionReader(Scanner &scanner, Collective &collective, const ReadOptions &options);

  /// Adds one promise. Returns false after an error. Linear in the output chunks that the promise covers, and in the
  /// contributions that it names.
  bool add(const Promise &promise);
  void finish();

private:
  bool evaluate(const Promise::Linear &linear, int64_t own, int64_t &result);
  bool checkChunk(BufferId buffer, int64_t rank, int64_t index);
  bool addTerm(const Promise::Term &term);
  bool intern();
  bool makeValue(const Promise &promise);
  bool promiseChunk(const Promise &promise);
  bool copyRow(const Promise &promise);
  bool fail(DiagId id, const std::string &message) { return scanner.fail(id, place, message); }
  uint32_t *row(int64_t rank) { return wanted.data() + size_t(rank) * collective.output.total(); }

  Scanner &scanner;
  Collective &collective;
  uint64_t maxContributions, contributionsLeft;
  uint64_t runsLeft;                              // number of runs that values with several runs may still add
  SourceRange place;                              // place of the current promise
  bool inputsMissing;                             // true if some rank has no input
  std::vector<int64_t> counters;                  // values of the promise's counters
  std::vector<Run> runs;                          // runs of the value being built
  uint32_t value = 0;                             // number of that value + 1
  llvm::DenseMap<uint64_t, uint32_t> valueOfHash; // latest value with each hash
  std::vector<uint32_t> nextOfHash;               // by value: the next value with the same hash
  std::vector<uint32_t> wanted;                   // 1 + the number of the value, or Anything, by rank and output chunk
};

} // namespace gc3::ir
