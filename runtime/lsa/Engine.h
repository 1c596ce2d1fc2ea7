// SPDX-License-Identifier: Apache-2.0
// The engine of the library in front of NCCL: programs on several GPUs.
#pragma once

#include "lsa/World.h"
#include "nccl/Engine.h"

namespace gc3::lsa {

/// NCCL serves all calls, and that is why.
std::unique_ptr<nccl::Engine> noEngine(std::string why);

/// The drivers have to stay. `forward` makes a call of NCCL's. No engine where there is no GPU that could be asked for.
std::unique_ptr<nccl::Engine> makeEngine(const Drivers &drivers, nccl::Bundles &&bundles, const cuda::Options &options,
                                         nccl::Result (*forward)(const nccl::Call &call));

} // namespace gc3::lsa
