// SPDX-License-Identifier: Apache-2.0
#include "NcclBaseline.h"

#include "gc3/Common/StandardCollective.h"

#include "core/Program.h"
#include "core/Proofs.h"
#include "ncclapi/Installed.h"

#include <cstdio>

namespace gc3::run {

using ncclapi::Collective;

std::optional<Collective> findInNccl(const bundle::BundleFile &file, uint32_t index) {
  const common::StandardCollective *standard = common::findStandard(file.program(index).collective()->str());
  if (!standard)
    return std::nullopt;
  const auto program = core::Program::load(file, index);
  const auto promised = file.check(index);
  int root = -1;
  if (!program.ok() || !promised.ok() || !core::hasShape(**program, *standard, root) ||
      !core::standardPromiseProblem(**program, *promised, *standard, static_cast<uint32_t>(root)).empty())
    return std::nullopt;
  for (const Collective collective :
       {Collective::AllGather, Collective::AllReduce, Collective::AlltoAll, Collective::Broadcast, Collective::Gather,
        Collective::Reduce, Collective::ReduceScatter, Collective::Scatter})
    if (ncclapi::standardName(collective) == std::string_view(standard->name))
      return collective;
  return std::nullopt;
}

NcclOperation::NcclOperation(Reduction reduction, gc3DataType_t type, uint32_t rank, ncclapi::Comm ofComm)
    : comm(ofComm), isOwn(reduction == Reduction::MulSum), op(static_cast<ncclapi::RedOp>(builtIn(reduction))) {
  uint64_t scalar = scalarOf(reduction, type, rank);
  if (isOwn)
    made = ncclapi::callInstalled<ncclapi::Function::RedOpCreatePreMulSum>(
        &op, static_cast<void *>(&scalar), static_cast<ncclapi::DataType>(type),
        ncclapi::ScalarResidence::HostImmediate, comm);
}

NcclOperation::~NcclOperation() {
  if (isOwn && made == ncclapi::Result::Success)
    (void)ncclapi::callInstalled<ncclapi::Function::RedOpDestroy>(op, comm);
}

std::string baselineColumns(const Row &row) {
  std::string columns;
  for (const Measurement &measurement : row.placement) {
    char text[64] = "         -         -";
    if (measurement.ncclMicroseconds > 0)
      std::snprintf(text, sizeof text, measurement.ncclMicroseconds < 99999 ? "%10.2f%10.2f" : "%10.0f%10.2f",
                    measurement.ncclMicroseconds, measurement.ncclMicroseconds / measurement.microseconds);
    columns += text;
  }
  return columns;
}

} // namespace gc3::run
