// SPDX-License-Identifier: Apache-2.0
// The judge: the interpreter of the host executor on one program, in orders that are made to break it. It knows nothing
// of what Verify thinks, nor of waits and messages but what the executor makes of them.
#pragma once

#include "Data.h"
#include "bundle/BundleFile.h"
#include "core/Selection.h"
#include "host/Run.h"
#include <memory>

namespace gc3::mutation {

enum class Outcome : uint8_t { Right, Wrong, Stuck };

/// How messages travel, and how much at a time.
struct Conditions {
  uint32_t slots;
  uint64_t tileElements;
  bool direct;             ///< messages skip their slots where they may
  Element before = poison; ///< in all memory but the input
};

/// All memory of all ranks after a run.
struct Memory {
  Element before; ///< what it held
  std::vector<Element> elements;
  /// Whether it could have been left by the same program: elements differ only where both are as they were.
  bool agrees(const Memory &other) const;
};

/// One step of the program, by thread block over all ranks.
struct Held {
  uint32_t block;
  uint32_t step;
};

class HostTrial {
public:
  /// Loads a bundle of one program. Empty if its reader refuses it.
  static std::unique_ptr<HostTrial> load(const std::string &bytes);

  /// What callers need to make Data.
  core::Layout layout(uint64_t count) const;
  /// Elements per block with which every slot has `elements`.
  uint64_t wholeCount(uint64_t elements) const { return elements * core::slotsPerBlock(program().info()); }
  uint32_t ranks() const { return program().ranks(); }
  bool anyDirect() const { return loaded.asWritten->any(); }
  bool isSimple() const { return program().info().protocol() == bundle::fbs::Protocol::Simple; }
  /// All steps, as far as `rank` has them.
  std::vector<Held> stepsOf(uint32_t rank) const;
  Held stepAt(uint32_t rank, uint32_t block, uint32_t step) const {
    return {program().firstThreadBlock(rank) + block, step};
  }

  /// As the executor's adversarial order goes for this seed.
  Outcome runAdversarial(const Data &data, const Conditions &conditions, uint64_t seed);
  /// One step waits (in the first tile) until nothing else can go on without it. Steps that nothing orders are run in
  /// both orders so, when each is held back in turn.
  Outcome runHolding(const Data &data, const Conditions &conditions, Held held, uint64_t seed);

  /// What the last run has left, if it came to its end.
  const Memory &memory() const { return left; }

  /// Whether `first` can be over while `second` has not begun, however many slots that takes.
  bool canPrecede(const Data &data, Held first, Held second);
  /// Whether what the step reads holds, in some slot, what memory held before the run.
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
