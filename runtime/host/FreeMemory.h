// SPDX-License-Identifier: Apache-2.0
// How much memory a process can still allocate. The system does not check it for shared memory: it ends a process
// instead.
#pragma once

#include <cstdint>
#include <string>

namespace gc3::host {

/// Returns the bytes that the machine has, or those that are left to the process's control groups (version 2) if they
/// are fewer. UINT64_MAX: unknown. `root` is the folder that has proc and sys.
uint64_t freeMemory(const std::string &root = "");

} // namespace gc3::host
