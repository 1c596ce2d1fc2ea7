// SPDX-License-Identifier: Apache-2.0
// The channels in use, and the parallel instance that can use each of them. The directive `channel k` means channel k
// for instance 0, and another unused channel for each further instance.
#pragma once

#include "gc3/IR/InstructionDag.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/PackedKey.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>

namespace gc3::schedule {

using ir::None;

class ChannelPool {
public:
  /// Reserves the channel of a directive for instance 0.
  void reserve(uint32_t channel);

  /// Returns the channel that the directive `channel` means for an instance. Opens it for the first message.
  uint32_t physical(uint32_t channel, uint32_t instance);

  /// Opens the lowest unused channel for an instance.
  uint32_t open(uint32_t instance);

  /// Returns true if messages of the instance can use the channel, which must be open.
  bool serves(uint32_t channel, uint32_t instance) const { return instanceOf[channel] == instance; }

  /// Returns the open channels that serve `instance`, in the order of opening; all open channels if it is negative. The
  /// reference stays valid.
  const std::vector<uint32_t> &candidates(int32_t instance);

  uint32_t openCount() const { return static_cast<uint32_t>(allChannels.size()); }

  /// Reports an error at `site` and returns true if the channels need more numbers than there are.
  bool exceedsLimit(SourceRange site, Diagnostics &diags) const;

private:
  void use(uint32_t channel, uint32_t instance);

  std::vector<uint32_t> instanceOf; // by channel: the instance that can use it; None if it is not in use
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> instanceChannels; // (directive channel, instance) → channel
  std::vector<uint32_t> allChannels;                                  // open channels, in the order of opening
  std::deque<std::vector<uint32_t>> channelsOfInstance;               // by instance; growth moves no element
  uint32_t lowestFree = 0;
};

} // namespace gc3::schedule
