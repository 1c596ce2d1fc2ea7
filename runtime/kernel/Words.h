// SPDX-License-Identifier: Apache-2.0
// The units in which data moves: words of 8 bytes and packs of 16 bytes, independent of the element type.
#pragma once

#include "kernel/Attributes.h"

#include <cstddef>
#include <cstdint>

namespace gc3::kernel {

/// A word of consecutive elements. The first element in memory is in the lowest bits.
using Word = uint64_t;
inline constexpr uint32_t wordBytes = 8;

inline constexpr uint32_t warpLanes = 32;

/// The unsigned type of G bytes; a Pack for 16 bytes.
template <uint32_t G>
struct UnitOf;
template <>
struct UnitOf<1> {
  using Type = uint8_t;
};
template <>
struct UnitOf<2> {
  using Type = uint16_t;
};
template <>
struct UnitOf<4> {
  using Type = uint32_t;
};
template <>
struct UnitOf<8> {
  using Type = uint64_t;
};
struct alignas(16) Pack {
  Word low, high;
};
template <>
struct UnitOf<16> {
  using Type = Pack;
};
template <uint32_t G>
using Unit = typename UnitOf<G>::Type;

/// Reductions, with NCCL's numbers. An average is a sum with a multiplication before it or a division after it.
enum class Operation : uint8_t { Sum, Prod, Max, Min };

/// Calls `body(op)` with a constant argument. If `body` is inlined, its loops contain no branch on the operation.
template <typename Body>
GC3_DEVICE void withConstant(Operation op, Body body) {
  switch (op) {
  case Operation::Sum: body(Operation::Sum); break;
  case Operation::Prod: body(Operation::Prod); break;
  case Operation::Max: body(Operation::Max); break;
  case Operation::Min: body(Operation::Min); break;
  }
}

/// Returns `a op b`, element by element. A unit smaller than a word is combined as the low part of a word.
template <typename Arithmetic, typename U>
GC3_DEVICE U combine(Operation op, U a, U b) {
  if constexpr (sizeof(U) == sizeof(Pack))
    return {Arithmetic::combine(op, a.low, b.low), Arithmetic::combine(op, a.high, b.high)};
  else
    return static_cast<U>(Arithmetic::combine(op, a, b));
}

GC3_DEVICE uintptr_t address(const std::byte *at) {
  return reinterpret_cast<uintptr_t>(at);
}

/// Returns how many bytes of the word at offset `at` lie before `end`.
GC3_DEVICE uint32_t bytesWithin(uint64_t at, uint64_t end) {
  return at >= end ? 0 : end - at < wordBytes ? static_cast<uint32_t>(end - at) : wordBytes;
}

/// Loads a word in units of G bytes.
template <uint32_t G, typename Machine>
GC3_DEVICE Word loadUnits(Machine &machine, const std::byte *at) {
  Word word = 0;
  for (uint32_t i = 0; i < wordBytes; i += G)
    word |= static_cast<Word>(machine.template load<G>(at + i)) << 8 * i;
  return word;
}

template <uint32_t G, typename Machine>
GC3_DEVICE void storeUnits(Machine &machine, std::byte *at, Word word) {
  for (uint32_t i = 0; i < wordBytes; i += G)
    machine.template store<G>(at + i, static_cast<Unit<G>>(word >> 8 * i));
}

/// Loads the first `bytes` (0 to 8) bytes of a word from `at`, in the widest units that are aligned there. The other
/// bytes are 0.
template <uint32_t ElementBytes, typename Machine>
GC3_DEVICE Word loadWord(Machine &machine, const std::byte *at, uint32_t bytes) {
  if (bytes == wordBytes) {
    if (ElementBytes == 8 || address(at) % 8 == 0)
      return loadUnits<8>(machine, at);
    if (ElementBytes < 4 && address(at) % 4 == 0)
      return loadUnits<4>(machine, at);
    return loadUnits<ElementBytes>(machine, at);
  }
  Word word = 0;
  if constexpr (ElementBytes < wordBytes) { // otherwise `bytes` is 0
    GC3_ROLLED
    for (uint32_t i = 0; i < bytes; i += ElementBytes)
      word |= static_cast<Word>(machine.template load<ElementBytes>(at + i)) << 8 * i;
  }
  return word;
}

template <uint32_t ElementBytes, typename Machine>
GC3_DEVICE void storeWord(Machine &machine, std::byte *at, Word word, uint32_t bytes) {
  if (bytes == wordBytes) {
    if (ElementBytes == 8 || address(at) % 8 == 0)
      return storeUnits<8>(machine, at, word);
    if (ElementBytes < 4 && address(at) % 4 == 0)
      return storeUnits<4>(machine, at, word);
    return storeUnits<ElementBytes>(machine, at, word);
  }
  if constexpr (ElementBytes < wordBytes) {
    GC3_ROLLED
    for (uint32_t i = 0; i < bytes; i += ElementBytes)
      machine.template store<ElementBytes>(at + i, static_cast<Unit<ElementBytes>>(word >> 8 * i));
  }
}

/// Loads the first `bytes` bytes of a pack, like loadWord. `bytes` can exceed 16.
template <uint32_t ElementBytes, typename Machine>
GC3_DEVICE Pack loadPack(Machine &machine, const std::byte *at, uint32_t bytes) {
  if (bytes >= sizeof(Pack) && address(at) % sizeof(Pack) == 0)
    return machine.template load<sizeof(Pack)>(at);
  return {loadWord<ElementBytes>(machine, at, bytesWithin(0, bytes)),
          loadWord<ElementBytes>(machine, at + wordBytes, bytesWithin(wordBytes, bytes))};
}

template <uint32_t ElementBytes, typename Machine>
GC3_DEVICE void storePack(Machine &machine, std::byte *at, const Pack &pack, uint32_t bytes) {
  if (bytes >= sizeof(Pack) && address(at) % sizeof(Pack) == 0) {
    machine.template store<sizeof(Pack)>(at, pack);
    return;
  }
  storeWord<ElementBytes>(machine, at, pack.low, bytesWithin(0, bytes));
  storeWord<ElementBytes>(machine, at + wordBytes, pack.high, bytesWithin(wordBytes, bytes));
}

} // namespace gc3::kernel
