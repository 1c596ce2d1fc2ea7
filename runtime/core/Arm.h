// SPDX-License-Identifier: Apache-2.0
// What online selection chooses for a call: a program, and the shape in which it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gc3::core {

/// What a program's proof leaves free when the program runs. The default is what runs without online selection. All
/// shapes of a program give equal bits, because a tile only groups elements, and threads only share them.
struct Shape {
  int8_t tile = 0;    ///< the binary logarithm of the tile's size, relative to the default size
  int8_t threads = 0; ///< the same of the threads of a thread block, on GPUs

  bool operator==(const Shape &) const = default;
};

struct Arm {
  uint32_t program = 0; ///< number in the ArmSource
  Shape shape;
  bool operator==(const Arm &) const = default;
};

/// Returns a shape as a suffix of a program's name: "" for the default, else such as ",tile/4" or ",threads/2".
std::string shapeSuffix(const Shape &shape);

/// Returns `value` times two to the power of `logarithm`.
constexpr uint64_t scaled(uint64_t value, int8_t logarithm) {
  return logarithm < 0 ? value >> -logarithm : value << logarithm;
}

/// The shapes that online selection may choose.
struct ShapeRule {
  std::vector<Shape> shapes; ///< without the default
  /// Returns whether a call of about `bytes` bytes runs differently in a shape than in the default shape.
  std::function<bool(const Arm &arm, uint32_t elementBytes, uint64_t bytes)> differs;
};

} // namespace gc3::core
