// SPDX-License-Identifier: Apache-2.0
// Learns that a process of this host has ended. The end of a connection shows this, too, except if the process has
// forked: the child keeps the connection open.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <cstdint>
#include <functional>

namespace gc3::job {

/// All functions run on the thread of the context, which must end before this object does.
class ProcessWatch {
public:
  /// Calls `onEnd` once, some time after the process has ended: then all that it has sent can be read. Never calls it
  /// if the system can't watch processes.
  ProcessWatch(asio::io_context &context, uint32_t process, std::function<void()> onEnd);

private:
  void waitForData();

  asio::posix::stream_descriptor descriptor;
  asio::steady_timer timer;
  std::function<void()> onEnd;
};

} // namespace gc3::job
