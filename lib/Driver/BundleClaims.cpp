// SPDX-License-Identifier: Apache-2.0
// Writes the program of a stored bundle into a new bundle, and compares the claims of the two bundles.
#include "BundleClaims.h"
#include "gc3/Emit/Bundle.h"
#include <limits>

using namespace gc3;
using namespace gc3::driver;

bool gc3::driver::checkClaims(Session &session, const imports::BundledProgram &stored, const verify::Verdict &verdict) {
  std::string bytes =
      emit::writeBundle({{&stored.program, verdict.proven, verdict.minSlots, verdict.wholeSlots}}, "gc3c");
  std::vector<imports::BundledProgram> again;
  static constexpr uint64_t any = std::numeric_limits<uint64_t>::max(); // no limits are needed, because the stored
                                                                        // bundle was read within the budgets
  std::string problem = imports::readBundle(bytes, {.maxSlots = any, .maxContributions = any}, again).message;
  bool claimsAll = true;
  if (problem.empty()) {
    const imports::BundledProgram &own = again.front();
    if ((stored.verified & ~own.verified) != 0)
      problem = "properties that are not proven";
    else if (stored.minSlots < own.minSlots)
      problem = std::to_string(stored.minSlots) + " slots per connection, but the program needs " +
                std::to_string(own.minSlots);
    else if (own.wholeSlots && !stored.wholeSlots)
      problem = "that slots can be short, but values would lose elements";
    else if (stored.contributions != own.contributions)
      problem = std::to_string(stored.contributions) + " contributions to each output, not " +
                std::to_string(own.contributions);
    else if (stored.maxCount < own.maxCount)
      problem = "shorter messages than the program has";
    else if (stored.inPlace != own.inPlace)
      problem = "the wrong placement";
    else if (!stored.form.empty() && stored.form != own.form)
      problem = "the form '" + stored.form + "', not '" + own.form + "'";
    else if (!stored.form.empty() && stored.meaning != own.meaning)
      problem = "another meaning of '" + stored.form + "' than its postcondition has";
    claimsAll = (own.verified & ~stored.verified) == 0;
  }
  if (problem.empty() && !claimsAll)
    session.diags.remark({}, "program '" + stored.program.info->name +
                                 "': the bundle does not claim all properties that are proven here, so runtimes reject "
                                 "it unless they allow unproven programs; compile it without --verify=off");
  if (problem.empty())
    return true;
  session.diags.error(DiagId::Unverified, {},
                      "program '" + stored.program.info->name + "': the bundle claims " + problem);
  return false;
}
