// SPDX-License-Identifier: Apache-2.0
// Copies between this process and another one of the same machine, with one copy and no memory that both share. The
// kernel permits it between processes of one user, unless a container or Yama restricts it.
#pragma once

#include <cstddef>

namespace gc3::host {

/// Copy `bytes` bytes from or to an address of another process. Return false if the system refuses it, for example
/// because the process has ended.
bool readFrom(int process, std::byte *to, const std::byte *from, size_t bytes);
bool writeTo(int process, std::byte *to, const std::byte *from, size_t bytes);

} // namespace gc3::host
