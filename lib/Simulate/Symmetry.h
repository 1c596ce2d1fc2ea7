// SPDX-License-Identifier: Apache-2.0
// Parts of a call that have equal histories. A partition of thread blocks, connections and resources is equitable if
// all members of a class have the same relations to other classes:
//
//   thread blocks   equal steps; the classes of both connections, of the awaited blocks, and of the resources that each
//                   kind of step uses, with weights
//   connections     equal latencies; the classes of both ends, and of the resources that puts use, with weights
//   resources       equal capacities; the classes of their users, with the number of each class and with weights
//
// Then all members of a class do the same at the same time. By induction over the events: members of a class are in the
// same state up to now, so each resource of a class has the same users in flight. Max-min fair rates are unique, and
// filling treats all resources of a class alike, so all transfers of a class get the same rate. So the next event of a
// class happens at the same time in all its members.
#pragma once

#include "Whole.h"

namespace gc3::simulate {

/// A partition of the parts of one kind. Classes are numbered in the order of their first members.
struct Classes {
  std::vector<uint32_t> of;    ///< by part: its class
  std::vector<uint32_t> first; ///< by class: its first member
  std::vector<uint32_t> sizes; ///< by class: the number of its members

  uint32_t count() const { return static_cast<uint32_t>(first.size()); }
};

struct Partition {
  Classes blocks, connections, resources;
};

/// Returns the partition in which each part is a class of its own.
Partition withoutSymmetry(const Whole &whole);

/// Returns an equitable partition: the coarsest one, or withoutSymmetry() if the call has little symmetry. The call has
/// little symmetry if at least half of its thread blocks have different histories, or if a fixed number of rounds does
/// not separate all blocks with different histories. Linear in the parts and uses, times the rounds.
Partition findSymmetry(const Whole &whole);

/// Returns true if the partition is equitable. Compares all members of each class with its first one.
bool isEquitable(const Whole &whole, const Partition &partition);

} // namespace gc3::simulate
