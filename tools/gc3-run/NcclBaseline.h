// SPDX-License-Identifier: Apache-2.0
// NCCL's own collectives, with whose times --baseline nccl compares those of programs.
#pragma once

#include "Reduction.h"
#include "Row.h"

#include "bundle/BundleFile.h"
#include "ncclapi/CollectiveCall.h"

namespace gc3::run {

/// Returns NCCL's collective that does the same as a program. Returns nothing if there is none: the program has another
/// collective, or promises other results.
std::optional<ncclapi::Collective> findInNccl(const bundle::BundleFile &file, uint32_t program);

/// Like Operation, for NCCL's calls.
class NcclOperation {
public:
  NcclOperation(Reduction op, gc3DataType_t type, uint32_t rank, ncclapi::Comm comm);
  ~NcclOperation();
  NcclOperation(const NcclOperation &) = delete;
  NcclOperation &operator=(const NcclOperation &) = delete;
  ncclapi::Result result() const { return made; }
  ncclapi::RedOp handle() const { return op; }

private:
  const ncclapi::Comm comm;
  const bool isOwn;
  ncclapi::RedOp op;
  ncclapi::Result made = ncclapi::Result::Success;
};

/// The titles of NCCL's columns in the table.
inline constexpr char baselineTitles[] = "  nccl-out  speed-up   nccl-in  speed-up";
inline constexpr char baselineUnits[] = "      (us)                (us)";
/// Returns a row's text for these columns, with "-" for times that were not taken.
std::string baselineColumns(const Row &row);

} // namespace gc3::run
