// SPDX-License-Identifier: Apache-2.0
// Opens the wire between hosts.
#pragma once

#include "host/Wire.h"

#include <memory>

namespace gc3::ucx {

/// Opens this process's end of UCX, which chooses the network. gc3SystemError: this build has no UCX, UCX is not
/// installed, or it finds no network.
core::Result<std::unique_ptr<host::Wire>> openWire();

} // namespace gc3::ucx
