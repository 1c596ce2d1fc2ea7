// SPDX-License-Identifier: Apache-2.0
// The structure of a program: its connections, and all conditions that it must meet before it can be executed.
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
  std::vector<uint32_t> sendOf; ///< by thread block: the connection that it sends on, or None
  std::vector<uint32_t> recvOf;
};

/// Appends findings of kind Structure, at most `options.maxFindings`, or one of kind TooLarge. The result is complete
/// only if there are no findings.
Connections checkStructure(const ir::Program &program, const Options &options, std::vector<Finding> &findings);

/// Returns a description such as `rank 3 tb 1 step 4 (send to 5)`.
std::string describe(const ir::Program &program, uint32_t threadBlock, uint32_t step);

} // namespace gc3::verify
