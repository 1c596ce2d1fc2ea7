// SPDX-License-Identifier: Apache-2.0
#include "Data.h"
#include "host/Random.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::mutation;

/// Returns the number of elements in a slot.
static uint64_t length(const core::BufferLayout &buffer, uint64_t slot) {
  return std::min(buffer.at(slot).available, buffer.slotElements);
}

Data::Data(const Program &program, const core::Layout &layout) : elementsPerBlock(layout.count) {
  for (uint32_t rank = 0; rank != program.ranks(); ++rank) {
    host::Random random(rank);
    inputs.emplace_back(layout.ranks[rank].input.elements);
    for (Element &element : inputs.back())
      element = random.next();
    outputSizes.push_back(layout.ranks[rank].output.elements);
  }
  const Collective &collective = program.info->collective;
  for (uint32_t rank = 0; rank != program.ranks(); ++rank)
    for (uint32_t chunk = 0; chunk != collective.size(rank, OutputBuffer); ++chunk)
      if (uint32_t wanted = collective.post.wanted(rank, chunk); wanted != Postcondition::Anything)
        promise(program, layout, rank, chunk, wanted - 1);
}

/// Adds a promise for each slot of a chunk. A promise ends at the first element that some contribution lacks, because
/// later elements may have any value.
void Data::promise(const Program &program, const core::Layout &layout, uint32_t rank, uint32_t chunk, uint32_t value) {
  const Postcondition &post = program.info->collective.post;
  for (uint32_t part = 0; part != program.subdivision; ++part) {
    uint32_t slot = chunk * program.subdivision + part;
    const core::BufferLayout &output = layout.ranks[rank].output;
    Promise promise{rank, slot, output.at(slot).offset, std::vector<Element>(length(output, slot))};
    for (uint32_t i = post.valueBegin[value]; i != post.valueBegin[value + 1]; ++i)
      for (uint32_t k = 0; k != post.runs[i].length; ++k) {
        const Run &run = post.runs[i];
        uint32_t source = run.rank + k * static_cast<uint32_t>(run.rankStride);
        uint32_t from = (run.index + k * static_cast<uint32_t>(run.indexStride)) * program.subdivision + part;
        const core::BufferLayout &input = layout.ranks[source].input;
        promise.elements.resize(std::min<uint64_t>(promise.elements.size(), length(input, from)));
        for (size_t e = 0; e != promise.elements.size(); ++e)
          promise.elements[e] += inputs[source][input.at(from).offset + e];
      }
    if (!promise.elements.empty())
      allPromises.push_back(std::move(promise));
  }
}
