// SPDX-License-Identifier: Apache-2.0
// Times the candidates: by the simulator, or by measurements on this machine.
#pragma once

#include "Calls.h"
#include "Contest.h"
#include "Groups.h"

namespace gc3::tune {

class Timer {
public:
  /// The arguments must outlive this object. `topology` may be null if the candidates are measured and there is no
  /// baseline.
  Timer(const CommandLine &line, Candidates &candidates, const topology::Topology *topology);

  /// Groups the candidates by collective, and times them at all sizes. Candidates without a time are dropped. With
  /// Timing::Learned, only groups them. Returns an error text, or an empty string.
  std::string run(std::vector<Contest> &contests);

  /// Returns the time of a candidate of the contest, or of the baseline, at another size: simulated, or interpolated
  /// between the measured sizes. Returns infinity if there is none.
  double at(const Contest &contest, uint32_t candidate, uint64_t count) const;
  /// Returns the bytes of a call.
  uint64_t bytesOf(const Contest &contest, uint64_t count) const;

private:
  std::string open();
  void add(const sim::Group &group, std::vector<Contest> &contests) const;
  std::string listSizes(Contest &contest) const;
  std::optional<sim::CallOptions> largestCall() const;
  void simulateAll(Contest &contest);
  std::string measureAll(std::vector<Contest> &contests);
  std::string measureOnce(const std::string &path, const sim::CallOptions &sizes, std::vector<Contest> &contests) const;
  std::string checkRanks(const Contest &contest) const;
  void timeBaseline(Contest &contest) const;
  std::string removeUntimed(std::vector<Contest> &contests) const;
  std::string firstReason(const Contest &contest) const;
  std::string checkTimes(const Contest &contest) const;
  std::string simulate(uint32_t candidate, uint64_t count, double &time) const;

  const CommandLine &line;
  Candidates &candidates;
  sim::CallOptions calls;
  std::optional<simulate::Fabric> fabric;
  simulate::NcclSystem nccl;
  std::string bytes;                        ///< a bundle of all candidates, in their order
  std::unique_ptr<bundle::BundleFile> file; ///< the same, opened
  std::optional<sim::Groups> groups;
};

} // namespace gc3::tune
