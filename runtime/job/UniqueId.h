// SPDX-License-Identifier: Apache-2.0
// The contents of gc3UniqueId_t: the address of rank 0 and the random token of a communicator. An application carries
// the bytes from rank 0 to the other ranks, so the function that reads them checks everything. Both functions are pure.
#pragma once

#include "core/Result.h"
#include "net/Endpoint.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gc3::job {

inline constexpr size_t uniqueIdBytes = 256;
using UniqueId = std::array<uint8_t, uniqueIdBytes>;

UniqueId writeUniqueId(const net::Endpoint &rank0);

/// Returns gc3InvalidArgument if the bytes are damaged or of another version of gc3. The text says which.
core::Result<net::Endpoint> readUniqueId(const UniqueId &bytes);

} // namespace gc3::job
