// SPDX-License-Identifier: Apache-2.0
// Reads all sections of a bundle, so that every check of the bundle reader runs.
#pragma once

#include "bundle/BundleFile.h"
#include "bundle/Validate.h"

namespace gc3::test {

inline bundle::BundleResult<std::unique_ptr<bundle::BundleFile>> openBytes(const std::string &bytes) {
  return bundle::BundleFile::openMemory(bytes.data(), bytes.size());
}

/// Reads all sections of all programs. Returns the first error, or a status whose ok() is true.
inline bundle::BundleStatus readAll(const std::string &bytes) {
  const auto opened = openBytes(bytes);
  if (!opened.ok())
    return opened.outcome();
  const bundle::BundleFile &file = **opened;
  for (uint32_t p = 0; p < file.programCount(); ++p) {
    if (bundle::BundleStatus status = file.check(p).outcome(); !status.ok())
      return status;
    std::vector<bundle::RankView> views(file.program(p).ranks());
    for (uint32_t r = 0; r < views.size(); ++r)
      if (bundle::BundleStatus status = file.rank(p, r).moveTo(views[r]); !status.ok())
        return status;
    if (std::string problem = bundle::validateConnections(views); !problem.empty())
      return {bundle::BundleError::Invalid, problem};
  }
  return {};
}

} // namespace gc3::test
