// SPDX-License-Identifier: Apache-2.0
// The symbolic value of a slot: a multiset of input slots. There are two domains with one interface: hashes (fast) and
// exact multisets (hash-consed).
#pragma once

#include "llvm/ADT/DenseMap.h"
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace gc3::verify {

/// Returns the sum, or the largest number if the sum overflows. A wrong multiplicity must not wrap around to the
/// correct one.
template <typename Number>
Number saturatingSum(Number a, Number b) {
  Number sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<Number>::max() : sum;
}

/// The finaliser of splitmix64: a bijection that spreads every bit.
inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Returns the number of an input slot.
inline uint64_t inputKey(uint32_t rank, uint32_t slot) {
  return uint64_t(rank) << 32 | slot;
}

/// 128-bit additive hashes: the hash of a multiset is the sum of its elements' hashes, so equal multisets have equal
/// hashes, in whatever order they were combined. The number of elements is kept too, because 2^64 times an element has
/// the hash of the empty multiset. Different multisets collide with a probability below 2^-64. The hashes use random
/// keys that differ in each process, because it is easy to find sums of known hashes that collide.
struct HashDomain {
  static constexpr uint32_t mostCounted = std::numeric_limits<uint32_t>::max() - 1;
  struct Value {
    uint64_t low = 0;
    uint64_t high = 0;
    uint32_t count = 0; ///< if larger than mostCounted, the number is unknown
    bool operator==(const Value &) const = default;
  };
  static Value unset() { return {}; }

  Value input(uint32_t rank, uint32_t slot) const { return input(inputKey(rank, slot)); }
  Value combine(Value a, Value b) const { return {a.low + b.low, a.high + b.high, saturatingSum(a.count, b.count)}; }

  /// Sum of many inputs.
  class Sum {
  public:
    explicit Sum(const HashDomain &domain) : domain(domain) {}
    void add(uint32_t rank, uint32_t slot) { sum = domain.combine(sum, domain.input(rank, slot)); }
    Value value() const { return sum; }

  private:
    const HashDomain &domain;
    Value sum;
  };

private:
  struct Keys {
    uint64_t low;
    uint64_t high;
  };
  static Keys randomKeys();
  Value input(uint64_t key) const {
    return {mix(mix(key ^ keys.low) + keys.high), mix(mix(key ^ keys.high) + keys.low), 1};
  }

  Keys keys = randomKeys();
};

/// Explicit multisets, each stored once; a value is its number. Takes memory for every different multiset that a slot
/// ever holds: for a ring, proportional to the cube of its ranks.
class ExactDomain {
public:
  struct Value {
    uint32_t id = 0;
    bool operator==(const Value &) const = default;
  };
  struct Element {
    uint64_t key;   ///< rank << 32 | slot
    uint64_t times; ///< 2^64 - 1 means this number or more, which needs a postcondition of at least 2^32 runs
    bool operator==(const Element &) const = default;
  };
  static Value unset() { return {}; }

  /// Keeps at most `maxElements` elements. After that, isExhausted() returns true, and values are wrong.
  explicit ExactDomain(uint64_t maxElements = ~uint64_t(0)) : remaining(maxElements) {
    intern({}); // number 0, which is unset(), is the empty multiset
  }
  bool isExhausted() const { return exhausted; }
  Value input(uint32_t rank, uint32_t slot) { return intern({{inputKey(rank, slot), 1}}); }
  Value combine(Value a, Value b);
  const std::vector<Element> &elements(Value value) const { return sets[value.id]; }

  /// Sum of many inputs, at most `remaining` elements. An input that is added several times in a row is one element.
  class Sum {
  public:
    explicit Sum(ExactDomain &domain) : domain(domain) {}
    void add(uint32_t rank, uint32_t slot) {
      uint64_t key = inputKey(rank, slot);
      if (!inputs.empty() && inputs.back().key == key) {
        ++inputs.back().times;
        return;
      }
      domain.exhausted |= inputs.size() == domain.remaining;
      if (!domain.exhausted)
        inputs.push_back({key, 1});
    }
    Value value();

  private:
    ExactDomain &domain;
    std::vector<Element> inputs;
  };

private:
  Value intern(std::vector<Element> set);

  uint64_t remaining;
  bool exhausted = false;
  std::vector<std::vector<Element>> sets;
  llvm::DenseMap<uint64_t, std::vector<uint32_t>> byHash;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, uint32_t> sums;
};

} // namespace gc3::verify
