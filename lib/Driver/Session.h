// SPDX-License-Identifier: Apache-2.0
// State that the parts of one invocation share.
#pragma once

#include "StageTimes.h"
#include "gc3/Driver/Options.h"
#include "gc3/Support/Diagnostics.h"

namespace gc3::driver {

struct Session {
  explicit Session(const Options &options)
      : options(options), diags(sources, options.errorLimit), times(options.timeReport) {}

  const Options &options;
  SourceManager sources;
  Diagnostics diags;
  StageTimes times;
  std::vector<std::string> filesRead; ///< the input, if it is a file, and its imports on disk
};

} // namespace gc3::driver
