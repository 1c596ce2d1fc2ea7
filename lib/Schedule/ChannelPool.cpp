// SPDX-License-Identifier: Apache-2.0
// Opens channels for instances. Each function takes constant time, amortized.
#include "ChannelPool.h"

using namespace gc3;
using namespace gc3::schedule;

static constexpr uint32_t maxChannels = 1 << 16;

void ChannelPool::reserve(uint32_t channel) {
  if (instanceOf.size() <= channel)
    instanceOf.resize(channel + 1, None);
  instanceOf[channel] = 0;
}

/// Records that messages of an instance can use the channel.
void ChannelPool::use(uint32_t channel, uint32_t instance) {
  if (instanceOf.size() <= channel)
    instanceOf.resize(channel + 1, None);
  instanceOf[channel] = instance;
  allChannels.push_back(channel);
  if (channelsOfInstance.size() <= instance)
    channelsOfInstance.resize(instance + 1);
  channelsOfInstance[instance].push_back(channel);
}

uint32_t ChannelPool::open(uint32_t instance) {
  while (lowestFree < instanceOf.size() && instanceOf[lowestFree] != None)
    ++lowestFree;
  use(lowestFree, instance);
  return lowestFree;
}

uint32_t ChannelPool::physical(uint32_t channel, uint32_t instance) {
  auto [place, isNew] = instanceChannels.try_emplace(uint64_t(channel) << 32 | instance, channel);
  if (!isNew)
    return place->second;
  if (instance != 0)
    return place->second = open(instance);
  use(channel, 0);
  return channel;
}

const std::vector<uint32_t> &ChannelPool::candidates(int32_t instance) {
  if (instance < 0)
    return allChannels;
  auto own = static_cast<uint32_t>(instance);
  if (channelsOfInstance.size() <= own)
    channelsOfInstance.resize(own + 1);
  return channelsOfInstance[own];
}

bool ChannelPool::exceedsLimit(SourceRange site, Diagnostics &diags) const {
  if (instanceOf.size() <= maxChannels)
    return false;
  diags.error(DiagId::TooManyChannels, site,
              "the program needs more than " + std::to_string(maxChannels) +
                  " channels with this operation; use fewer parallel instances");
  return true;
}
