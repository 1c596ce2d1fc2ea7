// SPDX-License-Identifier: Apache-2.0
#include "lsa/Aside.h"

#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

namespace gc3::lsa {

void atOnce(const std::function<void()> &work) {
  work();
}

static std::atomic<uint32_t> threads{0};

static void endThread() {
  --threads;
  threads.notify_all();
}

void inThread(const std::function<void()> &work) {
  ++threads;
  try {
    std::thread([work] {
      work();
      endThread();
    }).detach();
  } catch (const std::system_error &) { // then kernels hang until the application aborts
    endThread();
  }
}

std::function<void()> onGpu(const cuda::Cuda &cuda, int device, std::function<void()> work) {
  return [&cuda, device, work = std::move(work)] {
    cuda.setDevice(device);
    work();
  };
}

void awaitThreads() {
  for (uint32_t some = threads; some != 0; some = threads)
    threads.wait(some);
}

} // namespace gc3::lsa
