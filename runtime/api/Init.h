// SPDX-License-Identifier: Apache-2.0
// Creates communicators with the given settings. The C API passes the settings of the process. Tests and benchmarks
// pass their own settings.
#pragma once

#include "core/Settings.h"
#include "gc3.h"

namespace gc3::api {

/// Like gc3HostCommInitAll.
gc3Result_t initHost(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3HostConfig_t *config,
                     const core::Settings &settings);

/// Like gc3LoopbackCommInitAll.
gc3Result_t initLoopback(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3GpuConfig_t *config,
                         const core::Settings &settings);

} // namespace gc3::api
