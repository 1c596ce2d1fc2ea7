// SPDX-License-Identifier: Apache-2.0
// One placement of one row: checked runs on poisoned outputs, then timed ones.
#include "Parallel.h"
#include "Runner.h"

#include "bundle/Container.h"

#include <chrono>
#include <cstring>

namespace gc3::run {

namespace {

constexpr int poison = 0xa5;
constexpr uint64_t mostRounds = 64; // unless asked for
constexpr int defaultIterations = 20;
constexpr double defaultSeconds = 0.5;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

/// Elements from the send buffer's start to the receive buffer's where a rank runs in place, as NCCL places them.
int64_t Runner::inPlaceOffset(const Row &row, const Shape &shape, uint32_t rank) const {
  auto part = static_cast<int64_t>(rank * row.count);
  uint64_t in = shape.input[rank], out = shape.output[rank], all = row.count * static_cast<uint64_t>(row.ranks);
  if ((row.collective == "allgather" || row.collective == "gather") && in == row.count && out == all)
    return -part;
  if ((row.collective == "reduce_scatter" || row.collective == "scatter") && in == all && out == row.count)
    return part;
  return 0;
}

/// The inputs of a round, unless they are there already.
void Runner::makeInputs(int round, uint64_t window, const InputKind &kind, const Shape &shape) {
  if (round == madeRound)
    return;
  madeRound = round;
  InputKind own = kind;
  own.seed = rowSeed + static_cast<uint64_t>(round);
  own.turn = static_cast<uint64_t>(round) * window;
  constexpr uint64_t piece = 1 << 18;
  size_t size = host::elementSize(kind.type);
  for (uint32_t r = 0; r < kind.ranks; ++r)
    parallelFor((shape.input[r] + piece - 1) / piece, shape.input[r], [&](size_t i) {
      uint64_t first = i * piece, n = std::min(piece, shape.input[r] - first);
      makeInput(own, inputs[r].data() + first * size, first, n, r);
    });
}

/// Elements of the shortest chunk that has any.
static uint64_t shortestChunk(const Chunks &chunks) {
  if (chunks.chunkElements == 0 || chunks.blockElements == 0)
    return 1;
  uint64_t filled = std::min(chunks.perBlock, (chunks.blockElements - 1) / chunks.chunkElements + 1);
  return std::max<uint64_t>(1, chunks.length(filled - 1));
}

/// Poisons the outputs; in place then puts the inputs where they belong.
void Runner::fillOutputs(Placement placement, const Row &row, size_t elementSize, const Shape &shape) {
  parallelFor(outputs.size(), outputs.size() * shape.largest, [&](size_t r) {
    std::memset(outputs[r].data(), poison, std::max(shape.input[r], shape.output[r]) * elementSize);
    if (placement == Placement::InPlace && shape.input[r] != 0) {
      int64_t offset = shape.output[r] ? inPlaceOffset(row, shape, static_cast<uint32_t>(r)) : 0;
      std::byte *send = outputs[r].data() + (offset < 0 ? -offset : 0) * static_cast<int64_t>(elementSize);
      std::memcpy(send, inputs[r].data(), shape.input[r] * elementSize);
    }
  });
}

std::string Runner::call(Placement placement, const Row &row, gc3DataType_t type, gc3RedOp_t op, const Shape &shape) {
  auto size = static_cast<int64_t>(host::elementSize(static_cast<host::ElementType>(type)));
  std::string problem;
  gc3GroupStart();
  for (uint32_t r = 0; r < comms.size(); ++r) {
    std::byte *send = inputs[r].data(), *recv = outputs[r].data();
    if (placement == Placement::InPlace) {
      int64_t offset = shape.input[r] && shape.output[r] ? inPlaceOffset(row, shape, r) : 0;
      send = outputs[r].data() + (offset < 0 ? -offset * size : 0);
      recv = outputs[r].data() + (offset > 0 ? offset * size : 0);
    }
    gc3Result_t result = gc3RunProgram(comms[r], row.program.c_str(), shape.input[r] ? send : nullptr,
                                       shape.output[r] ? recv : nullptr, row.count, type, op, nullptr);
    if (result != gc3Success) {
      problem = lastError("", result, comms[r]);
      break;
    }
  }
  gc3Result_t result = gc3GroupEnd();
  return !problem.empty() || result == gc3Success ? problem : lastError("", result, comms[0]);
}

std::string Runner::time(Placement placement, Row &row, gc3DataType_t type, gc3RedOp_t op, const Shape &shape) {
  int iterations = options.iterations;
  std::string problem;
  auto runs = [&](int n) {
    double begin = seconds();
    for (int i = 0; i < n && problem.empty(); ++i)
      problem = call(placement, row, type, op, shape);
    return seconds() - begin;
  };
  if (iterations < 0) { // one run tells how many fit
    double one = runs(1);
    iterations =
        std::max(1, static_cast<int>(std::min<double>(defaultIterations, defaultSeconds / std::max(one, 1e-9))));
  }
  runs(options.warmup >= 0 ? options.warmup : iterations / 4);
  double taken = runs(iterations);
  Measurement &measurement = row.placement[static_cast<int>(placement)];
  if (problem.empty() && iterations > 0) {
    measurement.microseconds = taken * 1e6 / iterations;
    measurement.algbw = static_cast<double>(row.bytes) / (measurement.microseconds * 1e3);
    measurement.busbw = measurement.algbw * busFactor(row.collective, row.ranks);
  }
  return problem;
}

std::string Runner::measure(Placement placement, Row &row, gc3DataType_t type, gc3RedOp_t op, const Shape &shape,
                            int program) {
  auto element = static_cast<host::ElementType>(type);
  size_t size = host::elementSize(element);
  Measurement &measurement = row.placement[static_cast<int>(placement)];
  measurement.measured = true;
  measurement.checked = options.check;
  std::string problem;
  const Postcondition *post = postcondition(program, problem);
  const auto &info = file->program(static_cast<uint32_t>(program));
  auto chunks = [&](uint32_t perBlock, const std::vector<uint64_t> &elements, bool output) {
    uint64_t larger = std::max<uint64_t>({info.input_chunks_per_block(), info.output_chunks_per_block(), 1});
    uint64_t slot = (row.count + larger * info.subdivision() - 1) / (larger * info.subdivision());
    uint64_t block = perBlock == larger ? row.count : 0;
    for (uint32_t r = 0; block == 0 && r < elements.size();
         ++r) { // fewer chunks: the length of a block follows from any rank
      bundle::RankView rank;
      if (!file->rank(static_cast<uint32_t>(program), r, rank).ok())
        break;
      if (uint32_t slots = output ? rank.outputSlots : rank.inputSlots; slots != 0)
        block = elements[r] / (slots / (perBlock * info.subdivision()));
    }
    return Chunks{std::max(1u, perBlock), block, slot * info.subdivision()};
  };
  std::vector<const std::byte *> in, out;
  std::vector<uint64_t> sums;
  for (uint32_t r = 0; r < comms.size(); ++r) {
    in.push_back(inputs[r].data());
    bool shifted = placement == Placement::InPlace && shape.input[r] && shape.output[r];
    int64_t offset = shifted ? std::max<int64_t>(0, inPlaceOffset(row, shape, r)) : 0;
    out.push_back(outputs[r].data() + offset * static_cast<int64_t>(size));
  }
  auto inputSums = [&] {
    std::vector<uint64_t> result(comms.size());
    parallelFor(comms.size(), comms.size() * shape.largest,
                [&](size_t r) { result[r] = bundle::checksum(inputs[r].data(), shape.input[r] * size); });
    return result;
  };
  const auto ranks = static_cast<uint32_t>(row.ranks);
  const Chunks inputChunks = chunks(info.input_chunks_per_block(), shape.input, false),
               outputChunks = chunks(info.output_chunks_per_block(), shape.output, true);
  const auto reduceOp = static_cast<host::ReduceOp>(op);
  const InputKind kind{element, purposeOf(reduceOp, post->reduces()), ranks, std::max(1u, info.contributions()), 0, 0};
  // As many rounds as it takes for every rank to be busy in every chunk.
  const uint64_t window = shortestChunk(inputChunks), covered = window * busyRanks(element, kind.purpose, ranks);
  const auto needed = static_cast<int>(std::min<uint64_t>((ranks + covered - 1) / covered, mostRounds));
  makeInputs(0, window, kind, shape);
  for (int round = 0; options.check && round < (options.rounds ? options.rounds : needed); ++round) {
    makeInputs(round, window, kind, shape);
    if (placement == Placement::OutOfPlace)
      sums = inputSums();
    fillOutputs(placement, row, size, shape);
    if (problem = call(placement, row, type, op, shape); !problem.empty())
      return problem;
    CheckResult result =
        checkOutputs({post, element, reduceOp, kind.contributions, static_cast<double>(wholeNumbers(element)),
                      inputChunks, outputChunks, &in, &out});
    if (result.wrong != 0 && measurement.wrong == 0)
      std::fprintf(stderr, "gc3-run: %s, %s: %s\n", row.program.c_str(),
                   placement == Placement::InPlace ? "in place" : "out of place", result.first.c_str());
    measurement.wrong += result.wrong;
    if (placement == Placement::OutOfPlace && sums != inputSums()) {
      std::fprintf(stderr, "gc3-run: %s, out of place: an input was modified\n", row.program.c_str());
      ++measurement.wrong;
      madeRound = -1;
    }
  }
  if (options.iterations == 0)
    return {};
  if (!options.check)
    fillOutputs(placement, row, size, shape);
  return time(placement, row, type, op, shape);
}

} // namespace gc3::run
