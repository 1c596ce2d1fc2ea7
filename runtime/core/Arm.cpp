// SPDX-License-Identifier: Apache-2.0
#include "core/Arm.h"

#include <cstdlib>

namespace gc3::core {

static std::string partOf(const char *name, int8_t logarithm) {
  if (logarithm == 0)
    return {};
  return std::string(",") + name + (logarithm < 0 ? "/" : "*") + std::to_string(1 << std::abs(logarithm));
}

std::string shapeSuffix(const Shape &shape) {
  return partOf("tile", shape.tile) + partOf("threads", shape.threads);
}

} // namespace gc3::core
