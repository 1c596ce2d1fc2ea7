// SPDX-License-Identifier: Apache-2.0
// Transfers in flight share capacities max-min fairly: no transfer can be faster unless a slower one becomes slower
// still. Between two changes, each transfer has a constant rate.
//
// A transfer also has a limit of its own. A resource restricts nothing as long as the limits of its transfers together
// do not exceed its capacity. So a change only affects the transfers that it reaches over resources in excess demand.
// Their rates are computed anew, by filling all of them at the same pace until a resource is full or a limit is
// reached. This takes O(transfers reached × resources a transfer), for each of the different rates that result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace gc3::simulate {

/// A transfer of b bytes moves b * weight bytes over the resource.
struct ResourceUse {
  uint32_t resource;
  double weight;
};

class Sharing {
public:
  static constexpr uint32_t None = UINT32_MAX;

  /// `capacities` are bytes per microsecond, by resource. `actors` is the number of actors; each has at most one
  /// transfer. A transfer uses at most `mostUses` resources.
  Sharing(const std::vector<double> &capacities, uint32_t actors, size_t mostUses);

  /// Adds the actor's transfer at time `now`. `uses` must stay valid until it is removed; it names each resource once.
  /// `limit` is the transfer's largest rate in bytes per microsecond, and can be infinite if `uses` is not empty.
  void add(uint32_t actor, std::span<const ResourceUse> uses, double limit, double bytes, double now);
  void remove(uint32_t actor, double now);

  /// Computes the rates after some changes at time `now`. Appends the actors whose transfer ends at another time than
  /// before, with that time.
  void settle(double now, std::vector<std::pair<uint32_t, double>> &ends);

  /// Returns the time for which the next settle() may be postponed, in microseconds. It is 0 unless the last one
  /// reached many transfers. Otherwise it is a small part of the mean time that these still take, because each change
  /// of one of them changes the rates of all others only a little.
  double patience() const { return postponable; }

  /// Returns the resource that has restricted the actor's transfer for the longest time at one rate. Returns None if
  /// that was its own limit.
  uint32_t limiter(uint32_t actor) const { return transfers[actor].slowest; }
  /// Returns the bytes that have used each resource.
  const std::vector<double> &bytesMoved() const { return moved; }

private:
  /// Rates and capacities that differ by rounding errors count as equal.
  static constexpr double tolerance = 1e-12;
  /// Open transfers have at least this weight together; less is a rounding error.
  static constexpr double fewestWeights = 1e-6;

  struct Transfer {
    std::span<const ResourceUse> uses;
    double limit = 0;          ///< its own limit, or the smallest capacity that it uses
    uint32_t limitedBy = None; ///< the resource with that capacity; None: its own limit is smaller
    double remaining = 0;
    double rate = 0;
    double since = 0;      ///< time of `remaining`
    size_t firstPlace = 0; ///< its place in the list of uses[i] is places[firstPlace + i]
    uint32_t restrictedBy = None, slowest = None;
    double slowestTime = 0;
    uint32_t visit = 0; ///< the number of the last settle() that reached it
  };
  struct State {
    double capacity;
    double demand = 0;                                ///< sum of limit * weight over its transfers
    double free = 0, weights = 0;                     ///< while rates are computed
    std::vector<std::pair<uint32_t, uint32_t>> users; ///< actor, and index of its use
    uint32_t visit = 0;
    /// Returns the rate of its open transfers if these use all that is free.
    double level() const {
      return weights > fewestWeights ? std::max(0.0, free) / weights : std::numeric_limits<double>::infinity();
    }
    bool isExceeded() const { return demand > capacity * (1 + tolerance); }
  };
  void touch(uint32_t resource, bool wasExceeded);
  void reach();
  void fill();
  double fixLimited(double level);
  void fix(uint32_t actor, double rate, uint32_t restrictedBy);
  void setPatience(double now);
  void change(uint32_t actor, double now, std::vector<std::pair<uint32_t, double>> &ends);
  static void noteRate(Transfer &transfer, double now);

  const size_t mostUses;
  std::vector<State> resources;
  std::vector<Transfer> transfers; ///< by actor
  std::vector<uint32_t> places;
  std::vector<double> moved;
  std::vector<uint32_t> changedResources; ///< in or out of excess demand since the last settle()
  std::vector<uint32_t> added;            ///< actors with a new transfer
  uint32_t visits = 0;
  double postponable = 0;
  // While rates are computed: the transfers and resources reached, and the rates that are known.
  std::vector<uint32_t> reached, reachedResources, open;
  struct Fixed {
    double rate = 0;
    uint32_t restrictedBy = None;
    uint32_t visit = 0; ///< the rate is known in the settle() with this number
  };
  struct Level {
    double rate;
    uint32_t resource;
  };
  std::vector<Level> levels; ///< a heap
  std::vector<Fixed> fixed;  ///< by actor
};

} // namespace gc3::simulate
