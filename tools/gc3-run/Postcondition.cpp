// SPDX-License-Identifier: Apache-2.0
// Expands the runs of the Check section, and sorts output chunks by value with a counting sort. Takes time linear in
// input and output chunks.
#include "Reference.h"

namespace gc3::run {

// These limits are needed because a small file can describe many chunks with runs and shared rows. 1024 ranks of 65536
// chunks each are within the limits.
static constexpr size_t mostChunks = size_t{1} << 26;
static constexpr const char *remedy = "; -c 0 runs the program without the check";

/// A run names either different chunks, or one chunk several times.
static bool repeats(const bundle::fbs::Run &run) {
  return run.rank_stride() == 0 && run.index_stride() == 0;
}

void Postcondition::loadWithoutChunks(const bundle::CheckView &view) {
  for (const bundle::fbs::Run &run : view.runs)
    anyReduction |= run.length() > 1;
  for (size_t value = 1; value < view.valueBegin.size(); ++value)
    anyReduction |= view.valueBegin[value] - view.valueBegin[value - 1] > 1;
}

std::string Postcondition::load(const bundle::CheckView &view, const std::vector<uint64_t> &inputChunks,
                                const std::vector<uint64_t> &outputChunks, core::RankRange own) {
  loadWithoutChunks(view);
  size_t valueCount = view.valueBegin.empty() ? 0 : view.valueBegin.size() - 1;
  size_t expanded = 0;
  for (const bundle::fbs::Run &run : view.runs) {
    expanded += repeats(run) ? 1 : run.length();
    if (expanded > mostChunks)
      return "the postcondition names more than " + std::to_string(mostChunks) + " input chunks" + remedy;
  }
  expanded = 0;
  for (uint32_t rank = own.first; rank < own.end; ++rank) {
    expanded += view.rowBegin[view.rowOfRank[rank] + 1] - view.rowBegin[view.rowOfRank[rank]];
    if (expanded > mostChunks)
      return "the postcondition names more than " + std::to_string(mostChunks) + " output chunks" + remedy;
  }
  inputBegin.assign(1, 0);
  for (size_t value = 0; value < valueCount; ++value) {
    for (uint32_t r = view.valueBegin[value]; r < view.valueBegin[value + 1]; ++r) {
      const bundle::fbs::Run &run = view.runs[r];
      const uint32_t times = repeats(run) ? run.length() : 1;
      for (int64_t i = 0; i < int64_t{run.length()}; i += times) {
        auto rank = static_cast<uint32_t>(run.rank() + i * run.rank_stride());
        auto index = static_cast<uint32_t>(run.index() + i * run.index_stride());
        if (rank >= inputChunks.size() || index >= inputChunks[rank])
          return "the postcondition names input(" + std::to_string(rank) + ", " + std::to_string(index) +
                 "), which does not exist";
        inputList.push_back({{rank, index}, times});
      }
    }
    inputBegin.push_back(inputList.size());
    if (inputBegin[value + 1] == inputBegin[value])
      return "the postcondition has an empty value";
  }
  std::vector<size_t> counts(valueCount + 1, 0);
  auto forEachOutput = [&](auto function) {
    for (uint32_t rank = own.first; rank < own.end; ++rank) {
      uint32_t row = view.rowOfRank[rank];
      for (uint32_t i = view.rowBegin[row]; i < view.rowBegin[row + 1]; ++i)
        if (view.rows[i] != 0)
          function(view.rows[i] - 1, Chunk{rank, i - view.rowBegin[row]});
    }
  };
  std::string problem;
  forEachOutput([&](uint32_t value, Chunk chunk) {
    ++counts[value];
    if (chunk.index >= outputChunks[chunk.rank])
      problem = "the postcondition names output(" + std::to_string(chunk.rank) + ", " + std::to_string(chunk.index) +
                "), which does not exist";
  });
  if (!problem.empty())
    return problem;
  outputBegin.assign(1, 0);
  for (size_t value = 0; value < valueCount; ++value)
    outputBegin.push_back(outputBegin[value] + counts[value]);
  outputList.resize(outputBegin.back());
  std::vector<size_t> next(outputBegin.begin(), outputBegin.end() - 1);
  forEachOutput([&](uint32_t value, Chunk chunk) { outputList[next[value]++] = chunk; });
  return {};
}

} // namespace gc3::run
