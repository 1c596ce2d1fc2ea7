// SPDX-License-Identifier: Apache-2.0
#include "api/HostInfo.h"

#include "trace/RankFiles.h"

namespace gc3::api {

HostInfo HostInfo::of(const HostBackendOptions &options, const bundle::BundleFile &file) {
  const host::CallOptions &call = options.call;
  HostInfo info;
  info.allowUnproven = call.allowUnproven;
  info.bundle = file.digest();
  info.choice = core::ChoiceInfo::of(call.reports, call.tune);
  info.learned = core::digestOf(call.earlier);
  info.slots = call.layout.slots;
  info.adversarial = call.adversarial;
  info.slotBytes = call.layout.slotBytes;
  info.tileElements = call.layout.tileElements;
  info.seed = call.seed;
  info.joined = trace::wallClock();
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
    if (const std::string difference = own.choice.differenceFrom(first.choice); !difference.empty())
      return rank + " " + difference;
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
