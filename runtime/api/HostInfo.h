// SPDX-License-Identifier: Apache-2.0
// What the ranks of a host communicator compare when they join from several processes.
#pragma once

#include "api/HostBackend.h"
#include "core/ChoiceInfo.h"

#include <span>
#include <string>

namespace gc3::api {

/// Ranks exchange the raw bytes of this struct.
struct HostInfo {
  int32_t version = GC3_VERSION;
  uint32_t allowUnproven = 0;
  uint64_t bundle = 0; ///< digest
  core::ChoiceInfo choice;
  uint64_t learned = 0; ///< digest of what earlier jobs have learned. It may differ
  uint32_t slots = 0, adversarial = 0;
  uint64_t slotBytes = 0, tileElements = 0, seed = 0;
  uint64_t joined = 0; ///< when the rank joined, by its machine's wall clock. It may differ

  static HostInfo of(const HostBackendOptions &options, const bundle::BundleFile &file);
};

/// Returns an error text about the first rank whose bundle or options are not those of rank 0; empty if there is none.
std::string disagreement(std::span<const HostInfo> ranks);

} // namespace gc3::api
