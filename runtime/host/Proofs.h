// SPDX-License-Identifier: Apache-2.0
// Whether a bundle's programs may run at all.
#pragma once

#include "host/Request.h"

namespace gc3::host {

/// Whether programs for so many ranks were proven to be well-formed, to end, to have no races, and to compute what
/// their collective promises, if it promises anything; the standard ones do. gc3BundleUnproven names one that was not.
Outcome checkProofs(const bundle::BundleFile &file, uint32_t ranks);

/// GC3_ALLOW_UNPROVEN: set to anything but 0.
bool environmentAllowsUnproven();

/// GC3_TIMEOUT_MS, or the default where it is unset or no number.
uint32_t environmentTimeout(uint32_t defaultTimeout);

} // namespace gc3::host
