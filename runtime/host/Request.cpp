// SPDX-License-Identifier: Apache-2.0
// The table of standard collectives. Shapes are compared before a program serves a call, because the caller sized its
// buffers by NCCL's rules and not by the program's.
#include "host/Request.h"

namespace gc3::host {

namespace {

constexpr StandardCollective standardCollectives[] = {
    {"allreduce", Blocks::One, Blocks::One},          {"allgather", Blocks::One, Blocks::PerRank},
    {"reduce_scatter", Blocks::PerRank, Blocks::One}, {"alltoall", Blocks::PerRank, Blocks::PerRank},
    {"broadcast", Blocks::OneOnRoot, Blocks::One},    {"reduce", Blocks::One, Blocks::OneOnRoot},
    {"gather", Blocks::One, Blocks::PerRankOnRoot},   {"scatter", Blocks::PerRankOnRoot, Blocks::One},
};

uint32_t expectedBlocks(Blocks blocks, uint32_t rank, uint32_t ranks, uint32_t root) {
  switch (blocks) {
  case Blocks::One: return 1;
  case Blocks::PerRank: return ranks;
  case Blocks::OneOnRoot: return rank == root ? 1 : 0;
  case Blocks::PerRankOnRoot: return rank == root ? ranks : 0;
  }
  return 0;
}

} // namespace

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

int64_t StandardCollective::inPlaceOffset(uint32_t rank, uint64_t count) const {
  auto part = static_cast<int64_t>(rank * count);
  bool wideInput = input == Blocks::PerRank || input == Blocks::PerRankOnRoot;
  bool wideOutput = output == Blocks::PerRank || output == Blocks::PerRankOnRoot;
  if (wideInput == wideOutput)
    return 0;
  return wideInput ? part : -part;
}

const StandardCollective *findStandard(std::string_view name) {
  for (const StandardCollective &standard : standardCollectives)
    if (name == standard.name)
      return &standard;
  return nullptr;
}

bool hasShape(const Program &program, const StandardCollective &standard, int &root) {
  const auto &info = program.info();
  root = -1;
  if (standard.hasRoot()) {
    auto found = standard.input >= Blocks::OneOnRoot ? program.onlyInput() : program.onlyOutput();
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

} // namespace gc3::host
