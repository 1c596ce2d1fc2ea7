// SPDX-License-Identifier: Apache-2.0
// Writes lines to NCCL's log.
#pragma once

#include "tuner/TunerAbi.h"

#include <string>

namespace gc3::tuner {

/// Does nothing if `logger` is null.
inline void logLine(abi::Logger logger, abi::LogLevel level, const std::string &text) {
  if (logger)
    logger(level, abi::logInit | abi::logTuning, __FILE__, __LINE__, "gc3: %s", text.c_str());
}

} // namespace gc3::tuner
