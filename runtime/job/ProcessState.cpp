// SPDX-License-Identifier: Apache-2.0
#include "job/ProcessState.h"

#include <cerrno>
#include <fstream>
#include <signal.h>
#include <sstream>

namespace gc3::job {

ProcessState stateOfProcess(uint32_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    const bool hasEnded = kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
    return hasEnded ? ProcessState::Ended : ProcessState::Unknown;
  }
  const std::string line = text.str();
  const size_t nameEnd = line.rfind(") "); // the name can contain spaces and parentheses
  if (nameEnd == std::string::npos || nameEnd + 2 >= line.size())
    return ProcessState::Unknown;
  switch (line[nameEnd + 2]) {
  case 'T':
  case 't': return ProcessState::Stopped;
  case 'Z':
  case 'X': return ProcessState::Ended;
  default: return ProcessState::Running;
  }
}

std::string describeState(uint32_t process, const std::string &hostName) {
  const std::string subject = "whose process " + std::to_string(process) + " on host " + hostName;
  switch (stateOfProcess(process)) {
  case ProcessState::Running: return subject + " is running";
  case ProcessState::Stopped: return subject + " is stopped";
  case ProcessState::Ended: return subject + " has ended";
  case ProcessState::Unknown: break;
  }
  return subject + " is in an unknown state";
}

} // namespace gc3::job
