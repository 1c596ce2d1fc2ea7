// SPDX-License-Identifier: Apache-2.0
#include "net/Link.h"

#include <algorithm>
#include <asio/write.hpp>

namespace gc3::net {

void Link::send(Sendable frame) {
  if (hasEnded() || isFinishing)
    return;
  pending.push_back(std::move(frame));
  if (pending.size() == 1)
    writeNext();
}

void Link::finish() {
  isFinishing = true;
  if (pending.empty() && !hasEnded())
    writeNext();
}

/// Sends the first pending frame. If there is none, the link is finishing.
void Link::writeNext() {
  asio::error_code ignored;
  if (pending.empty()) {
    socket.shutdown(Tcp::socket::shutdown_send, ignored);
    return;
  }
  asio::async_write(socket, asio::buffer(*pending.front()), [this](asio::error_code error, size_t) {
    // Frames that have arrived can still be read after an error of a write. An error of a read follows.
    if (error)
      return;
    pending.pop_front();
    if (!pending.empty() || isFinishing)
      writeNext();
  });
}

void Link::readMore() {
  socket.async_read_some(
      asio::buffer(buffer.data() + filled, buffer.size() - filled), [this](asio::error_code error, size_t count) {
        if (error)
          return end(error == asio::error::eof ? "ended its connection" : "lost its connection: " + error.message());
        filled += count;
        if (readFrames())
          readMore();
        else
          end("sent damaged data");
      });
}

/// Handles the frames in the buffer. Returns false if one is damaged.
bool Link::readFrames() {
  size_t used = 0;
  for (;;) {
    ReadFrame read = readFrame(Bytes(buffer).subspan(used, filled - used));
    if (read.state == ReadFrame::State::Partial)
      break;
    if (read.state == ReadFrame::State::Damaged || !onFrame(read.frame))
      return false;
    used += read.bytes;
  }
  std::copy(buffer.begin() + static_cast<ptrdiff_t>(used), buffer.begin() + static_cast<ptrdiff_t>(filled),
            buffer.begin());
  filled -= used;
  return true;
}

void Link::end(const std::string &reason) {
  asio::error_code ignored;
  socket.shutdown(Tcp::socket::shutdown_both, ignored); // ends the connection, even if a forked process has a copy
  socket.close(ignored);
  onEnd(reason);
}

} // namespace gc3::net
