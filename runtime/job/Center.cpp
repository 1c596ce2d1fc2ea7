// SPDX-License-Identifier: Apache-2.0
#include "job/Center.h"

#include <utility>

namespace gc3::job {

bool Center::add(uint32_t rank, uint64_t round, std::vector<uint8_t> bytes) {
  if (round != number || has[rank])
    return false;
  current[rank] = std::move(bytes);
  has[rank] = true;
  ++count;
  return true;
}

std::optional<Center::Gathered> Center::takeComplete() {
  if (count < has.size())
    return std::nullopt;
  ++number;
  count = 0;
  has.assign(has.size(), false);
  return std::exchange(current, Gathered(has.size()));
}

} // namespace gc3::job
