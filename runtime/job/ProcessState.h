// SPDX-License-Identifier: Apache-2.0
// The state of another process of this host, for diagnoses.
#pragma once

#include <cstdint>
#include <string>

namespace gc3::job {

enum class ProcessState : uint8_t {
  Running,
  Stopped, ///< by a signal such as SIGSTOP, or by a debugger
  Ended,   ///< also if its parent has not collected its status
  Unknown, ///< the system does not tell
};

/// Reads /proc/PID/stat.
ProcessState stateOfProcess(uint32_t process);

/// Returns a text such as "whose process 4711 on host a is stopped".
std::string describeState(uint32_t process, const std::string &hostName);

} // namespace gc3::job
