// SPDX-License-Identifier: Apache-2.0
// What ranks bring to a call, and what they must have in the end. Elements are 64-bit numbers that look random, sums of
// them wrap: a contribution that is missing, doubled, or another's shows in every element.
#pragma once

#include "core/Layout.h"
#include "gc3/IR/GC3IR.h"

namespace gc3::mutation {

using Element = uint64_t;

/// What memory holds that nothing has been written to.
inline constexpr Element poison = 0xa5a5a5a5a5a5a5a5;

/// The data of calls with one number of elements per block; a program and its mutants have it in common.
class Data {
public:
  /// `layout` is that of the program for the number of elements.
  Data(const ir::Program &program, const core::Layout &layout);

  uint64_t count() const { return elementsPerBlock; }
  /// Elements of a rank's input, and of its output, as callers see them.
  const std::vector<Element> &input(uint32_t rank) const { return inputs[rank]; }
  size_t outputElements(uint32_t rank) const { return outputSizes[rank]; }

  /// Elements that the collective promises, in a row, of one slot of a rank's output.
  struct Promise {
    uint32_t rank;
    uint32_t slot;
    uint64_t begin; ///< in the output
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
