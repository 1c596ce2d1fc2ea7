// SPDX-License-Identifier: Apache-2.0
// Inputs of a call, and the outputs that the collective promises. Elements are pseudorandom 64-bit numbers, and sums
// wrap. So a missing, repeated or wrong contribution changes every element.
#pragma once

#include "core/Layout.h"
#include "gc3/IR/GC3IR.h"

namespace gc3::mutation {

using Element = uint64_t;

/// The value of memory that is not written yet.
inline constexpr Element poison = 0xa5a5a5a5a5a5a5a5;

/// The data of calls with a given number of elements per block. A program and its mutants share it.
class Data {
public:
  /// `layout` is the layout of the program for the number of elements.
  Data(const ir::Program &program, const core::Layout &layout);

  uint64_t count() const { return elementsPerBlock; }
  /// The elements in the buffers of the call: the input of a rank, and the number of elements in its output.
  const std::vector<Element> &input(uint32_t rank) const { return inputs[rank]; }
  size_t outputElements(uint32_t rank) const { return outputSizes[rank]; }

  /// Consecutive elements that the collective promises in one slot of a rank's output.
  struct Promise {
    uint32_t rank;
    uint32_t slot;
    uint64_t begin; ///< position of the first element in the output
    std::vector<Element> elements;
  };
  const std::vector<Promise> &promises() const { return allPromises; }

private:
  void promise(const ir::Program &program, const core::Layout &layout, uint32_t rank, uint32_t chunk, uint32_t value);

  uint64_t elementsPerBlock;
  std::vector<std::vector<Element>> inputs;
  std::vector<size_t> outputSizes;
  std::vector<Promise> allPromises;
};

} // namespace gc3::mutation
