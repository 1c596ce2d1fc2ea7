// SPDX-License-Identifier: Apache-2.0
#include "plan/BufferPlace.h"

#include "gc3/Common/Opcode.h"

namespace gc3::plan {

using namespace bundle;
using namespace common;
using kernel::Buffer;

BufferPlace placeOf(const RankView &view, uint8_t buffer, uint32_t slot) {
  if (buffer >= firstScratchBuffer) {
    for (uint8_t k = firstScratchBuffer; k != buffer; ++k)
      slot += view.scratchSlots[k - firstScratchBuffer];
    return {Buffer::Scratch, slot};
  }
  const bool input = buffer == inputBuffer;
  if (view.alias == (input ? fbs::Alias::InputInOutput : fbs::Alias::OutputInInput))
    return {input ? Buffer::Output : Buffer::Input, slot + view.aliasOffset};
  return {input ? Buffer::Input : Buffer::Output, slot};
}

} // namespace gc3::plan
