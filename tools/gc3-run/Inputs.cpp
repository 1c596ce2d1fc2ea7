// SPDX-License-Identifier: Apache-2.0
// Inputs.h's values. The loops have no branches on data, so that they vectorise.
#include "Inputs.h"

#include "host/Random.h"

#include <bit>
#include <type_traits>

namespace gc3::run {

using namespace host;

namespace {

/// 32 well-mixed bits per element.
struct Hash {
  uint32_t key;
  uint32_t operator()(uint64_t i) const {
    uint32_t x = (static_cast<uint32_t>(i) + static_cast<uint32_t>(i >> 32) * 0x85ebca6bu) * 0x9e3779b1u ^ key;
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
  }
};

float signedUnit(uint32_t bits) { // +- 1 .. 2
  return std::bit_cast<float>((bits & 0x807fffffu) | 0x3f800000u);
}

template <typename T>
T fromFloat(float value) {
  if constexpr (sizeof(T) >= 4)
    return static_cast<T>(value);
  else if constexpr (std::is_same_v<T, Half>)
    return toHalf(value);
  else if constexpr (std::is_same_v<T, Bfloat16>)
    return toBfloat16(value);
  else if constexpr (std::is_same_v<T, Float8E4M3>)
    return toFloat8E4M3(value);
  else
    return toFloat8E5M2(value);
}

/// Any finite pattern: with the top exponent bit cleared nothing is infinite or NaN.
template <typename T>
T anyValue(uint32_t bits, uint32_t more) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(uint64_t{bits} << 32 | more);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(((uint64_t{bits} << 32 | more) & 0x800fffffffffffffull) | 0x3ff0000000000000ull);
  else if constexpr (std::is_same_v<T, float>)
    return signedUnit(bits);
  else if constexpr (sizeof(T) == 2)
    return {static_cast<uint16_t>(bits & 0xbfffu)};
  else
    return {static_cast<uint8_t>(bits & 0xbfu)};
}

template <typename T>
struct Maker {
  T *data;
  uint64_t first, count;
  uint32_t rank, ranks;
  Hash hash, second, shared;
  ElementType type;

  void copy() const {
    for (uint64_t i = 0; i < count; ++i)
      data[i] = anyValue<T>(hash(first + i), sizeof(T) == 8 ? second(first + i) : hash(first + i));
  }

  void odd() const {
    if constexpr (std::is_integral_v<T>)
      for (uint64_t i = 0; i < count; ++i)
        data[i] = static_cast<T>(anyValue<T>(hash(first + i), second(first + i)) | 1);
  }

  void dense() const {
    for (uint64_t i = 0; i < count; ++i)
      data[i] = fromFloat<T>(0.5f * signedUnit(hash(first + i)));
  }

  /// On element i the ranks shared(i), shared(i) + 1, ... have values, as many as may be busy.
  void sparse(float neutral, bool wide) const {
    uint32_t busy = busyRanks(type);
    for (uint64_t i = 0; i < count; ++i) {
      auto turn = static_cast<uint32_t>(uint64_t{shared(first + i)} * ranks >> 32);
      uint32_t distance = rank >= turn ? rank - turn : rank + ranks - turn;
      uint32_t bits = hash(first + i);
      float scale = wide && (bits & 0x40000000u) ? 1.0f : 0.5f;
      data[i] = fromFloat<T>(distance < busy ? scale * signedUnit(bits) : neutral);
    }
  }
};

template <typename T>
void make(Maker<T> maker, Purpose purpose) {
  bool sparse = isSparse(maker.type, purpose);
  if (purpose == Purpose::Prod && std::is_integral_v<T>)
    return maker.odd();
  if constexpr (!std::is_integral_v<T>) {
    if (sparse)
      return purpose == Purpose::Sum ? maker.sparse(0.0f, false) : maker.sparse(1.0f, true);
    if (purpose == Purpose::Sum)
      return maker.dense();
  }
  maker.copy();
}

} // namespace

void makeInput(ElementType type, Purpose purpose, void *data, uint64_t first, uint64_t count, uint32_t rank,
               uint32_t ranks, uint64_t seed) {
  auto key = [&](uint64_t salt) { return Hash{static_cast<uint32_t>(mixBits(seed * 0x9e3779b97f4a7c15ull + salt))}; };
  auto run = [&]<typename T>(T) {
    make(Maker<T>{static_cast<T *>(data), first, count, rank, ranks, key(3 * uint64_t{rank} + 1),
                  key(3 * uint64_t{rank} + 2), key(0), type},
         purpose);
  };
  switch (type) {
  case ElementType::Int8: return run(int8_t{});
  case ElementType::Uint8: return run(uint8_t{});
  case ElementType::Int32: return run(int32_t{});
  case ElementType::Uint32: return run(uint32_t{});
  case ElementType::Int64: return run(int64_t{});
  case ElementType::Uint64: return run(uint64_t{});
  case ElementType::Half: return run(Half{});
  case ElementType::Float: return run(float{});
  case ElementType::Double: return run(double{});
  case ElementType::Bfloat16: return run(Bfloat16{});
  case ElementType::Float8E4M3: return run(Float8E4M3{});
  case ElementType::Float8E5M2: return run(Float8E5M2{});
  }
}

} // namespace gc3::run
