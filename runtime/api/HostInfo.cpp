// SPDX-License-Identifier: Apache-2.0
#include "api/HostInfo.h"

#include "bundle/Container.h"

namespace gc3::api {

static uint64_t digestOf(const std::string &text) {
  return bundle::checksum(text.data(), text.size());
}

HostInfo HostInfo::of(const HostBackendOptions &options, const bundle::BundleFile &file) {
  const host::CallOptions &call = options.call;
  HostInfo info;
  info.allowUnproven = call.allowUnproven;
  info.bundle = file.digest();
  info.programs = digestOf(call.reports.programs);
  info.tuner = call.reports.tuner != nullptr;
  info.tune = core::kindOf(call.tune);
  info.explorable = call.tune.explorable;
  info.learned = digestOf(select::writeTuneText(call.earlier));
  info.slots = call.layout.slots;
  info.adversarial = call.adversarial;
  info.slotBytes = call.layout.slotBytes;
  info.tileElements = call.layout.tileElements;
  info.seed = call.seed;
  return info;
}

std::string disagreement(std::span<const HostInfo> ranks) {
  const HostInfo &first = ranks[0];
  for (size_t r = 1; r < ranks.size(); ++r) {
    const HostInfo &own = ranks[r];
    const std::string rank = "rank " + std::to_string(r);
    if (own.version != first.version)
      return rank + " has another version of gc3 than rank 0";
    if (own.bundle != first.bundle)
      return rank + " has another bundle than rank 0";
    if (own.programs != first.programs)
      return rank + " has another GC3_PROGRAM than rank 0";
    if (own.tuner != first.tuner)
      return rank + " has " + (own.tuner != 0 ? "a" : "no") + " tuner, unlike rank 0";
    if (own.tune != first.tune)
      return rank + " has another GC3_TUNE than rank 0";
    if (own.explorable != first.explorable)
      return rank + " has another GC3_TUNE_BUDGET than rank 0";
    if (own.slots != first.slots || own.slotBytes != first.slotBytes || own.tileElements != first.tileElements)
      return rank + " has other FIFO slots than rank 0";
    if (own.adversarial != first.adversarial || own.seed != first.seed)
      return rank + " has another order than rank 0";
    if (own.allowUnproven != first.allowUnproven)
      return rank + " has other options than rank 0";
  }
  return {};
}

} // namespace gc3::api
