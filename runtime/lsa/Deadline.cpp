// SPDX-License-Identifier: Apache-2.0
#include "lsa/Deadline.h"

#include <system_error>

namespace gc3::lsa {

Deadline::Deadline(std::span<Rank *const> ofThread) : ranks(ofThread) {
  if (ranks.empty() || ranks[0]->patienceMs() == 0)
    return;
  const auto last = Rank::Clock::now() + std::chrono::milliseconds(ranks[0]->patienceMs());
  try {
    watcher.start(ranks[0]->patienceMs(), [this, last] {
      if (Rank::Clock::now() < last || !end(Stage::Passed))
        return;
      for (Rank *rank : ranks)
        rank->revoke();
    });
  } catch (const std::system_error &) { // then they wait for as long as NCCL does
  }
}

} // namespace gc3::lsa
