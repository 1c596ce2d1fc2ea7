// SPDX-License-Identifier: Apache-2.0
// The manifest says what was proven; only whether a collective promises anything takes a look at its postcondition.
#include "core/Proofs.h"

#include <algorithm>
#include <charconv>

namespace gc3::core {

Outcome fillTimeout(const Settings &settings, uint32_t &timeoutMs) {
  const std::string &text = settings.text(Setting::TimeoutMs);
  if (timeoutMs != 0 || text.empty())
    return {};
  uint32_t number = 0;
  const char *const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end) {
    timeoutMs = number;
    return {};
  }
  return {gc3InvalidArgument, outOfRange(Setting::TimeoutMs, text)};
}

Outcome fillAllowUnproven(const Settings &settings, bool &allowed) {
  const std::string &text = settings.text(Setting::AllowUnproven);
  if (allowed || text.empty() || text == "0")
    return {};
  allowed = text == "1";
  return allowed ? Outcome{} : Outcome{gc3InvalidArgument, outOfRange(Setting::AllowUnproven, text)};
}

/// Sets `anything` if the collective promises anything of the program's output.
static Outcome promises(const bundle::BundleFile &file, uint32_t program, bool &anything) {
  const bundle::Result<bundle::CheckView> view = file.check(program);
  if (!view.ok())
    return toOutcome(view.outcome());
  anything |= std::any_of(view->rows.begin(), view->rows.end(), [](uint32_t value) { return value != 0; });
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
      bool anything = common::findStandard(file.program(i).collective()->string_view()) != nullptr;
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

} // namespace gc3::core
