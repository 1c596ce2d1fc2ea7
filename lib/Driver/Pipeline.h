// SPDX-License-Identifier: Apache-2.0
// The stages, from where the input stands as far as asked.
#pragma once

#include "Session.h"
#include "gc3/IR/Read.h"
#include "gc3/Verify/Verify.h"

namespace gc3::driver {

/// The budgets of what is read without having been evaluated.
ir::ReadOptions readOptions(const Options &options);

class Pipeline {
public:
  explicit Pipeline(Session &session) : session(session), options(session.options) {}

  /// Makes the result of the input's text. False after an error; what `result` holds then is of no use.
  bool compile(llvm::StringRef text, std::string &result);

  /// Of all programs, as scheduled.
  uint64_t instructions() const;

  /// What was scheduled or read, with what is known of it.
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
  verify::Verdict verifyProgram(const ir::Program &program);

  Session &session;
  const Options &options;
  std::vector<ir::Program> programs;
  std::vector<verify::Verdict> verdicts; // by program
};

} // namespace gc3::driver
