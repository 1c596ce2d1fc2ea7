// SPDX-License-Identifier: Apache-2.0
// A machine as other tools describe it: GPUs, their NVLinks, PCIe switches and network cards.
#pragma once

#include "gc3/Topology/Topology.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc3::topology {

struct Machine {
  static constexpr uint32_t None = UINT32_MAX;
  /// Largest number of GPUs. The table of their links has the square of it.
  static constexpr uint32_t MaxGpus = 1024;

  explicit Machine(uint32_t gpus) : gpus(gpus), nvlinks(gpus * gpus), switchLinks(gpus), pcieSwitch(gpus, None) {}

  uint32_t gpus;
  unsigned sm = 0;                   ///< compute capability times 10; 0: unknown
  std::vector<uint32_t> nvlinks;     ///< nvlinks[a * gpus + b]: the number of NVLinks from a to b, without a switch
  std::vector<uint32_t> switchLinks; ///< by GPU: the number of NVLinks to switches
  std::vector<uint32_t> pcieSwitch;  ///< by GPU: its outermost PCIe switch, or None
  double pcie = 0;                   ///< GB/s of a GPU's PCIe link; 0: unknown
  uint32_t cards = 0;                ///< network cards
  double card = 0;                   ///< GB/s of a card; 0: unknown
  std::string origin;                ///< the tool that described the machine

  uint32_t linksOf(uint32_t gpu) const;
};

/// Returns the machine as a topology. Uses defaults for what the tool does not report, and names each in `sources`.
Topology toTopology(const Machine &machine);

} // namespace gc3::topology
