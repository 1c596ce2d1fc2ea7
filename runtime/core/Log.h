// SPDX-License-Identifier: Apache-2.0
// Lines on stderr, `gc3: ` before each. Thread-safe.
#pragma once

#include <string>

namespace gc3::core {

void tell(const std::string &text);

/// The same text once in a process.
void tellOnce(const std::string &text);

/// True where GC3_DEBUG is INFO or TRACE, in any case of letters; read once. What a user need not know is told only
/// then.
bool informs();

} // namespace gc3::core
