// SPDX-License-Identifier: Apache-2.0
// Writes lines to stderr, with the prefix `gc3: `. Thread-safe.
#pragma once

#include <string>

namespace gc3::core {

void tell(const std::string &text);

/// Writes a text only once per process.
void tellOnce(const std::string &text);

/// Returns settings().informs(): GC3_DEBUG is INFO or TRACE.
bool informs();

} // namespace gc3::core
