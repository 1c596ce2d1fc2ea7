// SPDX-License-Identifier: Apache-2.0
// What can be made of the IRs of a program: texts, pictures, MSCCL XML.
#pragma once

#include "Session.h"
#include "gc3/IR/GC3IR.h"
#include "gc3/Verify/Verify.h"

namespace gc3::driver {

/// True if the result is made from what this stage makes, and from nothing after it.
bool wants(const Options &options, Emit stage);

/// False, with an error, if several programs are there and the result has room for one.
bool checkNumber(Session &session, const std::vector<const ir::ProgramInfo *> &programs);

/// An IR as text, or as a graph for Graphviz. False after an error.
bool writeGraph(Session &session, const ir::ChunkDag &dag, llvm::raw_ostream &out);
bool writeGraph(Session &session, const ir::InstructionDag &dag, llvm::raw_ostream &out);

/// Schedules for --emit=msccl-xml: the program ends however MSCCL runtimes cut its messages, if the format can hold it.
/// Fails with a diagnostic as the scheduler does. Linear in the slots that messages move.
std::optional<ir::Program> scheduleForMsccl(const Options &options, const ir::InstructionDag &dag, Diagnostics &diags);

/// What is asked for of a verified program, if it is one thing for each program. False after an error.
bool writeProgram(Session &session, const ir::Program &program, llvm::raw_ostream &out);

/// What Verify is told: the limits of the target, and how to compare.
verify::Options verifyOptions(const Options &options);

/// Verifies the program as the MSCCL runtimes run it for large buffers. False after an error.
bool verifyPieces(Session &session, const ir::Program &program);

/// Reports what Verify found.
void report(Session &session, const ir::ProgramInfo &info, const verify::Finding &finding, DiagId id);

} // namespace gc3::driver
