// SPDX-License-Identifier: Apache-2.0
#include "Trial.h"

#include "bundle/Container.h"
#include "host/Reduce.h"

#include <algorithm>
#include <cstring>

namespace gc3::test {

namespace {

constexpr size_t gap = 64; ///< bytes before and after buffers, which a call must not change

} // namespace

bool Trial::exists() const {
  return options.op != core::ReduceOp::Avg || program.info().contributions() != 0;
}

std::string Trial::describe() const {
  return "program '" + program.info().name()->str() + "', " + std::to_string(options.count) + " " +
         elementTypeName(options.type) + ", " +
         (options.scalars == Scalars::None ? reduceOpName(options.op) : "premulsum") +
         (options.inPlace ? ", in place" : ", out of place") + ", off by " + std::to_string(options.misalignment) +
         ", seed " + std::to_string(options.seed);
}

/// Chooses the positions of the buffers of a rank. In place, the buffers overlap as the standard collective requires.
/// If the program implements no standard collective, both begin at the same address.
void Trial::place(uint32_t rank, Memory &rankMemory) const {
  const size_t size = layout.elementSize, begin = gap + options.misalignment * size;
  const uint64_t in = layout.ranks[rank].input.elements * size, out = layout.ranks[rank].output.elements * size;
  size_t end = 0;
  if (options.inPlace && in != 0 && out != 0) {
    const int64_t offset =
        loaded.standard ? loaded.standard->inPlaceOffset(rank, options.count) * static_cast<int64_t>(size) : 0;
    rankMemory.send = begin + static_cast<size_t>(std::max<int64_t>(0, -offset));
    rankMemory.recv = begin + static_cast<size_t>(std::max<int64_t>(0, offset));
    end = std::max(rankMemory.send + in, rankMemory.recv + out);
  } else {
    rankMemory.send = begin;
    rankMemory.recv = begin + in + gap;
    end = rankMemory.recv + out;
  }
  rankMemory.scalar = (end + gap + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
  rankMemory.bytes.resize(rankMemory.scalar + sizeof(uint64_t));
}

std::string Trial::prepare() {
  if (bundle::BundleStatus status = file.check(index).moveTo(check); !status.ok())
    return status.message;
  const size_t size = core::elementSize(options.type);
  if (std::string problem = layout.compute(program, options.count, size, {.tileElements = 1}); !problem.empty())
    return problem;
  host::Random random(options.seed);
  memory.resize(program.ranks());
  for (uint32_t rank = 0; rank < program.ranks(); ++rank) {
    place(rank, memory[rank]);
    for (std::byte &byte : memory[rank].bytes)
      byte = static_cast<std::byte>(random.next());
    if (!core::isInteger(options.type)) // makes floats smaller than 2, so that sums are finite
      for (size_t last = size - 1; last < memory[rank].bytes.size(); last += size)
        memory[rank].bytes[last] &= std::byte{0xbf};
  }
  return {};
}

void Trial::drawScalars(uint64_t seed) {
  host::Random random(seed);
  const size_t size = core::elementSize(options.type);
  for (Memory &rank : memory) {
    std::byte *scalar = rank.bytes.data() + rank.scalar;
    for (size_t i = 0; i < size; ++i)
      scalar[i] = static_cast<std::byte>(random.next());
    if (!core::isInteger(options.type))
      scalar[size - 1] &= std::byte{0xbf};
  }
}

core::Request Trial::request(uint32_t rank, std::byte *base) const {
  core::Request request{core::CallKind::Program,
                        {program.info().name()->data(), program.info().name()->size()},
                        base + memory[rank].send,
                        base + memory[rank].recv,
                        options.count,
                        static_cast<gc3DataType_t>(options.type),
                        static_cast<gc3RedOp_t>(options.op),
                        -1};
  const size_t scalar = memory[rank].scalar;
  if (options.scalars == Scalars::Immediate)
    request.preMulSum = {options.type, core::factorAt(options.type, memory[rank].bytes.data() + scalar)};
  else if (options.scalars == Scalars::InMemory)
    request.preMulSum = {options.type, {0, base + scalar}};
  return request;
}

/// Returns a message if memory outside of the output has changed: the input of a call out of place, or the bytes around
/// the buffers.
std::string Trial::compareRest(uint32_t rank, const std::vector<std::byte> &after) const {
  const Memory &before = memory[rank];
  const size_t size = layout.elementSize;
  const size_t in = layout.ranks[rank].input.elements * size, out = layout.ranks[rank].output.elements * size;
  for (size_t i = 0; i < before.bytes.size(); ++i) {
    const bool isOutput = i >= before.recv && i < before.recv + out;
    const bool isInput = i >= before.send && i < before.send + in;
    if (!isOutput && !(isInput && options.inPlace) && after[i] != before.bytes[i])
      return "rank " + std::to_string(rank) + ": byte " + std::to_string(i) + (isInput ? " of its input" : "") +
             " has changed";
  }
  return {};
}

std::string Trial::compareRest(const std::vector<std::vector<std::byte>> &after) const {
  for (uint32_t rank = 0; rank < program.ranks(); ++rank)
    if (std::string problem = compareRest(rank, after[rank]); !problem.empty())
      return problem;
  return {};
}

std::string Trial::runOnHost(std::vector<std::vector<std::byte>> &after) const {
  after.clear();
  for (const Memory &rank : memory)
    after.push_back(rank.bytes);
  std::vector<Ends> ends;
  for (uint32_t rank = 0; rank < program.ranks(); ++rank) {
    std::byte *base = after[rank].data();
    ends.push_back({base + memory[rank].send, base + memory[rank].recv,
                    options.scalars == Scalars::None ? nullptr : base + memory[rank].scalar});
  }
  const Calling calling{options.count, static_cast<gc3DataType_t>(options.type), static_cast<gc3RedOp_t>(options.op)};
  return test::runOnHost(file, program, calling, ends);
}

uint64_t Trial::hash(const std::vector<std::vector<std::byte>> &after) const {
  std::vector<uint64_t> hashes;
  for (uint32_t rank = 0; rank < program.ranks(); ++rank)
    hashes.push_back(
        hashPromised(program, check, layout, rank, options.type, options.op, after[rank].data() + memory[rank].recv));
  return bundle::checksum(hashes.data(), hashes.size() * sizeof(uint64_t));
}

std::string Trial::compare(const std::vector<std::vector<std::byte>> &after) const {
  std::vector<std::vector<std::byte>> expected;
  if (std::string problem = runOnHost(expected); !problem.empty())
    return problem;
  for (uint32_t rank = 0; rank < program.ranks(); ++rank)
    if (std::string problem =
            comparePromised(program, check, layout, rank, options.type, options.op,
                            after[rank].data() + memory[rank].recv, expected[rank].data() + memory[rank].recv);
        !problem.empty())
      return problem;
  return compareRest(after);
}

} // namespace gc3::test
