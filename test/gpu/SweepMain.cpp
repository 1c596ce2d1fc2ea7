// SPDX-License-Identifier: Apache-2.0
// gpu-sweep BUNDLE...: runs every program of the bundles with all ranks on the current GPU, with each element type, in
// place and out of place. Compares a hash of each result with a line of the file BUNDLE.expected.
// gpu-sweep --expect BUNDLE...: needs no GPU. Makes the same calls on the host and writes these files.
// The exit status is 77 if there is no GPU.
#include "OnGpu.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <fstream>

using namespace gc3;

namespace {

constexpr int skipped = 77;

using Lines = std::vector<std::string>;

/// The case's number determines its type, operation, placement, count and alignment.
test::TrialOptions caseAt(uint32_t number) {
  constexpr uint64_t counts[] = {777, 64, 4099};
  return {.count = counts[number % std::size(counts)],
          .type = static_cast<core::ElementType>(number % core::elementTypeCount),
          .op = static_cast<core::ReduceOp>(number % 5 % core::reduceOpCount),
          .inPlace = number >= core::elementTypeCount,
          .misalignment = number / 2 % 4,
          .seed = number + 1};
}
constexpr uint32_t cases = 2 * core::elementTypeCount;

std::string lineOf(const test::Trial &trial, const std::vector<std::vector<std::byte>> &after) {
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(trial.hash(after)));
  return trial.describe() + ": " + hash;
}

/// A program of a bundle.
struct Chosen {
  const bundle::BundleFile &file;
  uint32_t index;
  const core::LoadedProgram &program;
};

/// Calls `body` for each program. Returns the first error message, or an empty string.
template <typename Body>
std::string forEachProgram(const bundle::BundleFile &file, Body body) {
  for (uint32_t index = 0; index < file.programCount(); ++index) {
    core::Selection selection(file, file.program(index).ranks(), false);
    core::Request request;
    request.kind = core::CallKind::Program;
    request.name = file.program(index).name()->string_view();
    const core::Result<const core::LoadedProgram *> loaded = selection.select(request);
    if (std::string problem = loaded.ok() ? body(Chosen{file, index, **loaded}) : loaded.outcome().text;
        !problem.empty())
      return problem;
  }
  return {};
}

/// Appends the line of each case of a program, computed on the host.
std::string expect(const Chosen &chosen, Lines &lines) {
  for (uint32_t number = 0; number < cases; ++number) {
    test::Trial trial(chosen.file, chosen.index, chosen.program, caseAt(number));
    if (!trial.exists())
      continue;
    std::vector<std::vector<std::byte>> after;
    std::string problem = trial.prepare();
    if (problem.empty())
      problem = trial.runOnHost(after);
    if (!problem.empty())
      return trial.describe() + ": " + problem;
    lines.push_back(lineOf(trial, after));
  }
  return {};
}

/// Runs a case on the GPU. Its line must be equal to `line`.
std::string compareCase(const test::Subject &subject, test::Trial &trial, const std::string &line) {
  test::DeviceBuffers buffers(trial);
  std::vector<std::vector<std::byte>> after;
  std::string problem = test::run(subject, trial, buffers);
  if (problem == test::doesNotFit)
    return problem;
  if (problem.empty())
    problem = buffers.read(after);
  if (problem.empty())
    problem = trial.compareRest(after);
  if (problem.empty() && lineOf(trial, after) != line)
    problem = "its result differs from the expected one, '" + line + "'";
  return problem.empty() ? "" : trial.describe() + ": " + problem;
}

/// Runs the cases of a program. `next` is the number of the first case's line.
std::string compareProgram(const Chosen &chosen, const Lines &lines, cudaStream_t stream, size_t &next,
                           test::Totals &totals) {
  cuda::Options options = cuda::environmentOptions();
  options.timeoutMs = 10000;
  const auto world =
      cuda::LoopbackWorld::make(*cuda::linkedCuda(), chosen.file, chosen.file.program(chosen.index).ranks(), options);
  if (!world.ok())
    return world.outcome().text;
  const test::Subject subject{chosen.file, chosen.index, chosen.program, **world, stream};
  ++totals.programs;
  for (uint32_t number = 0; number < cases; ++number) {
    test::Trial trial(chosen.file, chosen.index, chosen.program, caseAt(number));
    if (!trial.exists())
      continue;
    if (next == lines.size())
      return "its file of expected results has too few lines";
    const std::string problem = compareCase(subject, trial, lines[next++]);
    if (problem == test::doesNotFit)
      ++totals.tooLarge;
    else if (!problem.empty())
      return problem;
    else
      ++totals.calls;
  }
  return {};
}

std::string writeExpected(const std::string &path, const bundle::BundleFile &file) {
  Lines lines;
  if (std::string problem = forEachProgram(file, [&](const Chosen &chosen) { return expect(chosen, lines); });
      !problem.empty())
    return problem;
  std::ofstream out(path);
  for (const std::string &line : lines)
    out << line << '\n';
  out.close();
  return out ? "" : "cannot write '" + path + "'";
}

std::string compareBundle(const std::string &path, const bundle::BundleFile &file, cudaStream_t stream,
                          test::Totals &totals) {
  std::ifstream in(path);
  Lines lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  if (lines.empty())
    return "no expected results in '" + path + "'";
  size_t next = 0;
  std::string problem =
      forEachProgram(file, [&](const Chosen &chosen) { return compareProgram(chosen, lines, stream, next, totals); });
  return problem.empty() && next != lines.size() ? "its file of expected results has too many lines" : problem;
}

} // namespace

int main(int argc, char **argv) {
  const bool expects = argc > 1 && std::strcmp(argv[1], "--expect") == 0;
  int devices = 0;
  if (!expects && (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)) {
    std::printf("SKIPPED: no GPU: no case has been run\n");
    return skipped;
  }
  cudaStream_t stream = nullptr;
  if (cudaError_t error = expects ? cudaSuccess : cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      error != cudaSuccess)
    return std::fprintf(stderr, "no stream: %s\n", cudaGetErrorString(error)), 1;
  test::Totals totals;
  int failed = 0;
  for (int i = expects ? 2 : 1; i < argc; ++i) {
    const std::string path = argv[i], expected = path + ".expected";
    std::unique_ptr<bundle::BundleFile> file;
    std::string problem = bundle::BundleFile::open(path.c_str()).moveTo(file).message;
    if (problem.empty())
      problem = expects ? writeExpected(expected, *file) : compareBundle(expected, *file, stream, totals);
    if (!problem.empty()) {
      std::printf("FAILED: %s: %s\n", path.c_str(), problem.c_str());
      ++failed;
    }
  }
  if (!expects)
    std::printf("%llu programs, %llu cases right; %llu cases have more thread blocks than fit; %d bundles failed\n",
                static_cast<unsigned long long>(totals.programs), static_cast<unsigned long long>(totals.calls),
                static_cast<unsigned long long>(totals.tooLarge), failed);
  return failed == 0 ? 0 : 1;
}
