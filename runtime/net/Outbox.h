// SPDX-License-Identifier: Apache-2.0
// The messages of this rank that are not sent yet. A message waits until its times are known, or until its exchange is
// in a hurry. Messages are sent in order.
#pragma once

#include "net/Mailbox.h"

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <functional>

namespace gc3::net {

/// All functions run on the thread of the context, which must end before this object does.
class Outbox {
public:
  using ReadTimes = std::function<bool(select::Message &message)>;
  using Send = std::function<void(uint64_t exchange, const select::Message &message)>;

  Outbox(asio::io_context &context, Mailbox &mailbox, ReadTimes readTimes, Send send)
      : mailbox(mailbox), readTimes(std::move(readTimes)), send(std::move(send)), timer(context) {}

  /// Sends the messages of the mailbox that can be sent. Does the same again later, while one waits.
  void sendReady();
  void stop();

private:
  using Interval = std::chrono::microseconds;
  static constexpr Interval shortest{50}, longest{1000};

  Mailbox &mailbox;
  ReadTimes readTimes;
  Send send;
  asio::steady_timer timer; ///< runs only while a message waits
  Interval interval = shortest;
  std::deque<select::Message> waiting;
  uint64_t sent = 0; ///< messages
  bool isStopped = false;
};

} // namespace gc3::net
