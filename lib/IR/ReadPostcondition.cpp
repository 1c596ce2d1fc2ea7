// SPDX-License-Identifier: Apache-2.0
// Converts promises to the tables of a postcondition: iterates the counters, computes and checks places, and stores
// each value once.
#include "ReadPostcondition.h"
#include "gc3/Support/Quantity.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <numeric>

using namespace gc3;
using namespace gc3::ir;

static std::string placeOf(const char *buffer, int64_t rank, int64_t index) {
  return std::string(buffer) + "(" + std::to_string(rank) + ", " + std::to_string(index) + ")";
}

PostconditionReader::PostconditionReader(Scanner &scanner, Collective &collective, const ReadOptions &options)
    : scanner(scanner), collective(collective),
      maxContributions(std::min<uint64_t>(options.maxContributions, UINT32_MAX)), contributionsLeft(maxContributions),
      runsLeft(options.maxRuns),
      inputsMissing(std::find(collective.hasInput.begin(), collective.hasInput.end(), 0) != collective.hasInput.end()),
      wanted(size_t(collective.ranks) * collective.output.total()) {}

bool PostconditionReader::evaluate(const Promise::Linear &linear, int64_t own, int64_t &result) {
  bool overflow = __builtin_mul_overflow(linear.factors[Promise::maxCounters], own, &result);
  overflow |= __builtin_add_overflow(result, linear.constant, &result);
  for (size_t i = 0; i != counters.size(); ++i) {
    int64_t product = 0;
    overflow |= __builtin_mul_overflow(linear.factors[i], counters[i], &product);
    overflow |= __builtin_add_overflow(result, product, &result);
  }
  return !overflow || fail(DiagId::Overflow, "a number outside the range of 64 bits");
}

bool PostconditionReader::checkChunk(BufferId buffer, int64_t rank, int64_t index) {
  const char *name = buffer == InputBuffer ? "input" : "output";
  if (rank < 0 || rank >= collective.ranks)
    return fail(DiagId::RankOutOfRange,
                placeOf(name, rank, index) + ": the collective has " + quantity(collective.ranks, "rank"));
  uint32_t size = collective.size(static_cast<uint32_t>(rank), buffer);
  if (size == 0)
    return fail(DiagId::NoSuchBuffer,
                placeOf(name, rank, index) + ": rank " + std::to_string(rank) + " has no " + name);
  if (index < 0 || index >= size)
    return fail(DiagId::ChunkOutOfRange,
                placeOf(name, rank, index) + ": the " + name + " of a rank has " + quantity(size, "chunk"));
  return true;
}

/// Adds the term as a run. Checks only the first and the last chunk, because all chunks between two existing chunks
/// exist. If a rank has no input, checks every chunk.
bool PostconditionReader::addTerm(const Promise::Term &term) {
  if (term.own.count > contributionsLeft)
    return fail(DiagId::StepBudget, "the postcondition names more than " + quantity(maxContributions, "contribution") +
                                        "; --max-steps allows more");
  contributionsLeft -= term.own.count;
  auto evaluateAt = [&](uint32_t i, int64_t &rank, int64_t &index) {
    int64_t own = int64_t(term.own.first) + i;
    return evaluate(term.rank, own, rank) && evaluate(term.index, own, index) && checkChunk(InputBuffer, rank, index);
  };
  int64_t rank = 0, index = 0;
  if (!evaluateAt(0, rank, index))
    return false;
  Run run{static_cast<uint32_t>(rank), static_cast<uint32_t>(index), 0, 0, term.own.count};
  if (run.length != 1) { // factors fit in 32 bits unless there are 2^31 ranks or chunks
    run.rankStride = static_cast<int32_t>(term.rank.factors[Promise::maxCounters]);
    run.indexStride = static_cast<int32_t>(term.index.factors[Promise::maxCounters]);
    for (uint32_t i = inputsMissing ? 1 : run.length - 1; i != run.length; ++i)
      if (!evaluateAt(i, rank, index))
        return false;
    if (run.indexStride != term.index.factors[Promise::maxCounters])
      return fail(DiagId::Overflow, "the chunks of a reduction lie 2^31 apart or more");
  }
  runs.push_back(run);
  return true;
}

/// Sets `value` to the number of the value with these runs. Adds the value if it is new.
bool PostconditionReader::intern() {
  Postcondition &post = collective.post;
  auto same = [](const Run &a, const Run &b) {
    return a.rank == b.rank && a.index == b.index && a.rankStride == b.rankStride && a.indexStride == b.indexStride &&
           a.length == b.length;
  };
  llvm::StringRef bytes(reinterpret_cast<const char *>(runs.data()), runs.size() * sizeof(Run));
  uint64_t hash = llvm::xxHash64(bytes) >> 1; // the shift avoids the map's reserved keys
  auto [first, isNew] = valueOfHash.try_emplace(hash, post.valueCount());
  for (uint32_t at = isNew ? None : first->second; at != None; at = nextOfHash[at]) {
    if (std::equal(runs.begin(), runs.end(), post.runs.begin() + post.valueBegin[at],
                   post.runs.begin() + post.valueBegin[at + 1], same)) {
      value = at + 1;
      return true;
    }
  }
  if (runs.size() > 1) {
    if (runs.size() > runsLeft)
      return fail(DiagId::SlotBudget, "the postcondition has reductions of too many different terms");
    runsLeft -= runs.size();
  }
  nextOfHash.push_back(isNew ? None : first->second);
  first->second = post.valueCount();
  post.runs.insert(post.runs.end(), runs.begin(), runs.end());
  post.valueBegin.push_back(static_cast<uint32_t>(post.runs.size()));
  value = post.valueCount();
  return true;
}

bool PostconditionReader::makeValue(const Promise &promise) {
  runs.clear();
  for (const Promise::Term &term : promise.terms)
    if (!addTerm(term))
      return false;
  return intern();
}

bool PostconditionReader::promiseChunk(const Promise &promise) {
  int64_t rank = 0, index = 0;
  if (!evaluate(promise.rank, 0, rank) || !evaluate(promise.index, 0, index) || !checkChunk(OutputBuffer, rank, index))
    return false;
  uint32_t &entry = row(rank)[index];
  if (entry != Postcondition::Anything)
    return fail(DiagId::ConflictingEnsures, placeOf("output", rank, index) + " is promised twice");
  entry = value;
  return true;
}

bool PostconditionReader::copyRow(const Promise &promise) {
  int64_t rank = 0, model = 0;
  if (!evaluate(promise.rank, 0, rank) || !evaluate(promise.model, 0, model) || !checkChunk(OutputBuffer, rank, 0) ||
      !checkChunk(OutputBuffer, model, 0))
    return false;
  uint32_t width = collective.output.total();
  auto anything = [](uint32_t entry) { return entry == Postcondition::Anything; };
  if (std::all_of(row(model), row(model) + width, anything))
    return fail(DiagId::BadOperand, "there is no promise yet for the output of rank " + std::to_string(model));
  if (!std::all_of(row(rank), row(rank) + width, anything))
    return fail(DiagId::ConflictingEnsures,
                "there is already a promise for the output of rank " + std::to_string(rank));
  std::copy(row(model), row(model) + width, row(rank));
  return true;
}

/// Iterates the counters. Counters that the value depends on change slowest, so that the value is built only when it
/// changes.
bool PostconditionReader::add(const Promise &promise) {
  place = promise.place;
  std::vector<size_t> order(promise.counters.size());
  std::iota(order.begin(), order.end(), 0);
  auto last = std::stable_partition(order.begin(), order.end(), [&](size_t i) {
    return std::any_of(promise.terms.begin(), promise.terms.end(), [&](const Promise::Term &term) {
      return term.rank.factors[i] != 0 || term.index.factors[i] != 0;
    });
  });
  auto dependent = static_cast<size_t>(last - order.begin());
  counters.clear();
  for (const Promise::Counter &counter : promise.counters)
    counters.push_back(counter.first);
  bool valueChanged = true;
  for (;;) {
    if (promise.terms.empty() ? !copyRow(promise) : (valueChanged && !makeValue(promise)) || !promiseChunk(promise))
      return false;
    size_t position = order.size(); // the counter that advances; all counters after it restart
    for (; position != 0; --position) {
      const Promise::Counter &counter = promise.counters[order[position - 1]];
      if (++counters[order[position - 1]] != int64_t(counter.first) + counter.count)
        break;
      counters[order[position - 1]] = counter.first;
    }
    if (position == 0)
      return true;
    valueChanged = position - 1 < dependent;
  }
}

void PostconditionReader::finish() {
  size_t width = collective.output.total();
  setRows(collective, [&](uint32_t rank) { return llvm::ArrayRef(wanted).slice(rank * width, width); });
}
