// SPDX-License-Identifier: Apache-2.0
// The processes of a host communicator: their connections, and the memory that they share.
#pragma once

#include "host/Site.h"
#include "host/Transport.h"
#include "job/Assembly.h"

#include <memory>
#include <vector>

namespace gc3::api {

class Processes final : public host::Neighbours {
public:
  using Assemblies = std::vector<std::unique_ptr<job::Assembly>>;

  /// `ownRanks` has the connections of this process's ranks, ascending by rank; at least one.
  /// `toOtherHosts` is null if all ranks are on this host.
  Processes(Assemblies ownRanks, host::SharedFile sharedFile, std::unique_ptr<host::Transport> toOtherHosts)
      : assemblies(std::move(ownRanks)), file(std::move(sharedFile)), carrier(std::move(toOtherHosts)) {}
  /// Leaves the communicator, so that the other processes do not take the end of this one for a loss.
  ~Processes() override;

  core::Outcome findLoss() override;
  core::Outcome findLoss(uint32_t rank) override;
  void reportFailure(const core::Outcome &failure) override { assemblies[0]->report(failure); }
  bool isStopped(uint32_t rank) override;
  std::string describe(uint32_t rank) override;

  host::SharedFile &memory() { return file; }
  host::Transport *transport() const { return carrier.get(); }
  std::vector<uint32_t> ownRanks() const;
  /// Returns by rank whether the rank is on another host.
  std::vector<bool> areRemote() const;

private:
  bool isRemote(uint32_t rank) const;

  const Assemblies assemblies;
  host::SharedFile file;
  const std::unique_ptr<host::Transport> carrier;
};

} // namespace gc3::api
