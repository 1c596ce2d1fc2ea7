// SPDX-License-Identifier: Apache-2.0
#include "lsa/Aside.h"

#include <system_error>
#include <thread>

namespace gc3::lsa {

void atOnce(const std::function<void()> &work) {
  work();
}

void inThread(const std::function<void()> &work) {
  try {
    std::thread(work).detach();
  } catch (const std::system_error &) { // then kernels hang until the application aborts
  }
}

} // namespace gc3::lsa
