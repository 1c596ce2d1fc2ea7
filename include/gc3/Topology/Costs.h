// SPDX-License-Identifier: Apache-2.0
// What a GPU adds to the costs of links (docs/simulation.md). The defaults cost nothing, so that a topology without
// these figures follows the plain model of alpha and beta.
#pragma once

#include "gc3/Topology/LinkKind.h"

#include <array>
#include <limits>
#include <string_view>

namespace gc3::topology {

inline constexpr double Unlimited = std::numeric_limits<double>::infinity();

/// Costs of one protocol. Rates count bytes of data, without flags.
struct ProtocolCosts {
  double copy = Unlimited;   ///< rate at which a thread block copies, in GB/s
  double reduce = Unlimited; ///< rate at which a thread block combines two operands, in GB/s
  double grain = 0;          ///< bytes of data of a message of LL or LL128 that arrive before its receiver begins
  std::array<double, LinkKinds> hop = {}; ///< microseconds of a message in addition to alpha, by the kind of its link

  /// Returns true if any figure differs from its default.
  bool isSet() const {
    bool any = copy != Unlimited || reduce != Unlimited || grain != 0;
    for (const double latency : hop)
      any |= latency != 0;
    return any;
  }
};

/// Processors that run the thread blocks of all ranks, as in the host executor. A step occupies one of them.
struct Processors {
  double count = Unlimited;
  double cache = Unlimited; ///< bytes of the call's data up to which reads and writes cost nothing more
  double miss = 0; ///< microseconds per million bytes read or written, for each doubling of the data beyond `cache`
};

inline constexpr unsigned ProtocolCount = 3;
/// The spellings in JSON, indexed by protocol as bundles number them.
inline constexpr std::string_view ProtocolNames[ProtocolCount] = {"simple", "ll", "ll128"};

struct Costs {
  double launch = 0;         ///< microseconds from the beginning of a call to the first step of a thread block
  double step = 0;           ///< microseconds of each step, after all its conditions hold
  double prepare = 0;        ///< microseconds from the end of a step until its thread block can begin the next one
  double wait = 0;           ///< microseconds from the end of a step to a thread block that waits for it
  double memory = Unlimited; ///< bandwidth of a GPU's memory in GB/s; a read and a write count separately
  Processors processors;
  std::array<ProtocolCosts, ProtocolCount> protocols = {};

  /// Returns true if any figure differs from its default.
  bool isSet() const {
    bool any =
        launch != 0 || step != 0 || prepare != 0 || wait != 0 || memory != Unlimited || processors.count != Unlimited;
    for (const ProtocolCosts &protocol : protocols)
      any |= protocol.isSet();
    return any;
  }
};

} // namespace gc3::topology
