// SPDX-License-Identifier: Apache-2.0
// Opens the bundles that GC3_BUNDLES lists.
#include "shim/Bundles.h"

#include "core/Log.h"

#include <sstream>

namespace gc3::shim {

Bundles openBundles(const char *names) {
  Bundles bundles;
  std::istringstream rest(names);
  for (std::string name; std::getline(rest, name, ':');) {
    if (name.empty())
      continue;
    bundle::BundleResult<std::unique_ptr<bundle::BundleFile>> file = bundle::BundleFile::open(name.c_str());
    if (!file.ok()) {
      core::logOnce("GC3_BUNDLES: '" + name + "': " + file.outcome().message + "; NCCL serves all calls");
      return {};
    }
    bundles.push_back(std::move(*file));
  }
  return bundles;
}

} // namespace gc3::shim
