// SPDX-License-Identifier: Apache-2.0
// Schedules for the MSCCL runtimes, which have few slots and may cut a message of several slots into single slots. The
// scheduler counts messages, because it assumes that each fills one slot. Most of its programs end even after the cut,
// and they have fewer steps than a program with small messages. A program that does not end is scheduled again with
// messages of one slot, which cannot be cut. For these the scheduler's assumption holds.
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

/// Returns true if the program deadlocks after the cut. Returns false for programs that cannot be exported anyway,
/// because they may become large.
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
