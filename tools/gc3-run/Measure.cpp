// SPDX-License-Identifier: Apache-2.0
// Measures one placement of one row: checked runs on poisoned outputs, then timed runs (Timing.cpp).
#include "Parallel.h"
#include "Runner.h"

#include "bundle/Container.h"

#include <cstring>

namespace gc3::run {

namespace {

constexpr int poison = 0xa5;
constexpr uint64_t mostRounds = 64; // unless --rounds is given
} // namespace

/// Returns the number of elements in the shortest chunk that is not empty; at least 1.
static uint64_t shortestChunk(const Chunks &chunks) {
  if (chunks.chunkElements == 0 || chunks.blockElements == 0)
    return 1;
  uint64_t filled = std::min(chunks.perBlock, (chunks.blockElements - 1) / chunks.chunkElements + 1);
  return std::max<uint64_t>(1, chunks.length(filled - 1));
}

/// Sets the inputs of a check to those of a round. Makes them, unless `inputs` already has them.
void Runner::makeInputs(int round, CheckJob &check, const Shape &shape) {
  InputKind &kind = check.inputKind;
  kind.seed = rowSeed + static_cast<uint64_t>(round);
  kind.roundOffset = static_cast<uint64_t>(round) * shortestChunk(check.inputChunks);
  if (round == madeRound)
    return;
  madeRound = round;
  constexpr uint64_t batch = 1 << 18;
  size_t size = core::elementSize(kind.type);
  for (uint32_t i = 0; i < own.size(); ++i) {
    const uint32_t rank = own.first + i;
    parallelFor((shape.input[rank] + batch - 1) / batch, shape.input[rank], [&](size_t part) {
      uint64_t first = part * batch, n = std::min(batch, shape.input[rank] - first);
      makeInput(kind, inputs[i].data() + first * size, first, n, rank);
    });
  }
}

/// Fills the outputs with a poison byte. If calls are in place, then copies the inputs into the outputs.
void Runner::fillOutputs(Placement placement, const Row &row, size_t elementSize, const Shape &shape) {
  parallelFor(own.size(), own.size() * shape.largest, [&](size_t i) {
    const uint32_t rank = own.first + static_cast<uint32_t>(i);
    std::memset(outputs[i].data(), poison, std::max(shape.input[rank], shape.output[rank]) * elementSize);
    if (placement == Placement::InPlace && shape.input[rank] != 0) {
      int64_t offset = shape.output[rank] ? inPlaceOffset(row, shape, rank) : 0;
      std::byte *send = outputs[i].data() + (offset < 0 ? -offset : 0) * static_cast<int64_t>(elementSize);
      std::memcpy(send, inputs[i].data(), shape.input[rank] * elementSize);
    }
  });
}

Chunks Runner::chunksOf(int program, const Row &row, const std::vector<uint64_t> &elements, bool output) const {
  const auto &info = file->program(static_cast<uint32_t>(program));
  uint64_t perBlock = output ? info.output_chunks_per_block() : info.input_chunks_per_block();
  uint64_t larger = std::max<uint64_t>({info.input_chunks_per_block(), info.output_chunks_per_block(), 1});
  uint64_t slot = (row.count + larger * info.subdivision() - 1) / (larger * info.subdivision());
  uint64_t block = perBlock == larger ? row.count : 0;
  // If this buffer has fewer chunks per block, the length of a block follows from any rank that has the buffer.
  for (uint32_t r = 0; block == 0 && r < elements.size(); ++r) {
    const bundle::BundleResult<bundle::RankView> rank = file->rank(static_cast<uint32_t>(program), r);
    if (!rank.ok())
      break;
    if (uint32_t slots = output ? rank->outputSlots : rank->inputSlots; slots != 0)
      block = elements[r] / (slots / (perBlock * info.subdivision()));
  }
  return {std::max<uint64_t>(1, perBlock), block, slot * info.subdivision()};
}

std::vector<uint64_t> Runner::inputSums(const Shape &shape, size_t elementSize) const {
  std::vector<uint64_t> sums(own.size());
  parallelFor(own.size(), own.size() * shape.largest, [&](size_t i) {
    sums[i] = bundle::checksum(inputs[i].data(), shape.input[own.first + i] * elementSize);
  });
  return sums;
}

/// Calls fillOutputs(), and copies the buffers to the GPU if calls run there.
std::string Runner::prepareOutputs(Placement placement, const Row &row, size_t elementSize, const Shape &shape) {
  fillOutputs(placement, row, elementSize, shape);
  return gpu ? gpu->upload() : "";
}

CheckJob Runner::checkJob(Placement placement, const Row &row, gc3DataType_t type, Reduction op, const Shape &shape,
                          int program, const Postcondition &post) const {
  const auto element = static_cast<core::ElementType>(type);
  const auto size = static_cast<int64_t>(core::elementSize(element));
  const uint32_t contributions = std::max(1u, file->program(static_cast<uint32_t>(program)).contributions());
  CheckJob check{&post,
                 {element, purposeOf(op, post.reduces()), static_cast<uint32_t>(row.ranks), contributions, 0, 0},
                 op,
                 static_cast<double>(wholeNumbers(element)),
                 chunksOf(program, row, shape.input, false),
                 chunksOf(program, row, shape.output, true),
                 own,
                 {},
                 {}};
  for (uint32_t i = 0; i < own.size(); ++i) {
    const uint32_t rank = own.first + i;
    bool shifted = placement == Placement::InPlace && shape.input[rank] && shape.output[rank];
    int64_t offset = shifted ? std::max<int64_t>(0, inPlaceOffset(row, shape, rank)) : 0;
    check.inputs.push_back(inputs[i].data());
    check.outputs.push_back(outputs[i].data() + offset * size);
  }
  return check;
}

/// Returns the number of rounds after which every rank has been busy in every chunk, at most `mostRounds`. Returns the
/// number in the options if it is set.
int Runner::roundsOf(const InputKind &kind, uint64_t window) const {
  if (options.rounds != 0)
    return options.rounds;
  uint64_t covered = window * busyRanks(kind.type, kind.purpose, kind.ranks);
  return static_cast<int>(std::min<uint64_t>((kind.ranks + covered - 1) / covered, mostRounds));
}

/// Returns the wrong elements of this process's ranks, or a problem.
Share Runner::checkRounds(Placement placement, const Row &row, gc3DataType_t type, Reduction op, const Shape &shape,
                          CheckJob &check) {
  const size_t size = core::elementSize(check.inputKind.type);
  Share share;
  auto complain = [&](const std::string &what) {
    share.complaint += "gc3-run: " + (job.processes() > 1 ? job.name() + ": " : "") + row.program +
                       (placement == Placement::InPlace ? ", in place: " : ", out of place: ") + what + "\n";
  };
  std::vector<uint64_t> sums;
  const int rounds = roundsOf(check.inputKind, shortestChunk(check.inputChunks));
  for (int round = 0; round < rounds; ++round) {
    makeInputs(round, check, shape);
    if (placement == Placement::OutOfPlace)
      sums = inputSums(shape, size);
    std::string &problem = share.problem;
    problem = prepareOutputs(placement, row, size, shape);
    if (problem.empty())
      problem = call(placement, row, type, op, shape);
    if (problem.empty())
      problem = finish();
    if (gpu && problem.empty())
      problem = gpu->download();
    if (!problem.empty())
      return share;
    CheckResult result = checkOutputs(check);
    if (result.wrong != 0 && share.wrong == 0)
      complain(result.first);
    share.wrong += result.wrong;
    if (placement == Placement::OutOfPlace && sums != inputSums(shape, size)) {
      complain("an input was modified");
      ++share.wrong;
      madeRound = -1;
    }
  }
  return share;
}

std::string Runner::measure(const ProgramGroup &group, Placement placement, Row &row, gc3DataType_t type, Reduction op,
                            const Shape &shape, int program) {
  Measurement &measurement = row.placement[static_cast<int>(placement)];
  measurement.measured = true;
  measurement.checked = options.check;
  std::string problem;
  const Postcondition *post = postcondition(program, problem);
  if (!post)
    return problem;
  CheckJob check = checkJob(placement, row, type, op, shape, program, *post);
  if (options.check) {
    const Share all = job.meet(checkRounds(placement, row, type, op, shape, check));
    if (job.printsProblems())
      std::fputs(all.complaint.c_str(), stderr);
    measurement.wrong = all.wrong;
    problem = all.problem;
  } else if (options.iterations != 0) {
    makeInputs(0, check, shape);
    problem = prepareOutputs(placement, row, core::elementSize(check.inputKind.type), shape);
  }
  if (!problem.empty() || options.iterations == 0)
    return problem;
  return time(group.ofNccl, placement, row, type, op, shape);
}

} // namespace gc3::run
