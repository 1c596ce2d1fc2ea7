// SPDX-License-Identifier: Apache-2.0
// The variables with which launchers describe a job to its processes. Pure functions of an environment.
#pragma once

#include "core/Result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gc3::job {

/// How a process was started, and where rank 0 is.
struct Launch {
  static constexpr uint32_t portCount = 16;

  std::string launcher; ///< such as "torchrun"
  uint32_t rank = 0, ranks = 1;
  uint32_t localRank = 0, localRanks = 1; ///< among the ranks of this host; 0 ranks: unknown
  /// Name or address of rank 0's host. Rank 0 listens at the first free port of firstPort .. firstPort + portCount - 1.
  std::string rootHost;
  uint16_t firstPort = 0;
  std::string key; ///< identifies the job. Ranks with different keys do not join each other

  bool operator==(const Launch &) const = default;
};

/// Reads `NAME=VALUE` entries. Returns nothing if no launcher has started the process. If several launchers have, as
/// where torchrun runs under Slurm, the first counts of: gc3 (GC3_RANK), torchrun, Open MPI, MPICH, Slurm. The host of
/// rank 0 is that of GC3_ROOT, then MASTER_ADDR, then that of the launcher. The first port follows MASTER_PORT, or
/// depends on the job; GC3_ROOT can also have it.
/// gc3InvalidUsage: variables are malformed, contradict each other, or are missing, also if a launcher's rank is set
/// without its other marks; the text names the variable.
core::Result<std::optional<Launch>> readLaunch(std::span<const char *const> environment);

} // namespace gc3::job
