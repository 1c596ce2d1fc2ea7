// SPDX-License-Identifier: Apache-2.0
#include "net/Outbox.h"

#include <algorithm>

namespace gc3::net {

void Outbox::sendReady() {
  if (isStopped)
    return;
  const uint64_t hurried = mailbox.collect(waiting);
  while (!waiting.empty()) {
    const bool areKnown = readTimes(waiting.front());
    if (!areKnown && sent >= hurried)
      break;
    send(sent++, waiting.front());
    waiting.pop_front();
    interval = shortest;
  }
  timer.cancel();
  if (waiting.empty())
    return;
  timer.expires_after(interval);
  timer.async_wait([this](asio::error_code cancelled) {
    if (cancelled)
      return;
    interval = std::min(2 * interval, longest);
    sendReady();
  });
}

void Outbox::stop() {
  isStopped = true;
  timer.cancel();
}

} // namespace gc3::net
