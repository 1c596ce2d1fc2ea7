// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/Launcher.h"
#include "job/WaitLimits.h"
#include "net/Socket.h"

#include <vector>

namespace gc3::job {

/// Returns each address of rank 0's host with each port that rank 0 can have. Tries again while the name has no
/// address, because name servers can know a host late. gc3Timeout: the text has the resolver's error. A single try of
/// the system's resolver can take longer than the timeout.
core::Result<std::vector<net::Tcp::endpoint>> resolve(const Launch &launch, const Wait &wait);

} // namespace gc3::job
