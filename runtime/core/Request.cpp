// SPDX-License-Identifier: Apache-2.0
// Compares requests with each other, and programs with standard collectives. A program must have the shape of the
// collective whose call it serves, because the caller sizes its buffers by NCCL's rules.
#include "core/Request.h"

namespace gc3::core {

using common::Blocks;
using common::StandardCollective;

namespace {

uint32_t expectedBlocks(Blocks blocks, uint32_t rank, uint32_t ranks, uint32_t root) {
  switch (blocks) {
  case Blocks::One: return 1;
  case Blocks::PerRank: return ranks;
  case Blocks::OneOnRoot: return rank == root ? 1 : 0;
  case Blocks::PerRankOnRoot: return rank == root ? ranks : 0;
  }
  return 0;
}

std::string describe(const Request &request) {
  std::string text = "'";
  text.append(request.name).append("' of ").append(std::to_string(request.count)).append(" ");
  text.append(elementTypeName(static_cast<ElementType>(request.type))).append(", ");
  text.append(request.preMulSum ? "premulsum" : reduceOpName(static_cast<ReduceOp>(request.op)));
  return request.root < 0 ? text : text + ", root " + std::to_string(request.root);
}

} // namespace

Outcome checkRequest(const Request &request, uint32_t rank, uint32_t ranks) {
  auto refuse = [rank](const std::string &what) {
    return Outcome{gc3InvalidArgument, "rank " + std::to_string(rank) + ": " + what};
  };
  if (request.type < 0 || request.type >= gc3NumTypes)
    return refuse("unknown data type " + std::to_string(static_cast<int>(request.type)));
  if (request.op < 0 || request.op >= gc3NumOps)
    return refuse("unknown reduction " + std::to_string(static_cast<int>(request.op)));
  if (const auto type = static_cast<ElementType>(request.type); request.preMulSum && request.preMulSum->type != type)
    return refuse("the reduction was created for " + std::string(elementTypeName(request.preMulSum->type)) +
                  ", but the call has elements of type " + elementTypeName(type));
  if (request.root < -1 || request.root >= static_cast<int>(ranks))
    return refuse("root " + std::to_string(request.root) + " is out of range; the last rank is " +
                  std::to_string(ranks - 1));
  return {};
}

Outcome checkRequests(std::span<const Request> requests) {
  const auto ranks = static_cast<uint32_t>(requests.size());
  for (uint32_t r = 0; r < ranks; ++r) {
    if (Outcome outcome = checkRequest(requests[r], r, ranks); !outcome.ok())
      return outcome;
    if (!requests[r].matches(requests[0]))
      return {gc3InvalidUsage, "the calls of the ranks do not match: rank 0 calls " + describe(requests[0]) +
                                   "; rank " + std::to_string(r) + " calls " + describe(requests[r])};
  }
  return {};
}

Outcome toOutcome(const bundle::BundleStatus &status) {
  using bundle::BundleError;
  auto code = [&] {
    switch (status.error) {
    case BundleError::None: return gc3Success;
    case BundleError::System: return gc3SystemError;
    case BundleError::NotABundle: return gc3NotABundle;
    case BundleError::Truncated: return gc3BundleTruncated;
    case BundleError::TooNew: return gc3BundleTooNew;
    case BundleError::Corrupt: return gc3BundleCorrupt;
    case BundleError::Invalid: return gc3BundleInvalid;
    }
    return gc3InternalError;
  };
  return {code(), status.message};
}

bool hasShape(const Program &program, const StandardCollective &standard, int &root) {
  const auto &info = program.info();
  root = -1;
  if (standard.hasRoot()) {
    auto found = isOnRoot(standard.input) ? program.onlyInput() : program.onlyOutput();
    if (!found)
      return false;
    root = static_cast<int>(*found);
  }
  if (info.input_chunks_per_block() != info.output_chunks_per_block())
    return false;
  for (uint32_t r = 0; r < program.ranks(); ++r)
    if (program.inputBlocks(r) != expectedBlocks(standard.input, r, program.ranks(), static_cast<uint32_t>(root)) ||
        program.outputBlocks(r) != expectedBlocks(standard.output, r, program.ranks(), static_cast<uint32_t>(root)))
      return false;
  return true;
}

} // namespace gc3::core
