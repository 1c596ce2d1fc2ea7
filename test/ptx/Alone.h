// SPDX-License-Identifier: Apache-2.0
// Runs kernels whose threads do not wait for each other: one thread after another, directly on the host's memory. These
// are the kernels that scale elements, and the kernel that reads the clock.
#pragma once

#include "Library.h"

#include <functional>
#include <span>

namespace gc3::ptx {

/// Runs all threads of a grid. `arguments` are the values of the parameters. `now` returns the time.
void runAlone(const Entry &entry, uint32_t blocks, uint32_t threads, std::span<const uint64_t> arguments,
              const std::function<uint64_t()> &now);

} // namespace gc3::ptx
