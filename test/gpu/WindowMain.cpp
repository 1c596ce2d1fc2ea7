// SPDX-License-Identifier: Apache-2.0
// gpu-window-test BUNDLE...: tests NCCL windows (comm/Window.h) on a GPU, with a communicator of one rank. First checks
// that NCCL's address of the window and the rank's own address reach the same memory. Then runs the programs of the
// bundles with all their ranks on this GPU. Their FIFO slots, counters and images are in the window, at NCCL's address.
// Finally creates a device communicator with libgc3gin.so (GC3_GIN_LIB), if that library is built for the installed
// NCCL. The exit status is 77 if there is no GPU or no NCCL.
#include "Arena.h"
#include "InstalledNccl.h"
#include "OnGpu.h"
#include "Pattern.h"
#include "comm/DeviceComm.h"
#include "comm/Window.h"
#include "ncclapi/Installed.h"

#include <cstdio>

using namespace gc3;

namespace {

constexpr int skipped = 77;
constexpr uint64_t windowBytes = uint64_t{2} << 30;
constexpr uint64_t slotBytes = 64 << 10; // small, so that calls have several tiles

int fail(const std::string &what, const std::string &why) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), why.c_str());
  return 1;
}

std::string errorText(cudaError_t error) {
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

/// Writes the window through one of its addresses, and checks its words through the other address.
std::string compareViews(std::byte *written, const std::byte *read, uint32_t seed, cudaStream_t stream) {
  constexpr uint64_t words = windowBytes / sizeof(uint32_t);
  unsigned long long *wrong = nullptr, count = 0;
  std::string problem = errorText(cudaMalloc(reinterpret_cast<void **>(&wrong), sizeof *wrong));
  if (problem.empty())
    problem = errorText(cudaMemset(wrong, 0, sizeof *wrong));
  if (problem.empty())
    problem = errorText(cudaDeviceSynchronize());
  if (problem.empty())
    problem = errorText(test::writePattern(reinterpret_cast<uint32_t *>(written), words, seed, stream));
  if (problem.empty())
    problem = errorText(test::countWrong(reinterpret_cast<const uint32_t *>(read), words, seed, wrong, stream));
  if (problem.empty())
    problem = errorText(cudaStreamSynchronize(stream));
  if (problem.empty())
    problem = errorText(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDefault));
  cudaFree(wrong);
  return problem.empty() && count != 0 ? std::to_string(count) + " words are wrong" : problem;
}

/// Registers the window and tests both of its addresses. Sets `address` to the address that NCCL returns.
std::string testWindow(comm::Window &window, cudaStream_t stream, std::byte *&address) {
  core::Outcome outcome = window.reserve(windowBytes, stream);
  if (outcome.ok())
    outcome = outcomeOf(window.registerPart(), "registering a window");
  if (!outcome.ok())
    return outcome.text;
  const core::Result<bool> real = window.isWindow();
  if (!real.ok() || !*real)
    return real.ok() ? "a communicator of one rank has no windows here" : real.outcome().text;
  const ncclapi::Team alone{1, 0, 1};
  const core::Result<std::vector<std::byte *>> fromNccl = window.locate(alone, stream),
                                               own = window.resolve(alone, stream);
  if (!fromNccl.ok() || !own.ok())
    return (fromNccl.ok() ? own : fromNccl).outcome().text;
  address = (*fromNccl)[0];
  std::string problem = compareViews(address, (*own)[0], 1, stream);
  if (problem.empty())
    problem = compareViews((*own)[0], address, 2, stream);
  if (problem.empty())
    std::printf("a window of one rank: right; NCCL has %s address\n", address == (*own)[0] ? "the same" : "another");
  return problem;
}

std::string testNetwork(const ncclapi::Nccl &nccl, ncclapi::Comm comm, cudaStream_t stream) {
  const gin::Plugin *part = gin::find();
  if (!part || part->nccl != nccl.version) {
    std::printf("SKIPPED: a device communicator: libgc3gin.so is %s\n",
                part ? ("for NCCL " + std::to_string(part->nccl)).c_str() : "not there; GC3_GIN_LIB may name it");
    return {};
  }
  comm::DeviceComm network(*cuda::linkedCuda(), nccl, *part, comm);
  core::Outcome outcome = network.reserve();
  if (outcome.ok())
    outcome = outcomeOf(network.create(0), "creating a device communicator");
  if (outcome.ok())
    outcome = network.publish(stream);
  if (!outcome.ok())
    return "a device communicator: " + outcome.text;
  if (network.contexts() != 0)
    return "a device communicator without GIN has " + std::to_string(network.contexts()) + " contexts of it";
  std::printf("a device communicator of one rank without GIN: created\n");
  return {};
}

std::string testBundle(test::Arena &arena, const char *path, cudaStream_t stream, test::Totals &totals) {
  std::unique_ptr<bundle::BundleFile> file;
  if (bundle::BundleStatus status = bundle::BundleFile::open(path).moveTo(file); !status.ok())
    return status.message;
  cuda::Options options = cuda::environmentOptions();
  for (cuda::Tuning &tuning : options.tuning)
    tuning.slotBytes = slotBytes;
  options.timeoutMs = 20000;
  for (bool simple : {false, true}) {
    options.simple = simple;
    for (uint32_t index = 0; index < file->programCount(); ++index) {
      std::string problem = test::testProgram(arena.cuda(), *file, index, options, 20, stream, totals);
      if (problem.empty() && arena.taken() == 0)
        problem = "nothing of it was in the window";
      arena.clear();
      if (!problem.empty())
        return problem;
    }
  }
  return {};
}

/// `comm` is a communicator of one rank.
int testAll(const ncclapi::Nccl &nccl, ncclapi::Comm comm, std::span<char *const> bundles, cudaStream_t stream) {
  comm::Window window(*cuda::linkedCuda(), nccl, comm);
  std::byte *address = nullptr;
  if (std::string problem = testWindow(window, stream, address); !problem.empty())
    return fail("a window", problem);
  test::Totals totals;
  {
    test::Arena arena(*cuda::linkedCuda(), address, windowBytes);
    for (const char *path : bundles)
      if (std::string problem = testBundle(arena, path, stream, totals); !problem.empty())
        return fail(path, problem);
  }
  std::printf("in a window: %llu programs, %llu calls; %llu programs have more thread blocks than fit\n",
              static_cast<unsigned long long>(totals.programs), static_cast<unsigned long long>(totals.calls),
              static_cast<unsigned long long>(totals.tooLarge));
  if (std::string problem = testNetwork(nccl, comm, stream); !problem.empty())
    return fail("NCCL", problem);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  int gpus = 0;
  if (cudaError_t error = cudaGetDeviceCount(&gpus); error != cudaSuccess || gpus == 0) {
    std::printf("SKIPPED: no GPU (%s): nothing of NCCL's windows has been tried\n", cudaGetErrorString(error));
    return skipped;
  }
  test::InstalledNccl installed;
  if (std::string problem = installed.find(); !problem.empty()) {
    std::printf("SKIPPED: no NCCL (%s); GC3_NCCL_LIB may name it\n", problem.c_str());
    return skipped;
  }
  ncclapi::Nccl nccl;
  if (core::Outcome outcome = ncclapi::Nccl::find(ncclapi::findInstalled, nccl); !outcome.ok())
    return std::printf("SKIPPED: %s\n", outcome.text.c_str()), skipped;
  void *comm = nullptr;
  const int device = 0;
  if (int result = installed.commInitAll(&comm, 1, &device); result != 0)
    return fail("ncclCommInitAll", installed.getErrorString(result));
  cudaStream_t stream = nullptr;
  if (std::string problem = errorText(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); !problem.empty())
    return fail("a stream", problem);
  std::printf("NCCL %d, one rank\n", nccl.version);
  const int result = testAll(nccl, static_cast<ncclapi::Comm>(comm), std::span(argv + 1, argv + argc), stream);
  cudaStreamDestroy(stream);
  const int end = installed.commDestroy(comm);
  return result != 0 || end == 0 ? result : fail("ncclCommDestroy", installed.getErrorString(end));
}
