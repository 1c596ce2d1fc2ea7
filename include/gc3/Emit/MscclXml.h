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

/// The runtimes that read the file: msccl, or RCCL and msccl-executor-nccl.
enum class MscclDialect : uint8_t { Msccl, Rccl };

/// Returns the number of FIFO slots per connection that an MSCCL runtime has for this protocol.
uint32_t mscclSlots(ir::Protocol protocol);

/// Returns the program as a runtime runs it with long messages: each step of n slots becomes n steps of one slot, with
/// the runtime's number of FIFO slots. If this program terminates, so does every program with larger cuts. Proof: the
/// first step that hangs there has the same steps before it here, where its message and a free slot exist.
ir::Program cutIntoSlots(const ir::Program &program);

/// Writes the program, which Verify must have accepted. The same program gives the same bytes. If the format or the
/// runtimes cannot hold the program, reports an error, writes nothing and returns false.
bool writeMscclXml(llvm::raw_ostream &out, const ir::Program &program, MscclDialect dialect, Diagnostics &diags);

} // namespace gc3::emit
