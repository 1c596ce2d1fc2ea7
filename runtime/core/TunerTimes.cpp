// SPDX-License-Identifier: Apache-2.0
#include "core/TunerTimes.h"

#include "core/Layout.h"

#include <cmath>

namespace gc3::core {

bool wantsTime(const ChoiceOptions &options, const Request &request) {
  return options.tuner && options.tunerTimes && request.kind != CallKind::Program;
}

void reportTime(const ChoiceOptions &options, const MeasuredCall &call, float microseconds) {
  const Request &request = call.request;
  if (!wantsTime(options, request) || std::isnan(microseconds))
    return;
  const std::string collective(request.name);
  const uint64_t bytes =
      callBytes(*call.program, request.count, elementSize(static_cast<ElementType>(request.type))).value_or(0);
  const gc3TunerTime_t time{sizeof time,
                            collective.c_str(),
                            static_cast<int>(call.ranks),
                            call.rank,
                            request.root,
                            request.count,
                            bytes,
                            request.type,
                            request.op,
                            microseconds,
                            call.program->info().name()->c_str()};
  options.tunerTimes(&time, options.tunerData);
}

} // namespace gc3::core
