// SPDX-License-Identifier: Apache-2.0
#include "job/LossBoard.h"

namespace gc3::job {

bool LossBoard::add(Loss loss) {
  const std::lock_guard lock(mutex);
  std::atomic<const Loss *> &place = byRank[loss.rank];
  if (place.load(std::memory_order_relaxed))
    return false;
  losses.push_back(std::move(loss));
  const Loss *added = &losses.back();
  place.store(added, std::memory_order_release);
  if (!any())
    anyLoss.store(added, std::memory_order_release);
  if (!first() && added->kind != Loss::Kind::Left)
    firstLoss.store(added, std::memory_order_release);
  return true;
}

std::string describe(const Loss &loss) {
  const std::string rank = "rank " + std::to_string(loss.rank) + ", ";
  return loss.kind == Loss::Kind::Failed ? rank + "which has failed: " + loss.text : rank + loss.text;
}

} // namespace gc3::job
