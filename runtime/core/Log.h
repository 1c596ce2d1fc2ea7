// SPDX-License-Identifier: Apache-2.0
// Writes lines to stderr, with the prefix `gc3: `. Thread-safe.
#pragma once

#include <string>

namespace gc3::core {

void log(const std::string &text);

/// Writes a text only once per process.
void logOnce(const std::string &text);

/// Returns settings().isInfoEnabled(), which is true if GC3_DEBUG is INFO or TRACE.
bool isInfoEnabled();

} // namespace gc3::core
