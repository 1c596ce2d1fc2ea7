// SPDX-License-Identifier: Apache-2.0
// The bytes that wait to be sent over a connection.
#pragma once

#include "net/Socket.h"

#include <asio/buffer.hpp>
#include <deque>
#include <memory>
#include <vector>

namespace gc3::net {

/// All functions run on the thread of the socket's context. The socket must outlive this object, and the context must
/// end before this object does.
class SendQueue {
public:
  /// Several queues can share the bytes.
  using Sendable = std::shared_ptr<const std::vector<uint8_t>>;

  explicit SendQueue(Tcp::socket &socket) : socket(socket) {}

  /// Does nothing after finish(), or if the socket is closed.
  void send(Sendable bytes);
  /// Sends what waits, and then ends this side of the connection.
  void finish();

private:
  void write();

  Tcp::socket &socket;
  std::deque<Sendable> pending;
  std::vector<asio::const_buffer> batch; ///< on its way: the first elements of `pending`
  bool isFinishing = false;
};

} // namespace gc3::net
