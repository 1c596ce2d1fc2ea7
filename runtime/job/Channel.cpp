// SPDX-License-Identifier: Apache-2.0
#include "job/Channel.h"

#include <asio/read.hpp>

namespace gc3::job {

void Channel::readNext() {
  asio::async_read(socket, asio::buffer(header), [this](asio::error_code error, size_t) {
    if (error)
      return fail(error);
    const std::optional<Announcement> next = readHeader(header, ranks);
    if (!next)
      return end(End::Damaged, {});
    message = next->message;
    message.bytes.resize(next->bytes);
    readContent();
  });
}

void Channel::readContent() {
  if (message.bytes.empty())
    return handle();
  asio::async_read(socket, asio::buffer(message.bytes), [this](asio::error_code error, size_t) {
    if (error)
      return fail(error);
    handle();
  });
}

void Channel::handle() {
  if (!onMessage(message))
    return end(End::Damaged, {});
  if (!hasEnded())
    readNext();
}

void Channel::fail(const asio::error_code &error) {
  const bool isClosed =
      error == asio::error::eof || error == asio::error::connection_reset || error == asio::error::broken_pipe;
  end(isClosed ? End::Closed : End::Unreachable, error.message());
}

void Channel::end(End reason, const std::string &text) {
  asio::error_code ignored;
  socket.shutdown(net::Tcp::socket::shutdown_both, ignored); // ends the connection, even if a forked process has a copy
  socket.close(ignored);
  onEnd(reason, text);
}

} // namespace gc3::job
