// SPDX-License-Identifier: Apache-2.0
// gpu-bench FOLDER [--section NAME] [--json FILE] [--largest BYTES] [--samples N]: measures gc3's kernel on the current
// GPU, with the bundles of bench.gc3 in FOLDER (run.sh makes them). Runs all sections or one. All timed calls are
// replayed from graphs. If a section fails, the others still run. Exit status: 1 if a section failed, 77 without a GPU.
#include "Gc3Calls.h"
#include "HandWritten.h"
#include "NcclCalls.h"
#include "Replay.h"
#include "Report.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

using namespace bench;

namespace {

constexpr int noGpu = 77;
constexpr uint32_t ranks = 8;
constexpr size_t smallest = 1024; // bytes of a rank's buffer

struct Options {
  std::string folder, json, section;
  size_t largest = size_t{1} << 30;
  int samples = 11;
};

/// Returns a number of calls with which a replay takes long enough to be timed.
int callsFor(size_t bytes) {
  return static_cast<int>(std::clamp<size_t>((size_t{64} << 20) / bytes, 2, 50));
}

class Bench {
public:
  Bench(const Options &chosen, Report &table);
  ~Bench() { cudaStreamDestroy(stream); }
  Bench(const Bench &) = delete;
  Bench &operator=(const Bench &) = delete;

  void ring();
  void allToAll();
  void protocols();
  void steps();
  void latency();
  void nccl();

private:
  using TimedCall = std::function<void()>;
  std::string bundle(const char *name) const { return options.folder + "/" + name + ".gc3b"; }
  std::vector<double> measure(const std::vector<TimedCall> &calls, size_t bytes);
  double measure(const TimedCall &call, size_t bytes) { return measure(std::vector<TimedCall>{call}, bytes)[0]; }
  using SizedCall = std::function<void(size_t count)>; ///< `count` is the count of an NCCL call
  enum class Makes { Sums, Transposes };
  void compareSizes(const char *what, const Buffers &buffers, const SizedCall &call, Makes makes);
  void compareSizes(const char *what, Gc3Calls &program, const Buffers &buffers, Makes makes);
  void compare(const char *what, const Buffers &buffers, size_t elements, const TimedCall &call, Makes makes);
  void fill(const Buffers &buffers, size_t elements);
  static std::vector<float> sums(size_t elements);
  double copyBandwidth();
  void overheadRow(size_t bytes, const std::vector<double> &times, double moved, double bandwidth);
  void judge(size_t bytes, double gc3, double handWritten);
  void reportVerdict();
  void latencyRow(const std::string &what, const TimedCall &call);

  const Options &options;
  Report &report;
  cudaStream_t stream = nullptr;
  std::vector<std::unique_ptr<DeviceFloats>> memory;
  Buffers apart, inPlace; ///< buffers of all ranks, `options.largest` bytes each
  std::string missed;     ///< sizes at which the goal was missed, with the ratio
};

Bench::Bench(const Options &chosen, Report &table) : options(chosen), report(table) {
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  for (uint32_t rank = 0; rank < ranks; ++rank)
    for (std::vector<float *> *side : {&apart.inputs, &apart.outputs}) {
      memory.push_back(std::make_unique<DeviceFloats>(options.largest / sizeof(float)));
      side->push_back(memory.back()->get());
    }
  inPlace = {apart.outputs, apart.outputs};
}

void noteGpu(Report &report, int samples) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU");
  int version = 0;
  check(cudaRuntimeGetVersion(&version), "asking for CUDA's version");
  report.note(std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) +
              " multiprocessors, CUDA " + std::to_string(version / 1000) + "." + std::to_string(version / 10 % 100) +
              "; " + std::to_string(ranks) + " ranks on it, floats, medians of " + std::to_string(samples) +
              " samples in turns");
}

std::vector<double> Bench::measure(const std::vector<TimedCall> &calls, size_t bytes) {
  std::vector<std::unique_ptr<Replay>> replays;
  std::vector<Replay *> all;
  for (const TimedCall &call : calls) {
    call(); // once outside of a graph, because the first call may allocate memory
    check(cudaStreamSynchronize(stream), "waiting for a call");
    replays.push_back(std::make_unique<Replay>(stream, callsFor(bytes), call));
    all.push_back(replays.back().get());
  }
  return timeAlternating(all, options.samples);
}

/// Returns a small whole number that depends on rank and place, for inputs and outputs.
float valueAt(uint32_t rank, size_t place) {
  return static_cast<float>((place * 7 + rank * 13 + place / 61) % 64);
}

constexpr size_t fewCompared = 256 << 10,
                 manyCompared = 16 << 20; // elements of a rank's buffer: one tile, several tiles

void Bench::fill(const Buffers &buffers, size_t elements) {
  std::vector<float> values(elements);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    for (size_t i = 0; i < elements; ++i)
      values[i] = valueAt(rank, i);
    for (float *target : {buffers.inputs[rank], buffers.outputs[rank]})
      check(cudaMemcpy(target, values.data(), elements * sizeof(float), cudaMemcpyHostToDevice), "filling buffers");
  }
  check(cudaDeviceSynchronize(), "filling buffers"); // the calls read the buffers on another stream
}

/// Returns the result of AllReduce on every rank.
std::vector<float> Bench::sums(size_t elements) {
  std::vector<float> sums(elements);
  for (size_t i = 0; i < elements; ++i)
    for (uint32_t rank = 0; rank < ranks; ++rank)
      sums[i] += valueAt(rank, i);
  return sums;
}

/// Makes the call on `elements` elements of each rank's buffer. Fails if a value in the result is wrong, because
/// timings of wrong results are useless.
void Bench::compare(const char *what, const Buffers &buffers, size_t elements, const TimedCall &call, Makes makes) {
  fill(buffers, elements);
  call();
  check(cudaStreamSynchronize(stream), what);
  std::vector<float> values(elements), summed = makes == Makes::Sums ? sums(elements) : std::vector<float>();
  const size_t block = elements / ranks;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    check(cudaMemcpy(values.data(), buffers.outputs[rank], elements * sizeof(float), cudaMemcpyDeviceToHost), what);
    for (size_t i = 0; i < elements; ++i) {
      const float wanted =
          makes == Makes::Sums ? summed[i] : valueAt(static_cast<uint32_t>(i / block), rank * block + i % block);
      if (values[i] != wanted)
        fail(std::string(what) + ": rank " + std::to_string(rank) + " has " + std::to_string(values[i]) + " at " +
             std::to_string(i) + ", not " + std::to_string(wanted));
    }
  }
}

void Bench::compareSizes(const char *what, const Buffers &buffers, const SizedCall &call, Makes makes) {
  for (size_t elements : {fewCompared, std::min(manyCompared, options.largest / sizeof(float))})
    compare(
        what, buffers, elements, [&] { call(makes == Makes::Sums ? elements : elements / ranks); }, makes);
}

void Bench::compareSizes(const char *what, Gc3Calls &program, const Buffers &buffers, Makes makes) {
  compareSizes(
      what, buffers,
      [&](size_t count) {
        program.call(buffers, count, stream);
        check(cudaStreamSynchronize(stream), what);
        program.checkEnded();
      },
      makes);
}

/// Returns the bytes per microsecond that a copy reads and writes.
double Bench::copyBandwidth() {
  const size_t bytes = options.largest;
  const double time = measure(
      [&] {
        check(cudaMemcpyAsync(apart.outputs[0], apart.inputs[0], bytes, cudaMemcpyDeviceToDevice, stream), "copying");
      },
      bytes);
  const double bandwidth = 2 * static_cast<double>(bytes) / time;
  report.note("a copy of " + inUnits(bytes) + " reads and writes " + std::to_string(bandwidth / 1e6) +
              " TB/s; the bound is what the algorithm reads and writes, slots included, at that rate");
  return bandwidth;
}

constexpr const char *overheadColumns[] = {"size",       "gc3 µs", "hand-written µs", "bound µs", "hand-written / gc3",
                                           "bound / gc3"};

/// Checks the goal: from 1 MiB on, gc3 reaches at least 0.95 of the rate of the hand-written kernel. Below 1 MiB, gc3
/// takes at most 1.15 times as long.
void Bench::judge(size_t bytes, double gc3, double handWritten) {
  if (bytes >= size_t{1} << 20 ? handWritten / gc3 < 0.95 : gc3 / handWritten > 1.15)
    missed += " " + inUnits(bytes) + " (" + std::to_string(handWritten / gc3) + ")";
}
void Bench::reportVerdict() {
  report.note(missed.empty()
                  ? "goal met: at least 0.95 of hand-written from 1 MiB on, at most 1.15 times its time below"
                  : "goal missed at:" + missed);
}

/// `moved` is the number of bytes that the algorithm reads and writes. A send reads its buffer and writes a slot. A
/// receive reads a slot and writes its buffer. An instruction that adds also reads another buffer. An instruction that
/// both stores and sends writes two places.
void Bench::overheadRow(size_t bytes, const std::vector<double> &times, double moved, double bandwidth) {
  const double bound = moved / bandwidth;
  report.row(inUnits(bytes), {times[0], times[1], bound, times[1] / times[0], bound / times[0]});
  judge(bytes, times[0], times[1]);
}

void Bench::ring() {
  const double bandwidth = copyBandwidth();
  HandWritten hand(ranks, apart.inputs, apart.outputs);
  Gc3Calls ring(bundle("ring_simple"));
  compareSizes(
      "the hand-written ring", inPlace, [&](size_t count) { hand.ringAllReduce(count, stream); }, Makes::Sums);
  compareSizes("gc3's ring", ring, inPlace, Makes::Sums);
  report.table("ring allreduce", "Ring AllReduce in place, " + std::to_string(channels) + " channels, Simple",
               {std::begin(overheadColumns), std::end(overheadColumns)});
  for (size_t bytes = smallest; bytes <= options.largest; bytes *= 4) {
    const size_t count = bytes / sizeof(float);
    const std::vector<double> times =
        measure({[&] { ring.call(inPlace, count, stream); }, [&] { hand.ringAllReduce(count, stream); }}, bytes);
    const double part = static_cast<double>(bytes) / ranks;
    overheadRow(bytes, times, ranks * (6 * ranks - 4) * part, bandwidth); // each chunk is read or written 6 R - 4 times
  }
  reportVerdict();
}

void Bench::allToAll() {
  const double bandwidth = copyBandwidth();
  HandWritten hand(ranks, apart.inputs, apart.outputs);
  Gc3Calls pairs(bundle("alltoall"));
  compareSizes(
      "the hand-written AllToAll", apart, [&](size_t count) { hand.allToAll(count, stream); }, Makes::Transposes);
  compareSizes("gc3's AllToAll", pairs, apart, Makes::Transposes);
  report.table("alltoall", "AllToAll, each to each, Simple", {std::begin(overheadColumns), std::end(overheadColumns)});
  for (size_t bytes = smallest; bytes <= options.largest; bytes *= 4) {
    const size_t count = bytes / sizeof(float) / ranks;
    const std::vector<double> times =
        measure({[&] { pairs.call(apart, count, stream); }, [&] { hand.allToAll(count, stream); }}, bytes);
    const double part = static_cast<double>(bytes) / ranks;
    // A part that goes to another rank is read or written 4 times, a part that stays 2 times.
    overheadRow(bytes, times, ranks * (4 * (ranks - 1) + 2) * part, bandwidth);
  }
  reportVerdict();
}

void Bench::protocols() {
  Gc3Calls simple(bundle("ring_simple")), ll(bundle("ring_ll")), ll128(bundle("ring_ll128"));
  compareSizes("gc3's ring", simple, inPlace, Makes::Sums);
  compareSizes("gc3's ring under LL", ll, inPlace, Makes::Sums);
  compareSizes("gc3's ring under LL128", ll128, inPlace, Makes::Sums);
  report.table("protocols", "The same ring under the three protocols",
               {"size", "Simple µs", "LL µs", "LL128 µs", "Simple / LL", "Simple / LL128"});
  for (size_t bytes = smallest; bytes <= std::min(options.largest, size_t{64} << 20); bytes *= 4) {
    const size_t count = bytes / sizeof(float);
    std::vector<TimedCall> calls;
    for (Gc3Calls *program : {&simple, &ll, &ll128})
      calls.emplace_back([&, program] { program->call(inPlace, count, stream); });
    const std::vector<double> times = measure(calls, bytes);
    report.row(inUnits(bytes), {times[0], times[1], times[2], times[0] / times[1], times[0] / times[2]});
  }
}

/// Measures the cost of a step, as the difference between programs with one step and with 101.
void Bench::steps() {
  constexpr size_t count = 4;
  constexpr int more = 100;
  report.table("steps", "Steps of one thread block, each after the other, 16 bytes each", {"step", "ns each"});
  for (auto [one, many, title] : {std::array{"steps_1", "steps_101", "local copy"},
                                  std::array{"messages_1", "messages_101", "message to another rank, and stored"}}) {
    Gc3Calls few(bundle(one)), lot(bundle(many));
    const std::vector<double> times =
        measure({[&] { few.call(apart, count, stream); }, [&] { lot.call(apart, count, stream); }}, smallest);
    report.row(title, {(times[1] - times[0]) * 1e3 / more});
  }
}

void Bench::latencyRow(const std::string &what, const TimedCall &call) {
  const double amongOthers = measure(call, smallest);
  Replay one(stream, 1, call);
  report.row(what, {medianLaunchToEnd(one, 100 * options.samples), amongOthers});
}

void Bench::latency() {
  report.table(
      "latency",
      "Launch to end: a graph of one call, by the host's clock, from before it is launched to when the stream is "
      "seen idle. In a row: the mean of " +
          std::to_string(callsFor(smallest)) + " calls of one graph, without a launch",
      {"call", "launch to end µs", "in a row µs"});
  Gc3Calls nothing(bundle("nothing")), allPairs(bundle("allpairs_ll"));
  latencyRow("one step on one rank, 4 bytes", [&] { nothing.call(apart, 1, stream); });
  compareSizes("gc3's All-Pairs", allPairs, inPlace, Makes::Sums);
  const std::string what = "All-Pairs AllReduce of " + std::to_string(ranks) + " ranks, LL, 1 KiB";
  latencyRow(what, [&] { allPairs.call(inPlace, smallest / sizeof(float), stream); });
  Gc3Calls ordered(bundle("allpairs_ll"), Graphs::Ordered);
  latencyRow(what + ", graphs ordered with other calls",
             [&] { ordered.call(inPlace, smallest / sizeof(float), stream); });
}

void Bench::nccl() {
  NcclCalls calls;
  if (std::string problem = calls.make(ranks); !problem.empty()) {
    report.note("NCCL is not measured: " + problem);
    return;
  }
  Gc3Calls ring(bundle("ring_simple"), Graphs::Ordered); // ordered like NCCL's graphs
  compareSizes("gc3's ring", ring, inPlace, Makes::Sums);
  compareSizes(
      "NCCL's AllReduce", inPlace, [&](size_t count) { calls.allReduce(inPlace, count, stream); }, Makes::Sums);
  report.table("nccl", "AllReduce in place of NCCL " + calls.version() + " with as many ranks on this GPU",
               {"size", "gc3's ring µs", "NCCL µs", "NCCL / gc3"});
  for (size_t bytes = smallest; bytes <= options.largest; bytes *= 4) {
    const size_t count = bytes / sizeof(float);
    const std::vector<double> times =
        measure({[&] { ring.call(inPlace, count, stream); }, [&] { calls.allReduce(inPlace, count, stream); }}, bytes);
    report.row(inUnits(bytes), {times[0], times[1], times[1] / times[0]});
  }
}

struct Section {
  const char *name;
  void (Bench::*run)();
};
constexpr Section sections[] = {{"ring", &Bench::ring},           {"alltoall", &Bench::allToAll},
                                {"protocols", &Bench::protocols}, {"steps", &Bench::steps},
                                {"latency", &Bench::latency},     {"nccl", &Bench::nccl}};

/// Runs a section with its own stream and memory, so that a failed section does not affect the next. Returns false if
/// the section failed.
bool runSection(const Section &section, const Options &options, Report &report) {
  try {
    Bench bench(options, report);
    (bench.*section.run)();
    return true;
  } catch (const Failure &failure) {
    report.failure(section.name, failure.what());
    cudaGetLastError(); // clears the error for the next section, unless the GPU has become unusable
    return false;
  }
}

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    const bool hasValue = i + 1 < argc;
    if (std::strcmp(argv[i], "--json") == 0 && hasValue)
      options.json = argv[++i];
    else if (std::strcmp(argv[i], "--largest") == 0 && hasValue)
      options.largest = std::strtoull(argv[++i], nullptr, 10);
    else if (std::strcmp(argv[i], "--samples") == 0 && hasValue)
      options.samples = std::atoi(argv[++i]);
    else if (std::strcmp(argv[i], "--section") == 0 && hasValue)
      options.section = argv[++i];
    else if (argv[i][0] != '-' && options.folder.empty())
      options.folder = argv[i];
    else
      return false;
  }
  return !options.folder.empty() && options.samples > 0 && options.largest >= fewCompared * sizeof(float);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(
        stderr,
        "usage: gpu-bench FOLDER [--section NAME] [--json FILE] [--largest BYTES, at least 1048576] [--samples N]\n");
    return 2;
  }
  int devices = 0;
  if (cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess || devices == 0) {
    std::printf("SKIPPED: no GPU (%s)\n", cudaGetErrorString(error));
    return noGpu;
  }
  try {
    Report report(options.json);
    noteGpu(report, options.samples);
    bool found = false, failed = false;
    for (const Section &section : sections)
      if (options.section.empty() || options.section == section.name) {
        found = true;
        failed |= !runSection(section, options, report);
      }
    if (!found)
      fail("there is no section '" + options.section + "'");
    return failed ? 1 : 0;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "gpu-bench: %s\n", failure.what());
    return 1;
  }
}
