// SPDX-License-Identifier: Apache-2.0
// A connection to another rank of an assembly. It reads messages, and sends messages in order.
#pragma once

#include "job/Message.h"
#include "net/SendQueue.h"
#include "net/Socket.h"

#include <functional>
#include <string>

namespace gc3::job {

/// All functions run on the thread of the socket's context, which must end before this object does.
class Channel {
public:
  /// Why no more messages can arrive.
  enum class End : uint8_t {
    Closed,      ///< the other process has closed the connection, or has ended
    Unreachable, ///< the other host does not answer
    Damaged,     ///< the other rank has sent a message that it must not send
  };
  /// Returns false if the other rank must not send this message now.
  using OnMessage = std::function<bool(Message &message)>;
  /// Runs once. The text describes an unreachable host.
  using OnEnd = std::function<void(End end, const std::string &text)>;

  Channel(net::Tcp::socket socket, uint32_t ranks, OnMessage onMessage, OnEnd onEnd)
      : socket(std::move(socket)), ranks(ranks), onMessage(std::move(onMessage)), onEnd(std::move(onEnd)) {}

  /// Begins to read.
  void start() { readNext(); }
  /// Does nothing after finish(), or after the end.
  void send(net::SendQueue::Sendable bytes) { queue.send(std::move(bytes)); }
  /// Sends what waits. The channel ends when the other rank closes the connection.
  void finish() { queue.finish(); }
  bool hasEnded() const { return !socket.is_open(); }

private:
  void readNext();
  void readContent();
  void handle();
  void fail(const asio::error_code &error);
  void end(End end, const std::string &text);

  net::Tcp::socket socket;
  net::SendQueue queue{socket};
  const uint32_t ranks;
  OnMessage onMessage;
  OnEnd onEnd;
  HeaderBytes header{};
  Message message; ///< on its way
};

} // namespace gc3::job
