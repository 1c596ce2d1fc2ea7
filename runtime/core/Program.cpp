// SPDX-License-Identifier: Apache-2.0
// Loads all ranks of a program and pairs the ends of its connections by sorting. bundle::validateConnections has
// checked that each end has a partner.
#include "core/Program.h"

#include "bundle/Validate.h"
#include "gc3/Common/Opcode.h"

#include <algorithm>
#include <array>

namespace gc3::core {

using namespace bundle;
using namespace common;

bundle::BundleResult<std::unique_ptr<Program>> Program::load(const BundleFile &file, uint32_t index) {
  auto loaded = std::make_unique<Program>();
  loaded->table = &file.program(index);
  uint32_t ranks = loaded->table->ranks();
  loaded->views.reserve(ranks);
  loaded->firstBlock.assign(1, 0);
  uint64_t blocks = 0, steps = 0;
  for (uint32_t r = 0; r < ranks; ++r) {
    const bundle::BundleResult<RankView> view = file.rank(index, r);
    if (!view.ok())
      return view.outcome();
    loaded->views.push_back(*view);
    blocks += view->threadBlocks.size();
    steps += view->instructions.size();
    if (blocks >= none || steps >= none)
      return BundleStatus{BundleError::Invalid, "invalid bundle: more than 2^32 thread blocks or steps"};
    loaded->firstBlock.push_back(static_cast<uint32_t>(blocks));
  }
  if (std::string problem = validateConnections(loaded->views); !problem.empty())
    return BundleStatus{BundleError::Invalid,
                        "invalid bundle: program '" + loaded->table->name()->str() + "': " + problem};
  loaded->connect();
  loaded->numberSteps();
  return loaded;
}

/// Thread blocks name their peers, so they are copied. All else in a view is local to the rank.
void Program::renumber(std::span<const uint32_t> places) {
  std::vector<int32_t> rankOf(places.size()); // by place
  for (size_t r = 0; r < places.size(); ++r)
    rankOf[places[r]] = static_cast<int32_t>(r);
  const auto renumbered = [&](int32_t peer) { return peer < 0 ? peer : rankOf[static_cast<size_t>(peer)]; };
  std::vector<RankView> moved;
  std::vector<std::vector<fbs::ThreadBlock>> blocks(places.size());
  firstBlock.assign(1, 0);
  for (uint32_t r = 0; r < places.size(); ++r) {
    RankView &view = moved.emplace_back(views[places[r]]);
    view.rank = r;
    for (const fbs::ThreadBlock &block : view.threadBlocks)
      blocks[r].emplace_back(block.channel(), renumbered(block.send_peer()), renumbered(block.recv_peer()),
                             block.first_instruction(), block.instruction_count());
    view.threadBlocks = blocks[r];
    firstBlock.push_back(firstBlock.back() + static_cast<uint32_t>(blocks[r].size()));
  }
  views = std::move(moved);
  renumberedBlocks = std::move(blocks);
  connect();
  numberSteps();
}

void Program::connect() {
  struct End {
    std::array<uint32_t, 3> key; // source, destination, channel
    uint32_t threadBlock;
    uint32_t maxCount;
  };
  std::vector<End> ends[2]; // [0]: receiving ends, [1]: sending ends
  for (uint32_t r = 0; r < ranks(); ++r)
    for (uint32_t tb = 0; tb < views[r].threadBlocks.size(); ++tb) {
      const fbs::ThreadBlock &block = views[r].threadBlocks[tb];
      uint32_t largest[2] = {0, 0};
      for (const fbs::Instruction &inst :
           views[r].instructions.subspan(block.first_instruction(), block.instruction_count())) {
        const OpcodeTraits &needs = traits(static_cast<Opcode>(inst.opcode()));
        largest[0] = std::max(largest[0], needs.receives ? inst.count() : 0);
        largest[1] = std::max(largest[1], needs.sends ? inst.count() : 0);
      }
      if (largest[0])
        ends[0].push_back(
            {{static_cast<uint32_t>(block.recv_peer()), r, block.channel()}, firstBlock[r] + tb, largest[0]});
      if (largest[1])
        ends[1].push_back(
            {{r, static_cast<uint32_t>(block.send_peer()), block.channel()}, firstBlock[r] + tb, largest[1]});
    }
  sendsTo.assign(threadBlockCount(), none);
  receivesFrom.assign(threadBlockCount(), none);
  allConnections.clear();
  for (auto &side : ends)
    std::sort(side.begin(), side.end(), [](const End &a, const End &b) { return a.key < b.key; });
  for (uint32_t i = 0; i < ends[1].size(); ++i) {
    const End &from = ends[1][i], &to = ends[0][i];
    sendsTo[from.threadBlock] = receivesFrom[to.threadBlock] = i;
    allConnections.push_back({from.threadBlock, to.threadBlock, from.maxCount});
  }
}

void Program::numberSteps() {
  firstStepOfRank.assign(1, 0);
  stepRanks.clear();
  for (uint32_t r = 0; r < ranks(); ++r) {
    firstStepOfRank.push_back(firstStepOfRank.back() + static_cast<uint32_t>(views[r].instructions.size()));
    stepRanks.resize(firstStepOfRank.back(), r);
  }
}

/// Returns the rank for which `slots` returns a number other than 0. Returns nothing if there is no such rank, or more
/// than one.
template <typename Slots>
static std::optional<uint32_t> onlyRank(const Program &program, Slots slots) {
  std::optional<uint32_t> found;
  for (uint32_t r = 0; r < program.ranks(); ++r)
    if (slots(program.rank(r)) != 0) {
      if (found)
        return std::nullopt;
      found = r;
    }
  return found;
}

std::optional<uint32_t> Program::onlyInput() const {
  return onlyRank(*this, [](const RankView &view) { return view.inputSlots; });
}

std::optional<uint32_t> Program::onlyOutput() const {
  return onlyRank(*this, [](const RankView &view) { return view.outputSlots; });
}

} // namespace gc3::core
