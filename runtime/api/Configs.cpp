// SPDX-License-Identifier: Apache-2.0
#include "api/Configs.h"

#include <vector>

namespace gc3::api {

using core::Outcome;

/// The language's limit on ranks. gc3 allocates memory for each rank before it knows any program, so it refuses larger
/// numbers at once.
static constexpr int mostRanks = 65536;

std::string chosenOr(const char *chosen, core::Setting setting, const core::Settings &settings) {
  return chosen ? chosen : settings.text(setting);
}

trace::TraceFile *traceFile(const char *chosen, const core::Settings &settings) {
  const std::string name = chosenOr(chosen, core::Setting::Trace, settings);
  return name.empty() ? nullptr : trace::TraceFile::named(name);
}

Outcome checkGroup(const gc3Comm_t *comms, int nranks, gc3Bundle_t bundle) {
  if (!comms || !bundle)
    return {gc3InvalidArgument, "comms or bundle is null"};
  if (nranks < 1 || nranks > mostRanks)
    return {gc3InvalidArgument,
            std::to_string(nranks) + " ranks; the number must be 1 to " + std::to_string(mostRanks)};
  return {};
}

void handOut(gc3Comm_t *comms, const std::shared_ptr<Backend> &backend) {
  std::vector<std::unique_ptr<gc3Comm>> made;
  for (uint32_t r = 0; r < backend->ranks(); ++r)
    made.emplace_back(new gc3Comm{backend, r, {}});
  for (uint32_t r = 0; r < backend->ranks(); ++r)
    comms[r] = made[r].release();
}

} // namespace gc3::api
