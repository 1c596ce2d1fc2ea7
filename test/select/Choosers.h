// SPDX-License-Identifier: Apache-2.0
// The selectors that the search runs.
#pragma once

#include "Search.h"
#include "select/Digest.h"
#include "select/Selector.h"

#include <array>
#include <bit>
#include <memory>

namespace gc3::select {

/// All contexts of one rank. choose() sets the arm of a call, and whether it is timed.
class AnyChooser {
public:
  static constexpr uint32_t contexts = 2, buckets = 4, arms = 5;

  virtual ~AnyChooser() = default;
  virtual void choose(Call &call) = 0;
  virtual void add(const Call &call, float sample) = 0;
  virtual uint64_t digest() const = 0;
  virtual void flipBit(uint32_t bit) = 0;
};

class SensitiveChooser final : public AnyChooser {
public:
  void choose(Call &call) override {
    state = mix(state, call.context * buckets + call.bucket);
    call.arm = static_cast<uint32_t>((state >> 32U) % arms);
  }
  void add(const Call &call, float sample) override {
    state = mix(mix(state, std::bit_cast<uint32_t>(sample)), (call.context * buckets + call.bucket) * arms + call.arm);
  }
  uint64_t digest() const override { return state; }
  void flipBit(uint32_t bit) override { state ^= uint64_t(1) << bit; }

private:
  uint64_t state = 1;
};

class SelectorChooser final : public AnyChooser {
public:
  SelectorChooser() {
    Arms table{buckets, arms, std::vector<float>(size_t(buckets) * arms), std::vector<uint32_t>(buckets)};
    for (uint32_t i = 0; i < buckets * arms; ++i)
      table.predicted[i] = 50.0F + static_cast<float>(i % 7);
    for (uint32_t c = 0; c < contexts; ++c)
      selectors.emplace_back(table, budget);
  }
  void choose(Call &call) override {
    uint32_t &repeats = repeatsOf[call.context * buckets + call.bucket];
    call.isTimed = repeats == 0;
    if (!call.isTimed) {
      --repeats;
      call.arm = selectors[call.context].favourite(call.bucket);
      return;
    }
    const Selector::Choice choice = selectors[call.context].choose(call.bucket);
    call.arm = choice.arm, repeats = choice.repeats;
  }
  void add(const Call &call, float sample) override { selectors[call.context].add(call.bucket, call.arm, sample); }
  uint64_t digest() const override { return mix(selectors[0].digest(), selectors[1].digest()); }
  /// Adds a time that the other ranks do not have: the selector's fields are private.
  void flipBit(uint32_t bit) override { selectors[0].add(bit % buckets, bit % arms, 20); }

private:
  Budget budget{0.02};
  std::vector<Selector> selectors;
  std::array<uint32_t, contexts * buckets> repeatsOf{};
};

inline std::unique_ptr<AnyChooser> makeChooser(Chooser kind) {
  if (kind == Chooser::Sensitive)
    return std::make_unique<SensitiveChooser>();
  return std::make_unique<SelectorChooser>();
}

} // namespace gc3::select
