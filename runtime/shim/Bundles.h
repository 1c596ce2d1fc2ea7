// SPDX-License-Identifier: Apache-2.0
// The bundles that GC3_BUNDLES names.
#pragma once

#include "bundle/BundleFile.h"

#include <memory>
#include <vector>

namespace gc3::shim {

using Bundles = std::vector<std::unique_ptr<bundle::BundleFile>>;

/// Opens the files that `names` has, with colons between. If one can't be used, logs that, and opens none.
Bundles openBundles(const char *names);

} // namespace gc3::shim
