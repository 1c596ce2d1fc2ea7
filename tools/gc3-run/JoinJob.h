// SPDX-License-Identifier: Apache-2.0
// Joins the processes that a launcher has started.
#pragma once

#include "Job.h"
#include "job/Launcher.h"

namespace gc3::run {

/// Returns an error if some processes do not come until the timeout (GC3_TIMEOUT_MS). Meetings of the job have the same
/// timeout, but a process with a problem waits only 2 seconds for the others.
core::Result<Job> joinJob(job::Launch launch);

} // namespace gc3::run
