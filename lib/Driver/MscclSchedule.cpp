// SPDX-License-Identifier: Apache-2.0
// Schedules for the MSCCL runtimes, which have few FIFO slots and can cut a message of several slots into messages of
// one slot. The scheduler assumes that each message fills one FIFO slot. Most of its programs terminate even after the
// cut, and they have fewer steps than programs with small messages. If a program deadlocks after the cut, it is
// scheduled again with messages of one slot. These cannot be cut, so the scheduler's assumption holds for them.
#include "Products.h"
#include "gc3/Emit/MscclXml.h"
#include "gc3/Verify/Verify.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;
using namespace gc3::driver;

static schedule::Options optionsFor(const Options &options, const ir::InstructionDag &dag) {
  schedule::Options result = options.schedule;
  result.fifoSlots = std::min(result.fifoSlots, emit::mscclSlots(dag.info->protocol));
  result.wholeMessages = llvm::all_of(dag.instructions, [](const ir::Instruction &instruction) {
    return !sends(instruction.opcode) || instruction.count == 1;
  });
  return result;
}

/// Returns true if the program deadlocks after the cut. If the program cannot be exported, returns false without
/// cutting it, because its cut can be very large.
static bool deadlocksWhenCut(const ir::Program &program, emit::MscclDialect dialect) {
  SourceManager nothing;
  Diagnostics silent(nothing, 1);
  llvm::raw_null_ostream nowhere;
  if (!emit::writeMscclXml(nowhere, program, dialect, silent))
    return false;
  verify::Verdict verdict = verify::verify(emit::cutIntoSlots(program), {});
  return llvm::any_of(verdict.findings,
                      [](const verify::Finding &finding) { return finding.kind == verify::Finding::Deadlock; });
}

std::optional<ir::Program> gc3::driver::scheduleForMsccl(const Options &options, const ir::InstructionDag &dag,
                                                         Diagnostics &diags) {
  std::optional<ir::Program> program = schedule::schedule(dag, optionsFor(options, dag), diags);
  if (!program || !deadlocksWhenCut(*program, options.mscclDialect))
    return program;
  ir::InstructionDag singleSlots = lower::cutMessages(dag);
  return schedule::schedule(singleSlots, optionsFor(options, singleSlots), diags);
}
