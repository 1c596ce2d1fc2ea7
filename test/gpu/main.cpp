// SPDX-License-Identifier: Apache-2.0
// gpu-test BUNDLE... [--repeats N] [--simple] [--kernel-ms N] [--probe]: runs every program of the bundles with all
// ranks on the current GPU. --repeats: number of random calls of each program, by default 20. --simple: runs programs
// under Simple, not under the protocol for which they were proved. --kernel-ms: time limit of a kernel in milliseconds,
// by default 20000. --probe: only checks that there is a GPU. The exit status is 77 if there is no GPU.
#include "OnGpu.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace gc3;

namespace {

constexpr int skipped = 77;

int testBundle(const char *path, const cuda::Options &options, uint64_t repeats, cuda::Stream stream,
               test::Totals &totals) {
  std::unique_ptr<bundle::BundleFile> file;
  if (bundle::BundleStatus status = bundle::BundleFile::open(path).moveTo(file); !status.ok())
    return std::fprintf(stderr, "%s: %s\n", path, status.message.c_str()), 1;
  for (uint32_t index = 0; index < file->programCount(); ++index)
    if (std::string problem = test::testProgram(*cuda::linkedCuda(), *file, index, options, repeats, stream, totals);
        !problem.empty())
      return std::fprintf(stderr, "%s: %s\n", path, problem.c_str()), 1;
  return 0;
}

/// Returns true if there is a GPU, otherwise prints the reason.
bool probe() {
  int devices = 0;
  if (cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess || devices == 0) {
    std::printf("SKIPPED: no GPU (%s): nothing of gc3's CUDA part has been run\n", cudaGetErrorString(error));
    return false;
  }
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, 0);
  std::printf("%s, sm_%d%d, %d multiprocessors\n", properties.name, properties.major, properties.minor,
              properties.multiProcessorCount);
  return true;
}

} // namespace

int main(int argc, char **argv) {
  uint64_t repeats = 20;
  cuda::Options options = cuda::environmentOptions();
  options.timeoutMs = 20000;
  std::vector<const char *> bundles;
  bool onlyProbe = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--repeats") == 0 && i + 1 < argc)
      repeats = std::strtoull(argv[++i], nullptr, 10);
    else if (std::strcmp(argv[i], "--kernel-ms") == 0 && i + 1 < argc)
      options.timeoutMs = static_cast<uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    else if (std::strcmp(argv[i], "--simple") == 0)
      options.simple = true;
    else if (std::strcmp(argv[i], "--probe") == 0)
      onlyProbe = true;
    else
      bundles.push_back(argv[i]);
  }
  if (!probe())
    return skipped;
  if (onlyProbe)
    return 0;
  cudaStream_t stream = nullptr;
  if (cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); error != cudaSuccess)
    return std::fprintf(stderr, "no stream: %s\n", cudaGetErrorString(error)), 1;
  test::Totals totals;
  int failed = 0;
  for (const char *bundle : bundles)
    failed += testBundle(bundle, options, repeats, stream, totals);
  cudaStreamDestroy(stream);
  std::printf(
      "%zu bundles, %llu programs, %llu calls; %llu programs have more thread blocks than fit; %d bundles failed\n",
      bundles.size(), static_cast<unsigned long long>(totals.programs), static_cast<unsigned long long>(totals.calls),
      static_cast<unsigned long long>(totals.tooLarge), failed);
  return failed == 0 ? 0 : 1;
}
