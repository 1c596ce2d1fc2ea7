// SPDX-License-Identifier: Apache-2.0
// Makes the values of Inputs.h. The loops have no branches on data, so that they vectorise.
#include "Inputs.h"

#include "host/Random.h"

#include <bit>
#include <limits>
#include <type_traits>

namespace gc3::run {

using namespace core;

namespace {

/// A hash with 32 well-mixed bits per element.
struct Hash {
  uint32_t key;
  uint32_t operator()(uint64_t i) const {
    uint32_t x = (static_cast<uint32_t>(i) + static_cast<uint32_t>(i >> 32) * 0x85ebca6bu) * 0x9e3779b1u ^ key;
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
  }
};

float signedUnit(uint32_t bits) { // magnitude 1 .. 2, either sign
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

/// Returns a finite value: with the top exponent bit cleared, no float is infinite or NaN.
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
  const InputKind &kind;
  T *data;
  uint64_t first, count;
  uint32_t rank;
  Hash hash, second;
  uint32_t busy = busyRanks(kind.type, kind.purpose, kind.ranks);

  T any(uint64_t i) const { return anyValue<T>(hash(i), sizeof(T) == 8 ? second(i) : hash(i)); }

  /// Sets each element to value(element number, whether this rank is busy there).
  template <typename Value>
  void fill(Value value) const {
    uint64_t before = (first + kind.roundOffset) % kind.ranks * busy;
    auto firstBusy = static_cast<uint32_t>(before % kind.ranks);
    for (uint64_t i = 0; i < count; ++i) {
      uint32_t distance = rank >= firstBusy ? rank - firstBusy : rank + kind.ranks - firstBusy;
      data[i] = value(first + i, distance < busy);
      firstBusy += busy;
      firstBusy -= firstBusy >= kind.ranks ? kind.ranks : 0;
    }
  }

  void dense() const {
    for (uint64_t i = 0; i < count; ++i)
      data[i] = fromFloat<T>(0.5f * signedUnit(hash(first + i)));
  }

  void integers() const {
    using U = std::make_unsigned_t<T>;
    using Bounds = std::numeric_limits<T>;
    // For averages, the values must be large enough to change the quotient. A contribution c changes a wrapped sum by c
    // or c - 2^bits. The quotient changes if both are at least 2n in magnitude, where n is the number of contributions.
    constexpr U top = static_cast<U>(U{1} << (sizeof(T) * 8 - 1));
    const bool coarse = kind.contributions >= top / 2;
    const U least = coarse ? top : static_cast<U>(2 * kind.contributions);
    const U span = coarse ? U{1} : static_cast<U>(U{0} - static_cast<U>(2 * least));
    for (uint64_t i = first; i < first + count; ++i) {
      T value = any(i);
      if (kind.purpose == Purpose::Sum)
        value = static_cast<T>(value + (value == 0));
      else if (kind.purpose == Purpose::MulSum) // odd, so that twice the value is not 0 either
        value = static_cast<T>(value | 1);
      else if (kind.purpose == Purpose::Avg)
        value = static_cast<T>(least + (span == 0 ? static_cast<U>(value) : static_cast<U>(value) % span));
      else if (kind.purpose == Purpose::Prod)
        value = (value | 1) == 1 ? T{3} : static_cast<T>(value | 1);
      data[i - first] = value;
    }
    if (kind.purpose != Purpose::Max && kind.purpose != Purpose::Min)
      return;
    fill([&](uint64_t i, bool extreme) {
      auto eighth = static_cast<T>(static_cast<U>(any(i)) / 8);
      T other = static_cast<T>(any(i) / 2 + (std::is_signed_v<T> ? T{0} : static_cast<T>(top / 2)));
      T largest = static_cast<T>(Bounds::max() - eighth), smallest = static_cast<T>(Bounds::min() + eighth);
      return !extreme ? other : kind.purpose == Purpose::Max ? largest : smallest;
    });
  }

  void floats() const {
    const uint32_t whole = wholeNumbers(kind.type);
    const uint32_t range = (kind.purpose == Purpose::MulSum ? whole / 2 : whole) / busy;
    switch (kind.purpose) {
    case Purpose::Copy:
      for (uint64_t i = 0; i < count; ++i)
        data[i] = any(first + i);
      return;
    case Purpose::Sum:
    case Purpose::MulSum:
      if (whole == 0)
        return dense();
      return fill([&](uint64_t i, bool mine) {
        uint32_t bits = hash(i);
        auto magnitude = static_cast<float>(1 + ((bits & 0xffffu) * range >> 16));
        return fromFloat<T>(!mine ? 0.0f : bits >> 31 ? -magnitude : magnitude);
      });
    case Purpose::Avg:
      if (whole == 0)
        return dense();
      return fill([&](uint64_t i, bool mine) { // magnitude 128 .. 192, either sign
        return fromFloat<T>(mine ? 128.0f * signedUnit(hash(i) & 0x803fffffu) : 0.0f);
      });
    case Purpose::Prod:
      return fill([&](uint64_t i, bool mine) {
        uint32_t bits = hash(i);
        float magnitude = signedUnit((bits & 0x1fffffu) | 0x400000u) - static_cast<float>(bits >> 30 & 1u);
        return fromFloat<T>(!mine ? 1.0f : bits >> 31 ? -magnitude : magnitude);
      });
    case Purpose::Max:
    case Purpose::Min:
      return fill([&](uint64_t i, bool extreme) { // all other values are below 2
        float magnitude = 2 * signedUnit(hash(i) & 0x007fffffu);
        return !extreme ? any(i) : fromFloat<T>(kind.purpose == Purpose::Max ? magnitude : -magnitude);
      });
    }
  }
};

} // namespace

void makeInput(const InputKind &kind, void *data, uint64_t first, uint64_t count, uint32_t rank) {
  auto key = [&](uint64_t salt) {
    return Hash{static_cast<uint32_t>(host::mixBits(kind.seed * 0x9e3779b97f4a7c15ull + salt))};
  };
  auto run = [&]<typename T>(T) {
    Maker<T> maker{
        kind, static_cast<T *>(data), first, count, rank, key(2 * uint64_t{rank} + 1), key(2 * uint64_t{rank} + 2)};
    if constexpr (std::is_integral_v<T>)
      maker.integers();
    else
      maker.floats();
  };
  switch (kind.type) {
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
