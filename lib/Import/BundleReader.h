// SPDX-License-Identifier: Apache-2.0
// Converts one program of a bundle to IR.
#pragma once

#include "bundle/BundleFile.h"
#include "gc3/IR/GC3IR.h"
#include "gc3/IR/Read.h"
#include "gc3/Import/Bundle.h"

namespace gc3::imports {

class BundleReader {
public:
  BundleReader(const bundle::BundleFile &file, uint32_t index, const ir::ReadOptions &options)
      : file(file), stored(file.program(index)), index(index), options(options) {}

  /// Reads the program. Linear in its sections.
  BundleProblem read();
  ir::Program program;

private:
  std::string readHeader();
  BundleProblem addRank(const bundle::RankView &view);
  void addAlias(const bundle::RankView &view);
  bool addBuffer(ir::BufferId buffer, uint32_t slots);
  void addSteps(const bundle::RankView &view);
  bool checkRuns(const bundle::CheckView &view) const;
  BundleProblem checkBudgets(const bundle::CheckView &view) const;
  bool addPostcondition(const bundle::CheckView &view);
  BundleProblem invalid(const std::string &what) const {
    return {DiagId::CannotRead, "invalid bundle: program " + std::to_string(index) + ": " + what};
  }
  BundleProblem exceeds(DiagId budget, const std::string &what) const {
    return {budget, "program " + std::to_string(index) + ": " + what};
  }

  const bundle::BundleFile &file;
  const bundle::fbs::Program &stored;
  uint32_t index;
  ir::ReadOptions options;
  uint64_t slots = 0; // number of slots in all buffers read so far
  std::shared_ptr<ir::ProgramInfo> info = std::make_shared<ir::ProgramInfo>();
};

} // namespace gc3::imports
