// SPDX-License-Identifier: Apache-2.0
#include "Gpu.h"

namespace gc3::run {

std::string Gpu::prepare() {
  if (!ownStream.get()) {
    cuda::Stream stream = nullptr;
    if (core::Outcome outcome = outcomeOf(cuda, cuda.createStream(&stream), "creating a stream"); !outcome.ok())
      return outcome.text;
    ownStream = cuda::OwnStream(cuda, stream);
  }
  for (auto [here, there] : {std::pair(&inputs, &memory[0]), std::pair(&outputs, &memory[1])}) {
    there->clear();
    there->resize(here->size());
    for (size_t rank = 0; rank < here->size(); ++rank)
      if (core::Outcome outcome = cuda::allocate(cuda, (*here)[rank].size(), "buffers").moveTo((*there)[rank]);
          !outcome.ok())
        return outcome.text;
  }
  return {};
}

std::string Gpu::copyAll(bool toGpu) {
  for (auto [here, there] : {std::pair(&inputs, &memory[0]), std::pair(&outputs, &memory[1])})
    for (size_t rank = 0; rank < here->size(); ++rank) {
      void *onHost = (*here)[rank].data(), *onGpu = (*there)[rank].get();
      const cuda::Result result =
          cuda.copy(toGpu ? onGpu : onHost, toGpu ? onHost : onGpu, (*here)[rank].size(), stream());
      if (core::Outcome outcome = outcomeOf(cuda, result, "copying buffers"); !outcome.ok())
        return outcome.text;
    }
  return synchronize();
}

std::string Gpu::synchronize() {
  return outcomeOf(cuda, cuda.synchronize(stream()), "waiting for the GPU").text;
}

} // namespace gc3::run
