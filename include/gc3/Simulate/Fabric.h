// SPDX-License-Identifier: Apache-2.0
// A topology as the simulator sees it: capacities that transfers share, and the route of a message between two ranks.
#pragma once

#include "gc3/Topology/Topology.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc3::simulate {

/// Part of the hardware that has a capacity. `Out` and `In` are the two directions of a port or a trunk.
enum class ResourceKind : uint8_t { Link, Bound, PortOut, PortIn, TrunkOut, TrunkIn, Memory, Processors };

struct Resource {
  ResourceKind kind;
  uint32_t owner;  ///< number of the switch; else the number of the link, of the bound outside switches, or of the rank
  uint32_t part;   ///< number of the port or trunk in its switch
  double capacity; ///< bytes per microsecond; of processors: their number
};

/// The way of a message. The same route serves all messages between two ranks.
struct Route {
  topology::LinkKind kind = topology::LinkKind::Other;
  double alpha = 0; ///< microseconds
  std::vector<uint32_t> resources;
};

class Fabric {
public:
  static constexpr uint32_t None = UINT32_MAX;

  /// `topology` must outlive this object.
  explicit Fabric(const topology::Topology &topology);

  const topology::Topology &topology() const { return whole; }
  const std::vector<Resource> &resources() const { return all; }
  /// Returns the resource of a rank's memory, or None if its bandwidth is unlimited.
  uint32_t memoryOf(uint32_t rank) const { return firstMemory == None ? None : firstMemory + rank; }
  /// Returns the resource of the processors that all thread blocks share, or None if their number is unlimited. A
  /// transfer uses it for microseconds instead of bytes.
  uint32_t processors() const { return ofProcessors; }

  /// Returns the way from one rank to another: the link or switch with the smallest beta, and the first one if several
  /// are equal. Links come before switches. A network joins machines, so it serves only ranks that nothing else joins.
  /// Returns nothing if the ranks have neither link nor switch.
  std::optional<Route> route(uint32_t from, uint32_t to) const;

  /// Returns a name such as "network port of rank 3, out".
  std::string nameOf(uint32_t resource) const;

private:
  /// A port of a rank.
  struct RankPort {
    uint32_t ofSwitch, port;
  };
  void addLinks();
  void addBounds();
  void addSwitches();
  uint32_t add(ResourceKind kind, uint32_t owner, uint32_t part, double capacity);
  uint32_t findLink(uint32_t from, uint32_t to) const;
  const RankPort *findPort(uint32_t rank, uint32_t ofSwitch) const;
  Route overLink(uint32_t link) const;
  Route overSwitch(uint32_t number, uint32_t portFrom, uint32_t portTo) const;

  const topology::Topology &whole;
  std::vector<Resource> all;
  std::vector<uint32_t> linkOrder;       ///< links outside switches, by their ends
  std::vector<uint32_t> resourceOfLink;  ///< by link; None: unlimited, or part of a switch
  topology::BoundsOfLinks boundsOf;      ///< by link
  std::vector<uint32_t> resourceOfBound; ///< by bound; None: part of a switch
  std::vector<uint32_t> firstOfSwitch;   ///< by switch: the resource of its first port; None: unlimited
  std::vector<uint32_t> portsBegin;      ///< rank r has ports[portsBegin[r] .. portsBegin[r + 1])
  std::vector<RankPort> ports;
  uint32_t firstMemory = None, ofProcessors = None;
};

} // namespace gc3::simulate
