// SPDX-License-Identifier: Apache-2.0
// A call as flat arrays, for the engine. Steps, waits, batches of slots, tiles and bytes come from the image and the
// geometry that the GPU's interpreter reads (runtime/plan, runtime/kernel).
//
// Parts with equal histories (Symmetry.h) are simulated once: each thread block, connection and resource stands for a
// class of the call's. It has the relations of the class's first member, to other classes. A resource of class c has
// all users of one member of c. These are (size of the users' class) * (uses of c by one of them) / (size of c)
// transfers of equal rates. So a use has that factor in its weight, and each class of users has one transfer.
#pragma once

#include "Sharing.h"
#include "gc3/Simulate/Simulate.h"
#include "kernel/TileRuns.h"
#include "plan/ProgramImage.h"

namespace gc3::simulate {

struct Classes;
struct Partition;
struct Whole;

class Workload {
public:
  static constexpr uint32_t None = UINT32_MAX;

  struct Step {
    kernel::OpcodeFlags flags;
    bool isAwaited;
    uint32_t count; ///< slots
    uint32_t firstWait, waitCount;
    uint32_t uses;     ///< number of the step's list of resources
    uint32_t firstRun; ///< None: no slot is short; else `runs` has the step's runs from here on
    uint32_t runCount;
  };
  struct Wait {
    uint32_t block; ///< over all ranks
    uint32_t step;  ///< within the block
  };
  struct Block {
    uint32_t rank;
    uint32_t firstStep, stepCount;
    uint32_t out, in; ///< connections, or None
    uint32_t batch;   ///< slots that a receiver returns at a time
  };
  struct Connection {
    uint32_t sender, receiver; ///< blocks
    bool isNetwork;            ///< the message is put from the sender's slot after the step
    double hop;                ///< microseconds from the end of the transfer to the receiver, and for returned slots
    uint32_t putUses;          ///< list of resources of a put
  };

  /// Sets the costs of a call with this geometry.
  void setCosts(const kernel::KernelArgs &geometry, uint32_t elementBytes, kernel::Protocol protocol,
                const topology::Costs &costs);
  /// Takes all parts of a call after setCosts(). Merges each class of the partition.
  void merge(Whole whole, Partition partition);
  /// Returns the number of bytes on a link for a byte of data.
  double wireFactor() const { return wire; }

  /// Prepares a call. If `useSymmetry` is false, nothing is merged, and all numbers are those of the call. Returns an
  /// error text, or an empty string.
  std::string prepare(const Call &call, const Fabric &fabric, bool useSymmetry);

  uint64_t tiles() const { return arguments.tiles; }
  /// Returns the bytes of data that a step moves in a tile.
  double bytes(const Step &step, uint64_t tile) const;
  /// Returns the bytes of data of a step's message over a network.
  double putBytes(const Step &step) const { return static_cast<double>(step.count * arguments.tileStride); }
  /// Returns the largest rate of a step's own thread block, in bytes per microsecond.
  double rate(const Step &step) const { return step.flags.reduces() ? reduceRate : copyRate; }
  /// Returns the microseconds from the begin of a step that sends until its message begins to arrive, without the hop.
  double firstGrain(const Step &step, uint64_t tile) const { return std::min(grain, bytes(step, tile)) / rate(step); }
  std::span<const ResourceUse> usesOf(uint32_t list) const {
    return {uses.data() + usesBegin[list], uses.data() + usesBegin[list + 1]};
  }

  /// Returns the length of the longest list of resources.
  size_t mostUses() const { return longestList; }

  std::vector<Block> blocks;
  std::vector<Step> steps;
  std::vector<Wait> waits;
  std::vector<Connection> connections;
  std::vector<double> capacities;   ///< by resource, in bytes per microsecond
  std::vector<uint32_t> resourceOf; ///< by resource of the fabric: that of its class
  uint32_t slots = 0;
  bool cutsThrough = false; ///< LL, LL128: a receiver begins when the first bytes arrive
  double launch = 0, stepTime = 0, prepareTime = 0, waitTime = 0;

private:
  void mergeBlock(const Whole &whole, const Partition &partition, uint32_t ofClass);
  void mergeConnection(const Whole &whole, const Partition &partition, uint32_t ofClass);
  uint32_t addList(std::span<const ResourceUse> list, uint32_t users, const Classes &resources);

  kernel::KernelArgs arguments{};
  uint32_t elementBytes = 4;
  double copyRate = 0, reduceRate = 0;
  double grain = 0; ///< bytes that arrive before a receiver begins
  double wire = 1;  ///< bytes on a link for a byte of data
  std::vector<kernel::SlotRun> runs;
  std::vector<ResourceUse> uses;
  std::vector<uint32_t> usesBegin = {0};
  size_t longestList = 0;
};

} // namespace gc3::simulate
