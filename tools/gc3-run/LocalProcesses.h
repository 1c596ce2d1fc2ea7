// SPDX-License-Identifier: Apache-2.0
// Starts the processes of a job on this host, as mpirun does, and waits for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gc3::run {

/// Runs `count` copies of this program with the given arguments, each as another rank of a job (job/Launcher.h).
/// Returns the largest of their exit statuses, where 128 + n stands for an end by signal n. After the first failure,
/// ends the others if they do not end by themselves. Forwards SIGINT and SIGTERM. If this process is killed, the system
/// ends the copies. The calling process must have one thread, and no other children.
int runLocalProcesses(uint32_t count, std::vector<std::string> arguments);

} // namespace gc3::run
