// SPDX-License-Identifier: Apache-2.0
// A connection to another rank, after the greetings. It reads frames, and sends frames in order.
#pragma once

#include "net/Frame.h"
#include "net/SendQueue.h"

#include <functional>
#include <string>

namespace gc3::net {

/// All functions run on the thread of the socket's context, which must end before this object does.
class Link {
public:
  using Sendable = SendQueue::Sendable;
  /// Returns false if the other rank must not send this frame now.
  using OnFrame = std::function<bool(Frame &frame)>;
  /// Runs once, when no more frames can arrive. The reason is a part of a sentence.
  using OnEnd = std::function<void(const std::string &reason)>;

  Link(Tcp::socket socket, OnFrame onFrame, OnEnd onEnd)
      : socket(std::move(socket)), onFrame(std::move(onFrame)), onEnd(std::move(onEnd)) {}

  /// Begins to read.
  void start() { readMore(); }
  /// Does nothing after the end.
  void send(Sendable frame) { queue.send(std::move(frame)); }
  /// Sends the pending frames, and no others. The link ends when the other rank closes the connection, after it has
  /// read all frames.
  void finish() { queue.finish(); }
  bool hasEnded() const { return !socket.is_open(); }

private:
  void readMore();
  bool readFrames();
  void end(const std::string &reason);

  Tcp::socket socket;
  SendQueue queue{socket};
  OnFrame onFrame;
  OnEnd onEnd;
  std::array<uint8_t, 4 * mostFrameBytes> buffer{};
  size_t filled = 0; ///< bytes in the buffer
};

} // namespace gc3::net
