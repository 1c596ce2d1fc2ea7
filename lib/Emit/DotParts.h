// SPDX-License-Identifier: Apache-2.0
// Style and quoting for the three kinds of graphs.
#pragma once

#include "gc3/IR/ChunkDag.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::emit {

/// Returns `text` as a double-quoted string of the dot language; a newline in it begins a new line of the label.
std::string quoted(llvm::StringRef text);

/// Returns the output of `print` as a double-quoted string.
std::string label(llvm::function_ref<void(llvm::raw_ostream &)> print);

/// Writes `digraph`, its title and the default attributes.
void beginGraph(llvm::raw_ostream &out, const char *level, const ir::ProgramInfo &info);

/// Writes the beginning of `subgraph cluster_ID` with a label, indented by `depth` levels.
void beginCluster(llvm::raw_ostream &out, unsigned depth, const std::string &id, llvm::StringRef name);

/// dependencyStyle() returns the attributes of the edge of a false or true dependency. messageStyle() returns the
/// attributes of the edge of a message on `channel`. While chains have no channel yet, `channel` is the number of the
/// chain.
const char *dependencyStyle(bool isFalse);
std::string messageStyle(uint32_t channel);

/// Returns the fill attribute of nodes that reduce, or of nodes that only move data.
const char *fillStyle(bool reduces);

/// Writes a cluster for each rank that has nodes. Inside it, calls `write` for each node of the rank, in ascending
/// order.
void writeByRank(llvm::raw_ostream &out, uint32_t ranks, uint32_t nodes, llvm::function_ref<uint32_t(uint32_t)> rankOf,
                 llvm::function_ref<void(uint32_t)> write);

} // namespace gc3::emit
