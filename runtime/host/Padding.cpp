// SPDX-License-Identifier: Apache-2.0
// A padded block begins with the caller's elements. So slots have the same positions as without padding, but all slots
// are full.
#include "host/Padding.h"

#include "core/Layout.h"

#include <cstring>

namespace gc3::host {

using namespace core;

namespace {

void copyBlocks(std::byte *to, uint64_t toStride, const std::byte *from, uint64_t fromStride, uint64_t bytes,
                uint32_t blocks) {
  for (uint32_t block = 0; block < blocks; ++block)
    std::memcpy(to + block * toStride, from + block * fromStride, bytes);
}

} // namespace

bool Padding::needed(const Program &program, uint64_t count) {
  return program.info().whole_slots() && count % slotsPerBlock(program.info()) != 0;
}

Outcome Padding::plan(const Program &newProgram, const Request &request) {
  program = &newProgram;
  const bundle::fbs::Program &info = program->info();
  uint64_t slots = slotsPerBlock(info);
  paddedCount = request.count + (slots - request.count % slots);
  uint64_t size = elementSize(static_cast<ElementType>(request.type));
  if (paddedCount < request.count || paddedCount > UINT64_MAX / 2 / size)
    return {gc3InvalidArgument, "a count of " + std::to_string(request.count) + " elements exceeds the address space"};
  auto block = [&](uint32_t chunks) { // one block has at most `paddedCount` elements
    return Block{bufferElements(info, 1, chunks, request.count).value_or(0) * size,
                 bufferElements(info, 1, chunks, paddedCount).value_or(0) * size};
  };
  input = block(info.input_chunks_per_block());
  output = block(info.output_chunks_per_block());

  // No overflow: the unpadded buffers fit into the address space, and padding at most doubles them, except for blocks
  // of few elements.
  uint64_t bytes = 0;
  for (uint32_t rank = 0; rank < program->ranks(); ++rank)
    bytes += wholeCacheLines(program->inputBlocks(rank) * input.padded) +
             wholeCacheLines(program->outputBlocks(rank) * output.padded);
  if (!memory.reserve(bytes))
    return {gc3SystemError, "no memory for " + std::to_string(bytes) + " bytes of padded buffers"};

  std::byte *next = memory.data();
  auto take = [&](uint64_t wanted) {
    std::byte *taken = wanted == 0 ? nullptr : next;
    next += wholeCacheLines(wanted);
    return taken;
  };
  for (uint32_t rank = 0; rank < program->ranks(); ++rank) {
    std::byte *send = take(program->inputBlocks(rank) * input.padded);
    copies.push_back({send, take(program->outputBlocks(rank) * output.padded)});
  }
  return {};
}

Request Padding::padded(uint32_t rank, const Request &request) const {
  Request result = request;
  result.count = paddedCount;
  result.send = copies[rank].input;
  result.recv = copies[rank].output;
  return result;
}

/// Copies the output as well, so that elements that the program does not write keep the caller's values.
void Padding::before(uint32_t rank, const Request &request) const {
  copyBlocks(copies[rank].output, output.padded, static_cast<const std::byte *>(request.recv), output.bytes,
             output.bytes, program->outputBlocks(rank));
  copyBlocks(copies[rank].input, input.padded, static_cast<const std::byte *>(request.send), input.bytes, input.bytes,
             program->inputBlocks(rank));
}

void Padding::after(uint32_t rank, const Request &request) const {
  copyBlocks(static_cast<std::byte *>(request.recv), output.bytes, copies[rank].output, output.padded, output.bytes,
             program->outputBlocks(rank));
}

} // namespace gc3::host
