// SPDX-License-Identifier: Apache-2.0
// The time that exploration may cost, over all contexts of a communicator.
#pragma once

namespace gc3::select {

class Budget {
public:
  /// Exploration may cost `share` of the time of all calls, such as 0.02. 0: choices are frozen.
  explicit Budget(double share) : share(share) {}

  bool isFrozen() const { return share <= 0; }
  /// Returns whether exploration may cost `cost` microseconds more.
  bool allows(double cost) const { return spent + cost <= share * total; }
  void spend(double cost) { spent += cost; }
  /// Adds the time of a call.
  void addCall(double microseconds) { total += microseconds; }

  double timeOfCalls() const { return total; }
  double timeOfExploration() const { return spent; }

private:
  double share;
  double total = 0, spent = 0;
};

} // namespace gc3::select
