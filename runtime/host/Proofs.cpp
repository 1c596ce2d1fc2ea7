// SPDX-License-Identifier: Apache-2.0
// The manifest says what was proven; only whether a collective promises anything takes a look at its postcondition.
#include "host/Proofs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace gc3::host {

uint32_t environmentTimeout(uint32_t defaultTimeout) {
  const char *text = std::getenv("GC3_TIMEOUT_MS");
  if (!text)
    return defaultTimeout;
  char *end = nullptr;
  unsigned long value = std::strtoul(text, &end, 10);
  return *text && !*end && value > 0 && value <= UINT32_MAX ? static_cast<uint32_t>(value) : defaultTimeout;
}

bool environmentAllowsUnproven() {
  const char *text = std::getenv("GC3_ALLOW_UNPROVEN");
  return text && std::strcmp(text, "1") == 0;
}

/// Sets `anything` if the collective promises anything of the program's output.
static Outcome promises(const bundle::BundleFile &file, uint32_t program, bool &anything) {
  bundle::CheckView view;
  if (bundle::BundleStatus status = file.check(program, view); !status.ok())
    return toOutcome(status);
  anything |= std::any_of(view.rows.begin(), view.rows.end(), [](uint32_t value) { return value != 0; });
  return {};
}

Outcome checkProofs(const bundle::BundleFile &file, uint32_t ranks) {
  constexpr uint32_t always = 0b1011; // structure, no deadlock, no races (Bundle.fbs)
  constexpr uint32_t postcondition = 0b100;
  for (uint32_t i = 0; i != file.programCount(); ++i) {
    uint32_t verified = file.program(i).verified();
    if (file.program(i).ranks() != ranks)
      continue;
    bool proven = (verified & always) == always;
    if (proven && !(verified & postcondition)) {
      bool anything = findStandard(file.program(i).collective()->string_view()) != nullptr;
      if (Outcome outcome = promises(file, i, anything); !outcome.ok())
        return outcome;
      proven = !anything;
    }
    if (!proven)
      return {gc3BundleUnproven, "program '" + file.program(i).name()->str() +
                                     "' was compiled without verification, so it could hang or give wrong results; "
                                     "compile it without --verify=off, or set GC3_ALLOW_UNPROVEN=1"};
  }
  return {};
}

} // namespace gc3::host
