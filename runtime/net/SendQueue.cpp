// SPDX-License-Identifier: Apache-2.0
#include "net/SendQueue.h"

#include <asio/write.hpp>

namespace gc3::net {

void SendQueue::send(Sendable bytes) {
  if (isFinishing || !socket.is_open())
    return;
  pending.push_back(std::move(bytes));
  if (batch.empty())
    write();
}

void SendQueue::finish() {
  isFinishing = true;
  if (batch.empty() && socket.is_open())
    write();
}

/// Sends all that waits. If nothing waits, the queue is finishing.
void SendQueue::write() {
  asio::error_code ignored;
  if (pending.empty()) {
    socket.shutdown(Tcp::socket::shutdown_send, ignored);
    return;
  }
  for (const Sendable &each : pending)
    batch.emplace_back(each->data(), each->size());
  asio::async_write(socket, batch, [this](asio::error_code error, size_t) {
    // Data that has arrived can still be read after an error of a write. An error of a read follows.
    if (error)
      return;
    pending.erase(pending.begin(), pending.begin() + static_cast<ptrdiff_t>(batch.size()));
    batch.clear();
    if (!pending.empty() || isFinishing)
      write();
  });
}

} // namespace gc3::net
