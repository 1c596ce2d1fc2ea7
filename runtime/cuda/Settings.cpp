// SPDX-License-Identifier: Apache-2.0
// What environment variables and configs say of communicators on GPUs.
#include "cuda/Options.h"
#include "host/Proofs.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <strings.h>

namespace gc3::cuda {

using host::Outcome;

namespace {

/// By protocol; the last one is for those that have none of their own. 0: none.
using Numbers = std::array<uint64_t, device::protocolCount + 1>;

/// Which of the numbers `NAME` in `NAME:NUMBER` is about; one too many if there is no such protocol.
size_t protocolNamed(const std::string &name) {
  for (size_t p = 0; p < device::protocolCount; ++p)
    if (strcasecmp(name.c_str(), EnumNameProtocol(static_cast<bundle::fbs::Protocol>(p))) == 0)
      return p;
  return device::protocolCount + 1;
}

/// An item of a list, `NUMBER` or `PROTOCOL:NUMBER`. False: it means nothing, or comes a second time.
bool add(const std::string &item, uint64_t most, Numbers &numbers) {
  const size_t colon = item.find(':');
  const size_t which = colon == std::string::npos ? device::protocolCount : protocolNamed(item.substr(0, colon));
  if (which >= numbers.size() || numbers[which] != 0)
    return false;
  const char *begin = item.data() + (colon == std::string::npos ? 0 : colon + 1), *end = item.data() + item.size();
  const auto [stop, error] = std::from_chars(begin, end, numbers[which]);
  return error == std::errc() && stop == end && numbers[which] != 0 && numbers[which] <= most;
}

template <typename Number>
Outcome read(const char *variable, Number Tuning::*member, Options &options) {
  const char *text = std::getenv(variable);
  if (!text || !*text)
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
  for (size_t p = 0; p < device::protocolCount; ++p)
    options.tuning[p].*member = static_cast<Number>(numbers[p] != 0 ? numbers[p] : numbers.back());
  return {};
}

Outcome readLL128(Options &options) {
  const char *text = std::getenv("GC3_LL128");
  const std::string choice = text ? text : "";
  options.strictLL128 = choice == "refuse";
  if (choice.empty() || options.strictLL128 || choice == "replace")
    return {};
  return {gc3InvalidArgument, "GC3_LL128 is '" + choice + "'; it can be replace or refuse"};
}

/// The first that is not 0.
template <typename Number>
Number chosenOf(Number forOne, Number forAll, Number otherwise) {
  return forOne != 0 ? forOne : forAll != 0 ? forAll : otherwise;
}

} // namespace

Options environmentOptions() {
  Options options;
  options.problem = read("GC3_SLOTS", &Tuning::slots, options);
  if (options.problem.ok())
    options.problem = read("GC3_SLOT_BYTES", &Tuning::slotBytes, options);
  if (options.problem.ok())
    options.problem = read("GC3_THREADS", &Tuning::threads, options);
  if (options.problem.ok())
    options.problem = readLL128(options);
  options.timeoutMs = host::environmentTimeout(0);
  options.allowUnproven = host::environmentAllowsUnproven();
  options.choice.programs = host::environmentPrograms();
  return options;
}

Options optionsOf(const gc3GpuConfig_t &config) {
  Options options = environmentOptions();
  for (size_t p = 0; p < device::protocolCount; ++p) {
    Tuning &tuning = options.tuning[p];
    const gc3Tuning_t &own = config.tuning[p];
    tuning = {chosenOf(own.slots, config.slots, tuning.slots),
              chosenOf(own.slotBytes, config.slotBytes, tuning.slotBytes),
              chosenOf(own.threads, config.threads, tuning.threads)};
  }
  options.simple = config.simple != 0;
  options.strictLL128 |= config.strictLL128 != 0;
  options.timeoutMs = config.timeoutMs != 0 ? config.timeoutMs : options.timeoutMs;
  options.allowUnproven |= config.allowUnproven != 0;
  if (config.programs)
    options.choice.programs = config.programs;
  options.choice.tuner = config.tuner;
  options.choice.tunerData = config.tunerData;
  return options;
}

} // namespace gc3::cuda
