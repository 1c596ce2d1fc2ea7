// SPDX-License-Identifier: Apache-2.0
// `ensures` lines of an IR's text: first their words, and once the shapes of all ranks are known, what they mean.
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
  static constexpr size_t maxCounters = 8; ///< of the clause; a reduction may have one more of its own

  /// Runs through first, first + 1, ..., first + count - 1.
  struct Counter {
    uint32_t first = 0;
    uint32_t count = 1;
  };
  /// constant + the sum of factor * counter.
  struct Linear {
    int64_t constant = 0;
    std::array<int64_t, maxCounters + 1> factors{}; ///< the last one: of the reduction's own counter
  };
  /// input(rank, index), for each value of its own counter.
  struct Term {
    Linear rank, index;
    Counter own;
  };

  SourceRange place;
  std::vector<Counter> counters;
  Linear rank, index;      ///< the output chunk
  std::vector<Term> terms; ///< what it must hold; none: all chunks of `rank` hold what those of `model` do
  Linear model;
};

/// Reads what follows the word `ensures`, up to the end of the line.
bool readPromise(Scanner &scanner, Promise &promise);

/// Fills in a collective's postcondition, promise by promise.
class PostconditionReader {
public:
  PostconditionReader(Scanner &scanner, Collective &collective, const ReadOptions &options);

  /// Linear in the output chunks that the promise is about, and in the contributions that it names.
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
  uint64_t runsLeft; // of values of several
  SourceRange place;
  bool inputsMissing;                             // on some rank
  std::vector<int64_t> counters;                  // of the promise
  std::vector<Run> runs;                          // of the value that is being made
  uint32_t value = 0;                             // + 1
  llvm::DenseMap<uint64_t, uint32_t> valueOfHash; // the latest one
  std::vector<uint32_t> nextOfHash;               // by value: the next of the same hash
  std::vector<uint32_t> wanted;
};

} // namespace gc3::ir
