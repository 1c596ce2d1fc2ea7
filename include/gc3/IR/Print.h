// SPDX-License-Identifier: Apache-2.0
// Prints the IRs as text. The formats are stable, have one node per line, and are made for FileCheck; docs/ has a page
// for each.
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
