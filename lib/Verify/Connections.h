// SPDX-License-Identifier: Apache-2.0
// The structure of a program: its connections, and everything that must hold before it can be executed at all.
#pragma once

#include "gc3/Verify/Verify.h"

namespace gc3::verify {

/// A pair of thread blocks, by index in Program::threadBlocks.
struct Connection {
  uint32_t sender;
  uint32_t receiver;
};

struct Connections {
  std::vector<Connection> all;
  std::vector<uint32_t> sendOf; ///< by thread block: the connection it sends on, or None
  std::vector<uint32_t> recvOf;
};

/// Findings of kind Structure, `options.maxFindings` at most; the connections are whole only if there are none.
Connections checkStructure(const ir::Program &program, const Options &options, std::vector<Finding> &findings);

/// `rank 3 tb 1 step 4 (send to 5)`.
std::string describe(const ir::Program &program, uint32_t threadBlock, uint32_t step);

} // namespace gc3::verify
