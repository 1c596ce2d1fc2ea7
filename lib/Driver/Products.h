// SPDX-License-Identifier: Apache-2.0
// Outputs that are made from the IRs of a program: texts, pictures, MSCCL XML.
#pragma once

#include "Session.h"
#include "gc3/IR/GC3IR.h"
#include "gc3/Verify/Verify.h"

namespace gc3::driver {

/// Returns true if the output is made from the result of `stage`, and not from that of a later stage.
bool wants(const Options &options, Emit stage);

/// Returns false, with an error, if there are several programs and the output can hold only one.
bool checkNumber(Session &session, const std::vector<const ir::ProgramInfo *> &programs);

/// Writes an IR as text, or as a graph for Graphviz. Returns false after an error.
bool writeGraph(Session &session, const ir::ChunkDag &dag, llvm::raw_ostream &out);
bool writeGraph(Session &session, const ir::InstructionDag &dag, llvm::raw_ostream &out);

/// Schedules for --emit=msccl-xml, so that the program ends however MSCCL runtimes cut its messages, if the format can
/// express it. Fails with a diagnostic as the scheduler does. Linear in the slots that messages move.
std::optional<ir::Program> scheduleForMsccl(const Options &options, const ir::InstructionDag &dag, Diagnostics &diags);

/// Writes the requested output of a verified program, if each program has its own output. Returns false after an error.
bool writeProgram(Session &session, const ir::Program &program, llvm::raw_ostream &out);

/// Returns the options for Verify: the limits of the target, and how to compare contributions.
verify::Options verifyOptions(const Options &options);

/// Verifies the program as the MSCCL runtimes run it for large buffers. Returns false after an error.
bool verifyCut(Session &session, const ir::Program &program);

/// Reports a finding of Verify.
void report(Session &session, const ir::ProgramInfo &info, const verify::Finding &finding, DiagId id);

} // namespace gc3::driver
