// SPDX-License-Identifier: Apache-2.0
#include "OnGpu.h"

#include <cuda_runtime_api.h>

#include <thread>

namespace gc3::test {

namespace {

std::string errorText(cudaError_t error) {
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

} // namespace

std::string DeviceBuffers::make() {
  for (const Trial::Memory &rank : trial.initial()) {
    core::Result<cuda::DeviceMemory> piece = cuda::allocate(*cuda::linkedCuda(), rank.bytes.size(), "a test");
    if (!piece.ok())
      return piece.outcome().text;
    memory.push_back(std::move(*piece));
  }
  for (uint32_t rank = 0; rank < memory.size(); ++rank)
    calls.push_back(trial.request(rank, static_cast<std::byte *>(memory[rank].get())));
  return fill();
}

std::string DeviceBuffers::fill() {
  for (size_t rank = 0; rank < memory.size(); ++rank) {
    const std::vector<std::byte> &bytes = trial.initial()[rank].bytes;
    if (std::string problem = errorText(cudaMemcpy(memory[rank].get(), bytes.data(), bytes.size(), cudaMemcpyDefault));
        !problem.empty())
      return problem;
  }
  return errorText(cudaDeviceSynchronize()); // the stream on which calls run does not wait for the copies
}

std::string DeviceBuffers::read(std::vector<std::vector<std::byte>> &after) const {
  after.clear();
  for (size_t rank = 0; rank < memory.size(); ++rank) {
    after.emplace_back(trial.initial()[rank].bytes.size());
    if (std::string problem =
            errorText(cudaMemcpy(after[rank].data(), memory[rank].get(), after[rank].size(), cudaMemcpyDefault));
        !problem.empty())
      return problem;
  }
  return {};
}

std::string DeviceBuffers::compare() const {
  std::vector<std::vector<std::byte>> after;
  const std::string problem = read(after);
  return problem.empty() ? trial.compare(after) : problem;
}

std::string finish(const Subject &subject) {
  cudaError_t error;
  while ((error = cudaStreamQuery(subject.stream)) == cudaErrorNotReady) {
    if (core::Outcome outcome = subject.world.watch(cuda::Watchdog::Clock::now()); !outcome.ok())
      return outcome.text;
    std::this_thread::yield();
  }
  return errorText(error);
}

std::string run(const Subject &subject, Trial &trial, DeviceBuffers &buffers) {
  std::string problem = trial.prepare();
  if (problem.empty())
    problem = buffers.make();
  if (!problem.empty())
    return problem;
  if (core::Outcome outcome = subject.world.call(buffers.requests(), subject.stream); !outcome.ok())
    return outcome.text.find("this GPU can hold") != std::string::npos ? doesNotFit : outcome.text;
  return finish(subject);
}

std::string callOnce(const Subject &subject, const TrialOptions &options) {
  Trial trial(subject.file, subject.index, subject.loaded, options);
  if (!trial.exists())
    return {};
  DeviceBuffers buffers(trial);
  std::string problem = run(subject, trial, buffers);
  if (problem == doesNotFit)
    return problem;
  if (problem.empty())
    problem = buffers.compare();
  return problem.empty() ? "" : trial.describe() + ": " + problem;
}

} // namespace gc3::test
