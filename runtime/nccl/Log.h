// SPDX-License-Identifier: Apache-2.0
// Lines on stderr, `gc3: ` before each.
#pragma once

#include <string>

namespace gc3::nccl {

/// Prints what a user must know, whatever GC3_DEBUG says; the same text once in a process. Thread-safe.
void tellOnce(const std::string &text);

/// True where GC3_DEBUG is INFO or TRACE, in any case of letters; read once.
bool informs();

/// Prints; call it where informs() only. Thread-safe.
void inform(const std::string &text);

} // namespace gc3::nccl
