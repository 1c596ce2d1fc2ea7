// SPDX-License-Identifier: Apache-2.0
#include "api/InFlight.h"

#include <algorithm>

namespace gc3::api {

std::array<InFlight::Place, InFlight::most + 1> InFlight::places;

InFlight::InFlight() {
  place = std::find_if(places.begin(), places.end() - 1, [](Place &each) { return !each.isTaken.exchange(true); });
}

InFlight::~InFlight() {
  end();
  place->isTaken = false;
}

bool InFlight::areOthers() const {
  return std::any_of(places.begin(), places.end() - 1, [&](const Place &each) {
    return &each != place && each.isInCall.load(std::memory_order_relaxed);
  });
}

} // namespace gc3::api
