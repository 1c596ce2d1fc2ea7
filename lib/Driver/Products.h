// SPDX-License-Identifier: Apache-2.0
// Outputs that gc3c makes from the IRs of a program: texts, pictures, MSCCL XML.
#pragma once

#include "Session.h"
#include "gc3/IR/GC3IR.h"
#include "gc3/Verify/Verify.h"

namespace gc3::driver {

/// Returns true if the requested output shows the result of `stage`, so that no later stage runs.
bool wants(const Options &options, Emit stage);

/// Returns false, with an error, if there are several programs and the output can hold only one.
bool checkNumber(Session &session, const std::vector<const ir::ProgramInfo *> &programs);

/// Writes an IR as text, or as a graph for Graphviz. Returns false after an error.
bool writeGraph(Session &session, const ir::ChunkDag &dag, llvm::raw_ostream &out);
bool writeGraph(Session &session, const ir::InstructionDag &dag, llvm::raw_ostream &out);

/// Schedules the instructions for --emit=msccl-xml. If the format can express the program, then the program terminates,
/// in whatever way the MSCCL runtimes cut its messages. Fails with a diagnostic if the scheduler fails. Linear in the
/// slots that messages move.
std::optional<ir::Program> scheduleForMsccl(const Options &options, const ir::InstructionDag &dag, Diagnostics &diags);

/// Writes the output of a verified program. Writes nothing if the output is a bundle or a verdict, which cover all
/// programs. Returns false after an error.
bool writeProgram(Session &session, const ir::Program &program, llvm::raw_ostream &out);

/// Returns the options for Verify: the limits of the target, and how to compare contributions.
verify::Options verifyOptions(const Options &options);

/// Verifies the program with its messages cut as the MSCCL runtimes cut them for large buffers. Returns false after an
/// error.
bool verifyCut(Session &session, const ir::Program &program);

/// Reports a finding of Verify.
void report(Session &session, const ir::ProgramInfo &info, const verify::Finding &finding, DiagId id);

} // namespace gc3::driver
