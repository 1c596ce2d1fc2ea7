// SPDX-License-Identifier: Apache-2.0
// The processes of a host communicator: their connections, and the memory that they share.
#pragma once

#include "host/Site.h"
#include "job/Assembly.h"

#include <memory>
#include <vector>

namespace gc3::api {

class Processes final : public host::Neighbours {
public:
  using Assemblies = std::vector<std::unique_ptr<job::Assembly>>;

  /// `ownRanks` has the connections of this process's ranks, ascending by rank; at least one.
  Processes(Assemblies ownRanks, host::SharedFile sharedFile)
      : assemblies(std::move(ownRanks)), file(std::move(sharedFile)) {}
  /// Leaves the communicator, so that the other processes do not take the end of this one for a loss.
  ~Processes() override;

  core::Outcome findLoss() override;
  core::Outcome findLoss(uint32_t rank) override;
  void reportFailure(const core::Outcome &failure) override { assemblies[0]->report(failure); }
  bool isStopped(uint32_t rank) override;
  std::string describe(uint32_t rank) override;

  host::SharedFile &memory() { return file; }
  std::vector<uint32_t> ownRanks() const;

private:
  const Assemblies assemblies;
  host::SharedFile file;
};

} // namespace gc3::api
