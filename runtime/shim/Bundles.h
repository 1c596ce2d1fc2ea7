// SPDX-License-Identifier: Apache-2.0
// The bundles that GC3_BUNDLES lists.
#pragma once

#include "bundle/BundleFile.h"

#include <memory>
#include <vector>

namespace gc3::shim {

using Bundles = std::vector<std::unique_ptr<bundle::BundleFile>>;

/// Opens the files in `names`, a list separated by colons. If one of them can't be used, logs the reason and returns no
/// bundles.
Bundles openBundles(const char *names);

} // namespace gc3::shim
