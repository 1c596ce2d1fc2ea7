// SPDX-License-Identifier: Apache-2.0
// GC3-IR → MSCCL XML (docs/msccl-xml.md): one algorithm for the MSCCL runtimes. Their interpreters run it as the
// program prescribes.
#pragma once

#include "gc3/IR/GC3IR.h"

namespace llvm {
class raw_ostream;
}

namespace gc3 {
class Diagnostics;
}

namespace gc3::emit {

/// Dialect of the file. Msccl is for the runtime msccl, Rccl for the runtimes RCCL and msccl-executor-nccl.
enum class MscclDialect : uint8_t { Msccl, Rccl };

/// Returns the number of FIFO slots per connection that an MSCCL runtime has for this protocol.
uint32_t mscclSlots(ir::Protocol protocol);

/// Returns the program as an MSCCL runtime runs it if only one slot fits into a message. Each step of n slots becomes n
/// steps of one slot. A connection has the runtime's number of FIFO slots. If this program terminates, it also
/// terminates when a message holds several slots. Proof: suppose that larger messages make a step hang, and take the
/// first such step. All steps before it have run, and after the same steps of this program its message has arrived and
/// a FIFO slot is free.
ir::Program cutIntoSlots(const ir::Program &program);

/// Writes the program, which Verify must have accepted. The same program gives the same bytes. If the format or the
/// runtimes cannot hold the program, reports an error, writes nothing and returns false.
bool writeMscclXml(llvm::raw_ostream &out, const ir::Program &program, MscclDialect dialect, Diagnostics &diags);

} // namespace gc3::emit
