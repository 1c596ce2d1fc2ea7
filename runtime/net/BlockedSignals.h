// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace gc3::net {

/// Blocks all signals in threads that begin while it exists, because the application handles them.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
  sigset_t before{};
};

} // namespace gc3::net
