// SPDX-License-Identifier: Apache-2.0
#include "Oracle.h"

#include "bundle/Container.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace gc3::test {

std::string runOnHost(const bundle::BundleFile &file, const core::Program &program, const Calling &calling,
                      std::span<const Ends> ranks) {
  std::vector<gc3Comm_t> comms(ranks.size());
  gc3Bundle_t bundle = nullptr;
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.allowUnproven = 1;
  gc3Result_t result = gc3BundleLoadMemory(&bundle, file.bytes().data(), file.bytes().size());
  if (result == gc3Success)
    result = gc3HostCommInitAll(comms.data(), static_cast<int>(comms.size()), bundle, &config);
  if (result == gc3Success) {
    gc3GroupStart();
    for (size_t r = 0; r < ranks.size(); ++r) {
      gc3RedOp_t op = calling.op;
      if (ranks[r].scalar)
        gc3RedOpCreatePreMulSum(&op, ranks[r].scalar, calling.type, gc3ScalarHostImmediate, comms[r]);
      gc3RunProgram(comms[r], program.info().name()->c_str(), ranks[r].send, ranks[r].recv, calling.count, calling.type,
                    op, nullptr);
    }
    result = gc3GroupEnd();
  }
  std::string problem = result == gc3Success ? "" : std::string("host: ") + gc3GetLastError(nullptr);
  for (gc3Comm_t comm : comms)
    gc3CommDestroy(comm);
  gc3BundleFree(bundle);
  return problem;
}

namespace {

/// Returns the bits of a floating-point element without its sign.
uint64_t magnitudeOf(core::ElementType type, const std::byte *element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, core::elementSize(type));
  return bits & ~(uint64_t{1} << (8 * core::elementSize(type) - 1));
}

bool isNan(core::ElementType type, const std::byte *element) {
  // The bits of infinity. For a type without infinities: of its largest number.
  constexpr uint64_t largestNumber[] = {0x7c00, 0x7f800000, 0x7ff0000000000000, 0x7f80, 0x7e, 0x7c};
  return magnitudeOf(type, element) >
         largestNumber[static_cast<uint8_t>(type) - static_cast<uint8_t>(core::ElementType::Half)];
}

/// Returns the number of defined elements in a slot of an output chunk that holds this value: the minimum over its
/// contributions.
uint64_t elementsOf(const bundle::CheckView &check, const core::Layout &layout, uint32_t subdivision, uint32_t value,
                    uint32_t slot) {
  uint64_t elements = layout.slotElements;
  for (uint32_t run = check.valueBegin[value]; run < check.valueBegin[value + 1]; ++run)
    for (uint32_t i = 0; i < check.runs[run].length(); ++i) {
      const uint32_t rank = check.runs[run].rank() + i * static_cast<uint32_t>(check.runs[run].rank_stride());
      const uint32_t chunk = check.runs[run].index() + i * static_cast<uint32_t>(check.runs[run].index_stride());
      elements = std::min(elements, layout.ranks[rank].input.at(chunk * subdivision + slot).available);
    }
  return elements;
}

bool isChoice(core::ReduceOp op) {
  return op == core::ReduceOp::Min || op == core::ReduceOp::Max;
}

/// Calls `body(element)` for each element of a rank's output that the program promises and that all contributions have,
/// until it returns false.
template <typename Body>
void forEachPromised(const core::Program &program, const bundle::CheckView &check, const core::Layout &layout,
                     uint32_t rank, Body body) {
  const core::BufferLayout &output = layout.ranks[rank].output;
  const uint32_t subdivision = program.info().subdivision();
  for (uint32_t slot = 0; slot < program.rank(rank).outputSlots; ++slot) {
    const uint32_t wanted = check.rows[check.rowBegin[check.rowOfRank[rank]] + slot / subdivision];
    if (wanted == 0)
      continue;
    const core::BufferLayout::Position place = output.at(slot);
    const uint64_t elements =
        std::min(place.available, elementsOf(check, layout, subdivision, wanted - 1, slot % subdivision));
    for (uint64_t element = place.offset; element < place.offset + elements; ++element)
      if (!body(element))
        return;
  }
}

/// Appends the element to `bytes`. Appends the same bytes for equivalent results.
void appendElement(core::ElementType type, core::ReduceOp op, const std::byte *element, std::vector<std::byte> &bytes) {
  const size_t size = core::elementSize(type);
  if (!core::isInteger(type) && isNan(type, element))
    bytes.insert(bytes.end(), size, std::byte{0xff});
  else if (!core::isInteger(type) && isChoice(op) && magnitudeOf(type, element) == 0)
    bytes.insert(bytes.end(), size, std::byte{0});
  else
    bytes.insert(bytes.end(), element, element + size);
}

} // namespace

bool isAsGood(core::ElementType type, core::ReduceOp op, const std::byte *a, const std::byte *b) {
  if (std::memcmp(a, b, core::elementSize(type)) == 0)
    return true;
  if (core::isInteger(type))
    return false;
  return (isNan(type, a) && isNan(type, b)) || (isChoice(op) && magnitudeOf(type, a) == 0 && magnitudeOf(type, b) == 0);
}

uint64_t hashPromised(const core::Program &program, const bundle::CheckView &check, const core::Layout &layout,
                      uint32_t rank, core::ElementType type, core::ReduceOp op, const std::byte *bytes) {
  std::vector<std::byte> promised;
  forEachPromised(program, check, layout, rank, [&](uint64_t element) {
    appendElement(type, op, bytes + element * layout.elementSize, promised);
    return true;
  });
  return bundle::checksum(promised.data(), promised.size());
}

std::string comparePromised(const core::Program &program, const bundle::CheckView &check, const core::Layout &layout,
                            uint32_t rank, core::ElementType type, core::ReduceOp op, const std::byte *is,
                            const std::byte *should) {
  const size_t size = layout.elementSize;
  std::string problem;
  forEachPromised(program, check, layout, rank, [&](uint64_t element) {
    if (!isAsGood(type, op, is + element * size, should + element * size))
      problem = "rank " + std::to_string(rank) + ": element " + std::to_string(element) + " of " +
                std::to_string(layout.ranks[rank].output.elements) + " differs";
    return problem.empty();
  });
  return problem;
}

} // namespace gc3::test
