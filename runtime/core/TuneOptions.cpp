// SPDX-License-Identifier: Apache-2.0
#include "core/TuneOptions.h"

#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace gc3::core {

static Result<gc3Tune_t> readTune(std::string_view value) {
  constexpr std::pair<std::string_view, gc3Tune_t> known[] = {
      {"", gc3TuneOff},
      {"off", gc3TuneOff},
      {"online", gc3TuneOnline},
      {"online,same-bits", gc3TuneOnlineSameBits},
      {"online,shapes", gc3TuneOnlineShapes},
      {"online,same-bits,shapes", gc3TuneOnlineSameBitsShapes},
      {"online,shapes,same-bits", gc3TuneOnlineSameBitsShapes},
  };
  for (const auto &[text, tune] : known)
    if (text == value)
      return tune;
  return Outcome{gc3InvalidArgument, outOfRange(Setting::Tune, value)};
}

static Result<float> readBudget(const std::string &text) {
  constexpr float byDefault = 2;
  if (text.empty())
    return byDefault;
  float percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end != text.data() + text.size() || !(percent >= 0 && percent <= 100))
    return Outcome{gc3InvalidArgument, outOfRange(Setting::TuneBudget, text)};
  return percent;
}

Result<TuneOptions> tuneOptions(const Settings &settings, gc3Tune_t tune, float budget, const char *file) {
  if (tune < gc3TuneDefault || tune > gc3TuneOnlineSameBitsShapes)
    return Outcome{gc3InvalidArgument, "unknown tune " + std::to_string(static_cast<int>(tune))};
  if (!(budget <= 100))
    return Outcome{gc3InvalidArgument, "tuneBudget is " + std::to_string(budget) + "; it can be at most 100"};
  if (tune == gc3TuneDefault)
    if (Outcome outcome = readTune(settings.text(Setting::Tune)).moveTo(tune); !outcome.ok())
      return outcome;
  if (budget == 0)
    if (Outcome outcome = readBudget(settings.text(Setting::TuneBudget)).moveTo(budget); !outcome.ok())
      return outcome;
  TuneOptions options;
  options.isOnline = tune >= gc3TuneOnline;
  options.keepsBits = tune == gc3TuneOnlineSameBits || tune == gc3TuneOnlineSameBitsShapes;
  options.hasShapes = tune == gc3TuneOnlineShapes || tune == gc3TuneOnlineSameBitsShapes;
  options.explorable = std::max(budget, 0.0F) / 100;
  options.file = file ? file : settings.text(Setting::TuneFile);
  return options;
}

} // namespace gc3::core
