// SPDX-License-Identifier: Apache-2.0
// The bundle's manifest states what was proven. checkProofs() reads the postcondition only to determine whether a
// collective promises anything.
#include "core/Proofs.h"

#include <algorithm>
#include <charconv>

namespace gc3::core {

Result<uint32_t> timeoutMs(const Settings &settings, uint32_t chosen) {
  const std::string &text = settings.text(Setting::TimeoutMs);
  if (chosen != 0 || text.empty())
    return chosen;
  uint32_t number = 0;
  const char *const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end)
    return number;
  return Outcome{gc3InvalidArgument, outOfRange(Setting::TimeoutMs, text)};
}

Result<std::string> secret(const Settings &settings) {
  constexpr size_t fewest = 16;
  const std::string &text = settings.text(Setting::Secret);
  if (text.empty() || text.size() >= fewest)
    return text;
  return Outcome{gc3InvalidArgument, "GC3_SECRET has " + std::to_string(text.size()) + " characters; it can be " +
                                         std::string(infoOf(Setting::Secret).range)};
}

Result<bool> isOne(const Settings &settings, Setting setting, bool byDefault) {
  const std::string &text = settings.text(setting);
  if (text.empty() || text == "0" || text == "1")
    return text.empty() ? byDefault : text == "1";
  return Outcome{gc3InvalidArgument, outOfRange(setting, text)};
}

Result<bool> allowUnproven(const Settings &settings, bool chosen) {
  return chosen ? true : isOne(settings, Setting::AllowUnproven, false);
}

/// Returns whether the collective promises anything about the program's output.
static Result<bool> promisesAnything(const bundle::BundleFile &file, uint32_t program) {
  const bundle::BundleResult<bundle::CheckView> view = file.check(program);
  if (!view.ok())
    return toOutcome(view.outcome());
  if (common::findStandard(file.program(program).collective()->string_view()))
    return true;
  return std::any_of(view->rows.begin(), view->rows.end(), [](uint32_t value) { return value != 0; });
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
      const Result<bool> anything = promisesAnything(file, i);
      if (!anything.ok())
        return anything.outcome();
      proven = !*anything;
    }
    if (!proven)
      return {gc3BundleUnproven, "program '" + file.program(i).name()->str() +
                                     "' was compiled without verification, so it could hang or give wrong results; "
                                     "compile it without --verify=off, or set GC3_ALLOW_UNPROVEN=1"};
  }
  return {};
}

} // namespace gc3::core
