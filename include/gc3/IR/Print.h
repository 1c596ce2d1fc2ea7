// SPDX-License-Identifier: Apache-2.0
// The textual forms of the IRs. Stable, one node a line, and made to be matched by FileCheck; docs/ has a page for
// each.
#pragma once

namespace llvm {
class raw_ostream;
}

namespace gc3::ir {

struct ChunkDag;
struct Dependencies;
struct InstructionDag;
struct Program;

void print(llvm::raw_ostream &out, const ChunkDag &dag, const Dependencies &edges);
void print(llvm::raw_ostream &out, const InstructionDag &dag);
void print(llvm::raw_ostream &out, const Program &program);

} // namespace gc3::ir
