// SPDX-License-Identifier: Apache-2.0
// The addresses to which NCCL has mapped a symmetric window's memory.
#pragma once

#include "cuda/Cuda.h"
#include "ncclapi/Nccl.h"

#include <vector>

namespace gc3::comm {

/// Returns true if `handle` is a window. NCCL returns a null handle if it supports no windows on a communicator. Before
/// 2.29 it can also return another kind of handle, which points to host memory.
core::Result<bool> isWindow(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, ncclapi::Window handle);

/// Returns the addresses to which NCCL has mapped the parts of the LSA team's ranks, by rank of the team. `team` is the
/// team of the window's communicator. Waits for the stream. Returns gc3InvalidUsage if `handle` is no window, or is one
/// of another team.
core::Result<std::vector<std::byte *>> locateParts(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl,
                                                   ncclapi::Window handle, const ncclapi::Team &team,
                                                   cuda::Stream stream);

} // namespace gc3::comm
