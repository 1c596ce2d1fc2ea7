// SPDX-License-Identifier: Apache-2.0
#include "host/Site.h"

#include "host/Transport.h"

namespace gc3::host {

/// A process that has left in order no longer needs its connections.
core::Outcome Site::findLoss() const {
  core::Outcome loss = neighbours->findLoss();
  if (!loss.ok() || !carrier)
    return loss;
  loss = carrier->violation();
  return loss.ok() ? carrier->findLoss([this](uint32_t process) { return !neighbours->findLoss(process).ok(); }) : loss;
}

} // namespace gc3::host
