// SPDX-License-Identifier: Apache-2.0
#include "net/Link.h"

#include <algorithm>

namespace gc3::net {

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
