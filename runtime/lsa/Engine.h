// SPDX-License-Identifier: Apache-2.0
// The engine of the library in front of NCCL: programs on several GPUs.
#pragma once

#include "lsa/World.h"
#include "nccl/Engine.h"

namespace gc3::lsa {

/// Makes calls of the application's with NCCL, after all.
struct Forwarding {
  ncclapi::Result (*make)(const shim::CollectiveCall &call);
  ncclapi::Result (*settle)(ncclapi::Comm comm); ///< behind the group: waits until they are on their streams
};

/// The drivers have to stay. No engine where there is no GPU that could be asked for.
std::unique_ptr<nccl::Engine> makeEngine(const Drivers &drivers, shim::Bundles &&bundles, const cuda::Options &options,
                                         const Forwarding &forwarding);

} // namespace gc3::lsa
