// SPDX-License-Identifier: Apache-2.0
// A rank that takes no further part in its communicator.
#pragma once

#include <cstdint>
#include <string>

namespace gc3::job {

struct Loss {
  enum class Kind : uint8_t {
    Left,   ///< it has left in order (Assembly::leave); its earlier calls have ended
    Ended,  ///< its process has ended, or the network does not reach its host
    Failed, ///< it has reported an error
  };
  uint32_t rank = 0;
  Kind kind = Kind::Ended;
  std::string text; ///< of `Failed`: its error. Otherwise a clause such as "whose process 4711 on host a has ended"
};

/// Returns a text such as "rank 2, whose process 4711 on host a has ended" or "rank 2, which has failed: ...".
std::string describe(const Loss &loss);

} // namespace gc3::job
