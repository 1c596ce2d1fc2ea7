// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gc3/Support/EmbeddedFile.h"

namespace gc3::report {

/// Returns the files of lib/Report/page. page.html has {{title}}, {{style}}, {{data}} and {{script}} as places.
llvm::ArrayRef<EmbeddedFile> pageFiles();

} // namespace gc3::report
