// SPDX-License-Identifier: Apache-2.0
#include "core/CallText.h"

#include "core/Element.h"

#include <cstdio>
#include <iterator>

namespace gc3::core {

namespace {

/// Returns the product of the arguments as a size, for example 512 B, 1 MiB or 1.5 GiB. Returns "at least 16 EiB" if
/// the product exceeds 64 bits.
std::string bytesText(uint64_t count, uint64_t blocks, size_t elementSize) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, elementSize, &bytes) || __builtin_mul_overflow(bytes, blocks, &bytes))
    return "at least 16 EiB";
  size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", value, units[unit]);
  return text;
}

std::string opText(int op) {
  return static_cast<unsigned>(op) < reduceOpCount ? reduceOpName(static_cast<ReduceOp>(op))
                                                   : "op " + std::to_string(op);
}

} // namespace

std::string describe(const CallText &call) {
  const bool isKnown = static_cast<unsigned>(call.type) < elementTypeCount;
  const auto type = static_cast<ElementType>(isKnown ? call.type : 0);
  std::string text = std::string(call.name) + ' ';
  if (isKnown && call.blocks != 0)
    text += bytesText(call.count, call.blocks, elementSize(type)) + ' ';
  else
    text += std::to_string(call.count) + " of ";
  text += isKnown ? elementTypeName(type) : "type " + std::to_string(call.type);
  if (call.premultiplies)
    text += " premulsum";
  else if (call.op)
    text += ' ' + opText(*call.op);
  if (call.root)
    text += " root " + std::to_string(*call.root);
  return text;
}

} // namespace gc3::core
