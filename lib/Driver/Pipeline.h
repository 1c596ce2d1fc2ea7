// SPDX-License-Identifier: Apache-2.0
// Runs the stages from the one that reads the input to the one that writes the requested output.
#pragma once

#include "Session.h"
#include "gc3/IR/Read.h"
#include "gc3/Verify/Verify.h"

namespace gc3::driver {

/// Returns the budgets for reading IR texts and bundles. gc3c reads these inputs without evaluating a program.
ir::ReadOptions readOptions(const Options &options);

class Pipeline {
public:
  explicit Pipeline(Session &session) : session(session), options(session.options) {}

  /// Compiles the text of the input into the result. Returns false after an error; then `result` must not be used.
  bool compile(llvm::StringRef text, std::string &result);

  /// Returns the number of GC3-IR steps of all programs.
  uint64_t instructions() const;

  /// The programs that were scheduled or read, and their verdicts.
  const std::vector<ir::Program> &allPrograms() const { return programs; }
  const std::vector<verify::Verdict> &allVerdicts() const { return verdicts; }

private:
  bool printSyntax(llvm::StringRef text, llvm::raw_ostream &out);
  bool compileSource(llvm::StringRef text, llvm::raw_ostream &out);
  template <typename IR>
  using Reader = std::vector<IR> (*)(SourceManager &, Diagnostics &, llvm::StringRef, llvm::StringRef,
                                     const ir::ReadOptions &);
  template <typename IR>
  bool compileText(Reader<IR> read, llvm::StringRef text, llvm::raw_ostream &out);
  bool compileMsccl(llvm::StringRef text, llvm::raw_ostream &out);
  bool verifyBundle(llvm::StringRef bytes);
  bool compileProgram(ir::ChunkDag &&dag, llvm::raw_ostream &out);
  bool compileProgram(ir::InstructionDag &&dag, llvm::raw_ostream &out);
  bool compileProgram(ir::Program &&program, llvm::raw_ostream &out);
  template <typename IR>
  bool compileAll(std::vector<IR> &&parts, llvm::raw_ostream &out);
  bool writeCosts(llvm::raw_ostream &out);
  verify::Verdict verifyProgram(const ir::Program &program);

  Session &session;
  const Options &options;
  std::vector<ir::Program> programs;
  std::vector<verify::Verdict> verdicts; // by program
};

} // namespace gc3::driver
