// SPDX-License-Identifier: Apache-2.0
// Determines the options of communicators on GPUs from a config and the settings.
#include "core/Proofs.h"
#include "cuda/Options.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <strings.h>

namespace gc3::cuda {

using core::Outcome;
using core::Setting;
using core::Settings;

namespace {

static_assert(gc3NumProtocols == kernel::protocolCount && gc3Simple == static_cast<int>(kernel::Protocol::Simple) &&
                  gc3LL == static_cast<int>(kernel::Protocol::LL) &&
                  gc3LL128 == static_cast<int>(kernel::Protocol::LL128),
              "gc3Protocol_t and kernel::Protocol have different numbers");

/// Numbers indexed by protocol. The last one is for all protocols that have no number of their own. 0 means no number.
using Numbers = std::array<uint64_t, kernel::protocolCount + 1>;

/// Returns the index in Numbers for the protocol of an item `PROTOCOL:NUMBER`. Returns an index that is out of range if
/// there is no such protocol.
size_t protocolNamed(const std::string &name) {
  for (size_t p = 0; p < kernel::protocolCount; ++p)
    if (strcasecmp(name.c_str(), EnumNameProtocol(static_cast<bundle::fbs::Protocol>(p))) == 0)
      return p;
  return kernel::protocolCount + 1;
}

/// Reads an item of a list, `NUMBER` or `PROTOCOL:NUMBER`. Returns false if the item is invalid or a duplicate.
bool add(const std::string &item, uint64_t most, Numbers &numbers) {
  const size_t colon = item.find(':');
  const size_t which = colon == std::string::npos ? kernel::protocolCount : protocolNamed(item.substr(0, colon));
  if (which >= numbers.size() || numbers[which] != 0)
    return false;
  const char *begin = item.data() + (colon == std::string::npos ? 0 : colon + 1), *end = item.data() + item.size();
  const auto [stop, error] = std::from_chars(begin, end, numbers[which]);
  return error == std::errc() && stop == end && numbers[which] != 0 && numbers[which] <= most;
}

/// Sets `member` from the setting for each protocol whose `member` is 0. Does not check the setting if every `member`
/// is set.
template <typename Number>
Outcome fill(const Settings &settings, Setting setting, Number Tuning::*member, Options &options) {
  const bool isOpen = std::any_of(options.tuning.begin(), options.tuning.end(),
                                  [&](const Tuning &tuning) { return tuning.*member == 0; });
  const std::string &list = settings.text(setting);
  if (!isOpen || list.empty())
    return {};
  Numbers numbers{};
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    if (!add(item, std::numeric_limits<Number>::max(), numbers))
      return {gc3InvalidArgument, std::string(infoOf(setting).name) + ": '" + item + "' is invalid; it can be " +
                                      std::string(infoOf(setting).range)};
    begin = end + 1;
  }
  for (size_t p = 0; p < kernel::protocolCount; ++p)
    if (Number &number = options.tuning[p].*member; number == 0)
      number = static_cast<Number>(numbers[p] != 0 ? numbers[p] : numbers.back());
  return {};
}

/// Returns whether programs for LL128 are refused if a link tears lines. If the config leaves the choice open,
/// GC3_LL128 decides.
core::Result<bool> refusesLL128(const Settings &settings, gc3LL128_t chosen) {
  if (chosen == gc3LL128Refuse || chosen == gc3LL128Replace)
    return chosen == gc3LL128Refuse;
  if (chosen != gc3LL128Default)
    return Outcome{gc3InvalidArgument, "unknown ll128 " + std::to_string(static_cast<int>(chosen)) + " in the config"};
  const std::string &choice = settings.text(Setting::LL128);
  if (choice.empty() || choice == "refuse" || choice == "replace")
    return choice == "refuse";
  return Outcome{gc3InvalidArgument, outOfRange(Setting::LL128, choice)};
}

template <typename Number>
Number chosenOf(Number forOne, Number forAll) {
  return forOne != 0 ? forOne : forAll;
}

/// Returns the config's choices; 0 if the config leaves a choice open.
std::array<Tuning, kernel::protocolCount> tuningOf(const gc3GpuConfig_t &config) {
  std::array<Tuning, kernel::protocolCount> tuning;
  for (size_t p = 0; p < kernel::protocolCount; ++p) {
    const gc3Tuning_t &own = config.tuning[p];
    tuning[p] = {chosenOf(own.slots, config.slots), chosenOf(own.slotBytes, config.slotBytes),
                 chosenOf(own.threads, config.threads)};
  }
  return tuning;
}

} // namespace

Options environmentOptions(const Settings &settings) {
  return optionsOf(GC3_GPU_CONFIG_INITIALIZER, settings);
}

Options optionsOf(const gc3GpuConfig_t &config, const Settings &settings) {
  Options options;
  options.tuning = tuningOf(config);
  options.simple = config.simple != 0;
  options.timeoutMs = config.timeoutMs;
  options.mixesGraphs = settings.mixesGraphs();
  options.interfaces = settings.text(Setting::NcclInterfaces);
  options.allowUnproven = config.allowUnproven != 0;
  options.choice = {config.programs ? config.programs : settings.text(Setting::Program),
                    config.name ? config.name : "",
                    config.nodes,
                    config.tuner,
                    config.tunerTimes,
                    config.tunerData};
  for (Outcome outcome :
       {fill(settings, Setting::Slots, &Tuning::slots, options),
        fill(settings, Setting::SlotBytes, &Tuning::slotBytes, options),
        fill(settings, Setting::Threads, &Tuning::threads, options),
        refusesLL128(settings, config.ll128).moveTo(options.strictLL128),
        core::isOne(settings, Setting::Direct, true).moveTo(options.direct),
        core::isOne(settings, Setting::Switch, false).moveTo(options.overSwitch),
        core::tuneOptions(settings, config.tune, config.tuneBudget, config.tuneFile).moveTo(options.tune),
        core::secret(settings).moveTo(options.secret),
        core::timeoutMs(settings, config.timeoutMs).moveTo(options.timeoutMs),
        core::allowUnproven(settings, options.allowUnproven).moveTo(options.allowUnproven)})
    if (options.problem.ok())
      options.problem = std::move(outcome);
  return options;
}

} // namespace gc3::cuda
