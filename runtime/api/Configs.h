// SPDX-License-Identifier: Apache-2.0
// What the functions that create communicators have in common.
#pragma once

#include "api/Handles.h"
#include "core/Settings.h"
#include "trace/TraceFile.h"

#include <cstddef>
#include <string>

namespace gc3::api {

// readConfig() distinguishes versions of a struct by their size, so a new member must make the struct larger. If the
// struct ended with padding, a new member could use the padding, and the size would stay the same.
static_assert(offsetof(gc3HostConfig_t, nodes) + sizeof(gc3HostConfig_t::nodes) == sizeof(gc3HostConfig_t));
static_assert(offsetof(gc3GpuConfig_t, nodes) + sizeof(gc3GpuConfig_t::nodes) == sizeof(gc3GpuConfig_t));

/// Returns the config, or `initial` if `config` is null. Refuses a config of another size, because the size is the
/// struct's version.
template <typename Config>
core::Result<Config> readConfig(const Config *config, const Config &initial, const char *initializer) {
  if (!config)
    return initial;
  if (config->size != sizeof(Config))
    return core::Outcome{gc3InvalidArgument, std::string("the config was not initialised with ") + initializer +
                                                 " or belongs to another version of gc3"};
  return *config;
}

/// Returns `chosen`, or the value of the setting if `chosen` is null.
std::string chosenOr(const char *chosen, core::Setting setting, const core::Settings &settings);

/// Returns the trace file of all ranks in this process. Returns null if no file is chosen, or if it cannot be written.
trace::TraceFile *traceFile(const char *chosen, const core::Settings &settings);

/// Checks arguments that functions which create communicators have in common. `comms` is where handles are stored.
core::Outcome checkGroup(const gc3Comm_t *comms, int nranks, gc3Bundle_t bundle);

/// Stores handles of all ranks.
void handOut(gc3Comm_t *comms, const std::shared_ptr<Backend> &backend);

} // namespace gc3::api
