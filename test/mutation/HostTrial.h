// SPDX-License-Identifier: Apache-2.0
// The oracle: runs a program on the interpreter of the host executor, in orders that are likely to show errors. It uses
// no results of Verify. Waits and messages have the meaning that the executor gives them.
#pragma once

#include "Data.h"
#include "bundle/BundleFile.h"
#include "core/Selection.h"
#include "host/Run.h"
#include <memory>

namespace gc3::mutation {

enum class Outcome : uint8_t { Right, Wrong, Stuck };

/// How a run moves messages, and what its memory holds before.
struct Conditions {
  uint32_t slots;
  uint64_t tileElements;
  bool direct;             ///< messages bypass their slots where possible
  Element before = poison; ///< initial value of all memory except the input
};

/// Memory of all ranks after a run.
struct Memory {
  Element before; ///< value of unwritten elements
  std::vector<Element> elements;
  /// Returns true if both memories are equal. An unwritten element equals any other unwritten element.
  bool agrees(const Memory &other) const;
};

/// A step of the program. `block` counts the thread blocks of all ranks.
struct Held {
  uint32_t block;
  uint32_t step;
};

class HostTrial {
public:
  /// Loads a bundle with one program. Returns null if the reader rejects it.
  static std::unique_ptr<HostTrial> load(const std::string &bytes);

  /// Returns the layout for `count` elements per block, which the constructor of Data needs.
  core::Layout layout(uint64_t count) const;
  /// Returns the count with which every slot has `elements` elements.
  uint64_t wholeCount(uint64_t elements) const { return elements * core::slotsPerBlock(program().info()); }
  uint32_t ranks() const { return program().ranks(); }
  bool anyDirect() const { return loaded.asWritten->any(); }
  bool isSimple() const { return program().info().protocol() == bundle::fbs::Protocol::Simple; }
  /// Returns all steps of a rank.
  std::vector<Held> stepsOf(uint32_t rank) const;
  Held stepAt(uint32_t rank, uint32_t block, uint32_t step) const {
    return {program().firstThreadBlock(rank) + block, step};
  }

  /// Runs in the executor's adversarial order for this seed.
  Outcome runAdversarial(const Data &data, const Conditions &conditions, uint64_t seed);
  /// Holds a step back in its first tile until no other step can continue. If the caller holds back each step in turn,
  /// every two unordered steps run in both orders.
  Outcome runHolding(const Data &data, const Conditions &conditions, Held held, uint64_t seed);

  /// Returns the memory after the last run whose steps have all finished.
  const Memory &memory() const { return left; }

  /// Returns true if `first` can finish before `second` begins, with an unlimited number of slots.
  bool canPrecede(const Data &data, Held first, Held second);
  /// Returns true if the step reads a slot that can still have its initial value.
  bool readsUnwritten(const Data &data, Held step);

private:
  class Session;
  const core::Program &program() const { return *loaded.program; }
  std::vector<uint32_t> allBlocks() const;
  template <typename Order>
  Outcome runToEnd(const Data &data, const Conditions &conditions, Order order);

  std::unique_ptr<bundle::BundleFile> file;
  core::LoadedProgram loaded;
  Memory left;
};

} // namespace gc3::mutation
