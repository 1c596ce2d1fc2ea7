// SPDX-License-Identifier: Apache-2.0
// The judge: the interpreter of the host executor on one program, in orders that are made to break it. It knows nothing
// of what Verify thinks, nor of waits and messages but what the executor makes of them.
#pragma once

#include "Data.h"
#include "bundle/BundleFile.h"
#include "host/Run.h"
#include <memory>

namespace gc3::mutation {

enum class Outcome : uint8_t { Right, Wrong, Stuck };

/// How messages travel, and how much at a time.
struct Conditions {
  uint32_t slots;
  uint64_t tileElements;
  bool direct; ///< messages skip their slots where they may
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
  host::Layout layout(uint64_t count) const;
  /// Elements per block with which every slot has `elements`.
  uint64_t wholeCount(uint64_t elements) const { return elements * host::slotsPerBlock(program->info()); }
  uint32_t ranks() const { return program->ranks(); }
  bool anyDirect() const { return transfers->any(); }
  /// All steps, as far as `rank` has them.
  std::vector<Held> stepsOf(uint32_t rank) const;

  /// As the executor's adversarial order goes for this seed.
  Outcome runAdversarial(const Data &data, const Conditions &conditions, uint64_t seed);
  /// One step waits (in the first tile) until nothing else can go on without it. Steps that nothing orders are run in
  /// both orders so, when each is held back in turn.
  Outcome runHolding(const Data &data, const Conditions &conditions, Held held, uint64_t seed);

private:
  struct Memory;
  template <typename Order>
  Outcome run(const Data &data, const Conditions &conditions, Order order);

  std::unique_ptr<bundle::BundleFile> file;
  std::unique_ptr<host::Program> program;
  std::unique_ptr<host::Transfers> transfers;
};

} // namespace gc3::mutation
