// SPDX-License-Identifier: Apache-2.0
#include "api/CallLines.h"

#include "core/CallText.h"
#include "core/Log.h"

namespace gc3::api {

using common::StandardCollective;
using core::CallKind;
using core::Outcome;
using core::Request;

namespace {

/// Describes a call for the log. For a standard collective, the text has the size of the larger buffer. For other
/// collectives, buffer sizes depend on the program, so the text has the count instead.
std::string describe(const Request &request, uint32_t ranks) {
  const StandardCollective *standard =
      request.kind == CallKind::Standard ? common::findStandard(request.name) : nullptr;
  const bool isBlockwise = standard && standard->isBlockwise();
  core::CallText text{request.name,
                      request.count,
                      !standard     ? 0
                      : isBlockwise ? ranks
                                    : 1,
                      request.type,
                      {},
                      request.preMulSum.has_value(),
                      {}};
  if (!standard || standard->reduces)
    text.op = request.op;
  if (standard && standard->hasRoot())
    text.root = request.root;
  return core::describe(text);
}

/// Returns an error text, which can have several lines, as a single line.
std::string onOneLine(const std::string &text) {
  std::string line;
  for (char c : text)
    if (c != '\n' && (c != ' ' || line.empty() || line.back() != ' '))
      line += c;
  return line;
}

std::string resultText(Backend &backend, const core::RankRequest &part) {
  Outcome outcome = core::checkRequest(part.request, part.rank, backend.ranks());
  if (outcome.ok() && core::isEmpty(part.request))
    return "no elements";
  if (!outcome.ok())
    return onOneLine(outcome.text);
  const core::Result<const char *> program = backend.select(part.request);
  return program.ok() ? "program '" + std::string(*program) + "'" : onOneLine(program.outcome().text);
}

} // namespace

void logCalls(Backend &backend, const Backend::Arrival &arrival) noexcept {
  try {
    for (const core::RankRequest &part : arrival.parts)
      core::log("rank " + std::to_string(part.rank) + ": " + describe(part.request, backend.ranks()) + ": " +
                (arrival.refused.ok() ? resultText(backend, part) : onOneLine(arrival.refused.text)));
  } catch (const std::exception &) { // a failure to log must not fail the call
  }
}

} // namespace gc3::api
