// SPDX-License-Identifier: Apache-2.0
// GC3-IR → MSCCL XML (docs/msccl-xml.md): one algorithm for the MSCCL runtimes, with the meaning that their
// interpreters give it.
#pragma once

#include "gc3/IR/GC3IR.h"

namespace llvm {
class raw_ostream;
}

namespace gc3 {
class Diagnostics;
}

namespace gc3::emit {

/// Whose files to write: msccl's, or those of RCCL and msccl-executor-nccl.
enum class MscclDialect : uint8_t { Msccl, Rccl };

/// FIFO slots per connection that a program of this protocol finds in an MSCCL runtime.
uint32_t mscclSlots(ir::Protocol protocol);

/// The program as a runtime runs it when messages are long: each step of n slots as n steps of one, with the runtime's
/// FIFO slots. If this ends, so does the program cut into fewer pieces: the first step that would hang in one with
/// larger pieces had its message and a free slot in the run of the finest, where the same steps came before it.
ir::Program cutIntoPieces(const ir::Program &program);

/// Writes the program, of which verification has found no fault; the same program gives the same bytes. False if the
/// format or the runtimes can't hold it: that has been reported, and nothing was written.
bool writeMscclXml(llvm::raw_ostream &out, const ir::Program &program, MscclDialect dialect, Diagnostics &diags);

} // namespace gc3::emit
