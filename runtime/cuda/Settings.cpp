// SPDX-License-Identifier: Apache-2.0
// What environment variables and configs say of communicators on GPUs.
#include "core/Proofs.h"
#include "cuda/Options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <strings.h>

namespace gc3::cuda {

using core::Outcome;

namespace {

static_assert(gc3NumProtocols == kernel::protocolCount && gc3Simple == static_cast<int>(kernel::Protocol::Simple) &&
                  gc3LL == static_cast<int>(kernel::Protocol::LL) &&
                  gc3LL128 == static_cast<int>(kernel::Protocol::LL128),
              "a config's tunings are ours, by the same numbers");

/// By protocol; the last one is for those that have none of their own. 0: none.
using Numbers = std::array<uint64_t, kernel::protocolCount + 1>;

/// Which of the numbers `NAME` in `NAME:NUMBER` is about; one too many if there is no such protocol.
size_t protocolNamed(const std::string &name) {
  for (size_t p = 0; p < kernel::protocolCount; ++p)
    if (strcasecmp(name.c_str(), EnumNameProtocol(static_cast<bundle::fbs::Protocol>(p))) == 0)
      return p;
  return kernel::protocolCount + 1;
}

/// An item of a list, `NUMBER` or `PROTOCOL:NUMBER`. False: it means nothing, or comes a second time.
bool add(const std::string &item, uint64_t most, Numbers &numbers) {
  const size_t colon = item.find(':');
  const size_t which = colon == std::string::npos ? kernel::protocolCount : protocolNamed(item.substr(0, colon));
  if (which >= numbers.size() || numbers[which] != 0)
    return false;
  const char *begin = item.data() + (colon == std::string::npos ? 0 : colon + 1), *end = item.data() + item.size();
  const auto [stop, error] = std::from_chars(begin, end, numbers[which]);
  return error == std::errc() && stop == end && numbers[which] != 0 && numbers[which] <= most;
}

/// Has the variable decide for those protocols for which nothing else does; else it may hold what it likes.
template <typename Number>
Outcome fill(const char *variable, Number Tuning::*member, Options &options) {
  const bool isOpen = std::any_of(options.tuning.begin(), options.tuning.end(),
                                  [&](const Tuning &tuning) { return tuning.*member == 0; });
  const char *text = std::getenv(variable);
  if (!isOpen || !text || !*text)
    return {};
  const std::string list = text;
  Numbers numbers{};
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    if (!add(item, std::numeric_limits<Number>::max(), numbers))
      return {gc3InvalidArgument, std::string(variable) + ": '" + item +
                                      "' is not understood; it lists numbers from 1 on with commas between, one for "
                                      "all protocols and one for each of Simple, LL and LL128, as in 4,LL:16"};
    begin = end + 1;
  }
  for (size_t p = 0; p < kernel::protocolCount; ++p)
    if (Number &number = options.tuning[p].*member; number == 0)
      number = static_cast<Number>(numbers[p] != 0 ? numbers[p] : numbers.back());
  return {};
}

/// What the config says, else GC3_LL128.
Outcome chooseLL128(gc3LL128_t chosen, bool &strict) {
  strict = chosen == gc3LL128Refuse;
  if (strict || chosen == gc3LL128Replace)
    return {};
  if (chosen != gc3LL128Default)
    return {gc3InvalidArgument, "unknown ll128 " + std::to_string(static_cast<int>(chosen)) + " in the config"};
  const char *text = std::getenv("GC3_LL128");
  const std::string choice = text ? text : "";
  strict = choice == "refuse";
  if (choice.empty() || strict || choice == "replace")
    return {};
  return {gc3InvalidArgument, "GC3_LL128 is '" + choice + "'; it can be replace or refuse"};
}

/// NCCL's own variable, as it means the same: a number.
bool mixesGraphs() {
  const char *text = std::getenv("NCCL_GRAPH_MIXING_SUPPORT");
  char *end = nullptr;
  return !text || std::strtoll(text, &end, 0) != 0 || end == text;
}

template <typename Number>
Number chosenOf(Number forOne, Number forAll) {
  return forOne != 0 ? forOne : forAll;
}

/// The config alone; 0 where it leaves the choice to others.
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

Options environmentOptions() {
  return optionsOf(GC3_GPU_CONFIG_INITIALIZER);
}

Options optionsOf(const gc3GpuConfig_t &config) {
  Options options;
  options.tuning = tuningOf(config);
  options.simple = config.simple != 0;
  options.timeoutMs = config.timeoutMs;
  options.mixesGraphs = mixesGraphs();
  options.allowUnproven = config.allowUnproven != 0;
  options.choice = {config.programs ? config.programs : core::environmentPrograms(), config.tuner, config.tunerData};
  for (Outcome outcome :
       {fill("GC3_SLOTS", &Tuning::slots, options), fill("GC3_SLOT_BYTES", &Tuning::slotBytes, options),
        fill("GC3_THREADS", &Tuning::threads, options), chooseLL128(config.ll128, options.strictLL128),
        core::fillTimeout(options.timeoutMs), core::fillAllowUnproven(options.allowUnproven)})
    if (options.problem.ok())
      options.problem = std::move(outcome);
  return options;
}

} // namespace gc3::cuda
