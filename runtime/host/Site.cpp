// SPDX-License-Identifier: Apache-2.0
#include "host/Site.h"

#include "host/Transport.h"

namespace gc3::host {

/// A process whose ranks have all left in order no longer needs its connections.
core::Outcome Site::findLoss() const {
  core::Outcome loss = neighbours->findLoss();
  if (!loss.ok() || !carrier)
    return loss;
  loss = carrier->violation();
  if (!loss.ok())
    return loss;
  return carrier->findLoss([this](uint32_t process) {
    for (uint32_t rank = 0; rank < all; ++rank)
      if (carrier->processOf(rank) == process && neighbours->findLoss(rank).ok())
        return false;
    return true;
  });
}

} // namespace gc3::host
