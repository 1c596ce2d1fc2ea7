// SPDX-License-Identifier: Apache-2.0
// An independent simulation of a call, as docs/simulation.md describes it: it keeps the times of all steps and
// messages, and computes all rates anew after each event. It has neither a queue of events nor lists of waiting blocks.
#pragma once

#include "Workload.h"

namespace gc3::simulate {

class NaiveEngine {
public:
  /// `workload` must outlive this object. It must be prepared without symmetry.
  explicit NaiveEngine(const Workload &workload);

  /// Returns the time of the call in microseconds, or infinity if the program deadlocks.
  double run();

private:
  static constexpr double Unknown = std::numeric_limits<double>::infinity();

  struct Transfer {
    bool isMoving = false;
    uint32_t uses = 0;
    double limit = 0, remaining = 0, rate = 0;
  };
  struct Block {
    uint64_t next = 0; ///< step in all tiles
    double ready = 0;
    bool hasMoved = false; ///< the step only waits for the end of its message
    double moved = 0;
    uint64_t sent = 0, received = 0, returned = 0;
    std::vector<double> ends; ///< by step in all tiles
    Transfer transfer;
  };
  /// By message.
  struct Connection {
    std::vector<double> begun, ended, freed, requested, bytes;
    uint64_t put = 0;
    Transfer transfer;
  };

  const Workload::Step &step(uint32_t number) const;
  uint64_t tile(uint32_t number) const { return blocks[number].next / work.blocks[number].stepCount; }
  bool isDone(uint32_t number) const;
  double beginOf(uint32_t number) const;
  bool advanceBlock(uint32_t number);
  void complete(uint32_t number);
  bool advanceConnection(uint32_t number);
  void start(Transfer &transfer, uint32_t uses, double limit, double bytes);
  bool isOver(const Transfer &transfer) const;
  std::vector<Transfer *> moving();
  void share();
  double nextTime();

  const Workload &work;
  std::vector<Block> blocks;
  std::vector<Connection> connections;
  double now = 0, last = 0;
};

} // namespace gc3::simulate
