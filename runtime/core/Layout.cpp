// SPDX-License-Identifier: Apache-2.0
// Implements Layout.h's formulas. Sizes come from callers and bundles, so each product is checked for overflow.
// Accepted sizes fit into the address space.
#include "core/Layout.h"

#include <algorithm>

namespace gc3::core {

using namespace bundle;

namespace {

constexpr uint64_t defaultSlotBytes = 128 << 10;
/// Limits on the FIFO memory of a program. Tiles get smaller so that the memory stays below `preferredFifoBytes`. A
/// program that needs more than `largestFifoBytes` with the smallest tiles is refused.
constexpr uint64_t preferredFifoBytes = 256ull << 20;
constexpr uint64_t largestFifoBytes = 16ull << 30;
constexpr uint64_t largestBuffer = 1ull << 62;

uint64_t largerChunks(const fbs::Program &program) {
  return std::max<uint64_t>({program.input_chunks_per_block(), program.output_chunks_per_block(), 1});
}

/// Returns the product, or 2^64 - 1 if the product is larger.
uint64_t saturatingProduct(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t divideUp(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0);
}

uint64_t blockLength(const fbs::Program &program, uint32_t chunks, uint64_t count) {
  uint64_t larger = largerChunks(program);
  if (chunks == larger)
    return count;
  // count * chunks can exceed 64 bits, so this code divides first. The result cannot, because chunks < larger.
  uint64_t whole = count / larger, rest = count % larger;
  return whole * chunks + divideUp(rest * chunks, larger);
}

/// How many buffer slots the FIFO slots of a program hold.
struct MessageSlots {
  uint64_t sum = 0; ///< over the connections: buffer slots that one FIFO slot must hold
  uint64_t largest = 1;

  uint64_t bytesPerTileElement(uint64_t fifoSlots, uint64_t elementSize) const {
    return saturatingProduct(saturatingProduct(sum, fifoSlots), elementSize);
  }
};

MessageSlots messageSlotsOf(const Program &program) {
  MessageSlots slots;
  for (const Connection &connection : program.connections()) {
    slots.sum += connection.maxCount;
    slots.largest = std::max<uint64_t>(slots.largest, connection.maxCount);
  }
  return slots;
}

struct Tiles {
  uint64_t elements = 0, number = 0;
};

Tiles tilesOf(uint64_t slotElements, const MessageSlots &messages, uint64_t fifoSlots, uint64_t elementSize,
              const LayoutOptions &options) {
  uint64_t tile = options.tileElements;
  if (tile == 0) {
    const uint64_t slotBytes = options.slotBytes ? options.slotBytes : defaultSlotBytes;
    tile = scaled(slotBytes, options.tile) / (messages.largest * elementSize);
    if (const uint64_t bytes = messages.bytesPerTileElement(fifoSlots, elementSize); bytes > 0)
      tile = std::min(tile, preferredFifoBytes / bytes);
  }
  tile = std::clamp<uint64_t>(tile, 1, std::max<uint64_t>(slotElements, 1));
  uint64_t tiles = divideUp(slotElements, tile);
  if (options.tileElements == 0 && tiles > 0) { // makes all tiles about equally long, in multiples of 64 elements
    tile = divideUp(slotElements, tiles);
    tile = tile >= slotElements || tile < 64 ? tile : (tile + 63) / 64 * 64;
    tiles = divideUp(slotElements, tile);
  }
  return {tile, tiles};
}

BufferLayout place(uint64_t slots, uint64_t slotsPerBlock, uint64_t blockElements, uint64_t slotElements) {
  BufferLayout layout{slotsPerBlock, blockElements, slotElements, 0, slots / slotsPerBlock * blockElements};
  if (blockElements ==
      slotsPerBlock * slotElements) { // no slot is short: use one large block, so that runs have no block boundaries
    layout.slotsPerBlock = std::max<uint64_t>(slots, 1);
    layout.blockElements = layout.elements;
  }
  return layout;
}

} // namespace

uint64_t slotsPerBlock(const fbs::Program &program) {
  return largerChunks(program) * program.subdivision();
}

std::optional<uint64_t> bufferElements(const fbs::Program &program, uint32_t blocks, uint32_t chunks, uint64_t count) {
  uint64_t elements;
  if (blocks == 0)
    return 0;
  if (__builtin_mul_overflow(blockLength(program, chunks, count), uint64_t{blocks}, &elements))
    return std::nullopt;
  return elements;
}

std::optional<uint64_t> callBytes(const Program &program, uint64_t count, size_t bytesPerElement) {
  const auto &info = program.info();
  uint64_t largest = 0;
  for (uint32_t r = 0; r < program.ranks(); ++r) {
    auto in = bufferElements(info, program.inputBlocks(r), info.input_chunks_per_block(), count);
    auto out = bufferElements(info, program.outputBlocks(r), info.output_chunks_per_block(), count);
    if (!in || !out)
      return std::nullopt;
    largest = std::max({largest, *in, *out});
  }
  uint64_t bytes;
  return __builtin_mul_overflow(largest, uint64_t{bytesPerElement}, &bytes) ? std::nullopt : std::optional(bytes);
}

uint64_t countOf(const Program &program, uint64_t bytes, size_t bytesPerElement) {
  const uint64_t slots = slotsPerBlock(program.info());
  const uint64_t bytesOfSlots = callBytes(program, slots, bytesPerElement).value_or(0);
  return bytesOfSlots == 0 ? 0
                           : static_cast<uint64_t>(static_cast<double>(bytes) / static_cast<double>(bytesOfSlots) *
                                                   static_cast<double>(slots));
}

uint64_t tileElementsOf(const Program &program, uint64_t count, size_t bytesPerElement, const LayoutOptions &chosen) {
  const uint32_t fifoSlots = chosen.slots ? chosen.slots : program.info().fifo_slots();
  return tilesOf(divideUp(count, slotsPerBlock(program.info())), messageSlotsOf(program), fifoSlots, bytesPerElement,
                 chosen)
      .elements;
}

std::string Layout::compute(const Program &program, uint64_t elements, size_t bytesPerElement,
                            const LayoutOptions &chosen) {
  count = elements, elementSize = bytesPerElement, options = chosen;
  if (count > largestBuffer)
    return "a count of " + std::to_string(count) + " elements exceeds the address space";
  slotElements = divideUp(count, slotsPerBlock(program.info()));
  if (std::string problem = computeBuffers(program); !problem.empty())
    return problem;
  return computeFifos(program);
}

std::string Layout::computeBuffers(const Program &program) {
  const fbs::Program &info = program.info();
  std::string tooLarge = "a buffer of program '" + info.name()->str() + "' exceeds the address space";
  ranks.resize(program.ranks());
  buffers.clear();
  scratchBytes = 0;
  for (uint32_t r = 0; r < program.ranks(); ++r) {
    const RankView &view = program.rank(r);
    RankLayout &rank = ranks[r];
    auto in = bufferElements(info, program.inputBlocks(r), info.input_chunks_per_block(), count);
    auto out = bufferElements(info, program.outputBlocks(r), info.output_chunks_per_block(), count);
    uint64_t slots = 0;
    for (uint32_t scratch : view.scratchSlots)
      slots += scratch;
    uint64_t scratch;
    if (!in || !out || *in > largestBuffer / elementSize || *out > largestBuffer / elementSize ||
        __builtin_mul_overflow(slots, slotElements * elementSize, &scratch) || scratch > largestBuffer)
      return tooLarge;
    rank.input =
        place(view.inputSlots, std::max<uint64_t>(1, uint64_t{info.input_chunks_per_block()} * info.subdivision()),
              blockLength(info, info.input_chunks_per_block(), count), slotElements);
    rank.output =
        place(view.outputSlots, std::max<uint64_t>(1, uint64_t{info.output_chunks_per_block()} * info.subdivision()),
              blockLength(info, info.output_chunks_per_block(), count), slotElements);
    rank.firstBuffer = static_cast<uint32_t>(buffers.size());
    buffers.push_back(rank.input);
    buffers.push_back(rank.output);
    if (view.alias != fbs::Alias::None) {
      bool inputInside = view.alias == fbs::Alias::InputInOutput;
      const BufferLayout &outer = inputInside ? rank.output : rank.input;
      BufferLayout &resolved = buffers[buffers.size() - (inputInside ? 2 : 1)];
      resolved = outer;
      resolved.firstSlot = view.aliasOffset;
      rank.aliasElement = outer.at(view.aliasOffset).offset;
    }
    for (uint32_t scratchSlots : view.scratchSlots)
      buffers.push_back(
          place(scratchSlots, std::max<uint64_t>(1, scratchSlots), scratchSlots * slotElements, slotElements));
    rank.scratchBytes = wholeLines(scratch) + 64 * view.scratchSlots.size();
    scratchBytes += rank.scratchBytes;
    if (scratchBytes > largestBuffer)
      return tooLarge;
  }
  return {};
}

std::string Layout::computeFifos(const Program &program) {
  const fbs::Program &info = program.info();
  fifoSlots = options.slots ? options.slots : info.fifo_slots();
  if (fifoSlots < info.min_fifo_slots())
    return "program '" + info.name()->str() + "' needs at least " + std::to_string(info.min_fifo_slots()) +
           " FIFO slots per connection, but the caller requests " + std::to_string(fifoSlots);
  const MessageSlots messages = messageSlotsOf(program);
  const uint64_t bytesPerTileElement = messages.bytesPerTileElement(fifoSlots, elementSize);
  const Tiles computed = tilesOf(slotElements, messages, fifoSlots, elementSize, options);
  tileElements = computed.elements, tiles = computed.number;
  uint64_t rounding = program.connections().size() * uint64_t{fifoSlots} * 64;
  uint64_t total = saturatingProduct(bytesPerTileElement, tileElements);
  if (total > largestFifoBytes || rounding > largestFifoBytes)
    return "program '" + info.name()->str() + "' needs more than 16 GiB for " +
           std::to_string(program.connections().size()) + " connections of " + std::to_string(fifoSlots) +
           " FIFO slots; use fewer slots or smaller tiles";
  fifoBytes = 0;
  for (const Connection &connection : program.connections())
    fifoBytes += slotBytes(connection.maxCount) * fifoSlots;
  return {};
}

} // namespace gc3::core
