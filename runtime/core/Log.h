// SPDX-License-Identifier: Apache-2.0
// Lines on stderr, `gc3: ` before each. Thread-safe.
#pragma once

#include <string>

namespace gc3::core {

void tell(const std::string &text);

/// The same text once in a process.
void tellOnce(const std::string &text);

/// settings().informs(): GC3_DEBUG is INFO or TRACE.
bool informs();

} // namespace gc3::core
