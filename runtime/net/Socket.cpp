// SPDX-License-Identifier: Apache-2.0
#include "net/Socket.h"

#include <algorithm>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

namespace gc3::net {

void prepare(Tcp::socket &socket) {
  asio::error_code ignored;
  socket.set_option(Tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  constexpr std::pair<int, int> limits[] = {{TCP_KEEPIDLE, 30}, {TCP_KEEPINTVL, 10}, {TCP_KEEPCNT, 3}};
  for (const auto &[option, value] : limits) // finds a machine that has vanished after a minute
    (void)setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof value);
  constexpr unsigned unanswered = 60'000; // milliseconds, for data that it does not acknowledge
  (void)setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered, sizeof unanswered);
  (void)fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

Tcp::socket moveTo(asio::io_context &context, Tcp::socket &socket) {
  const Tcp protocol = socket.local_endpoint().protocol();
  return {context, protocol, socket.release()};
}

asio::ip::address toAsio(const Address &address) {
  const asio::ip::address_v6 whole(address);
  if (whole.is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, whole);
  return whole;
}

core::Outcome runUntil(asio::io_context &context, const std::function<bool()> &isDone, Clock::time_point deadline,
                       const std::function<core::Outcome()> &checkInterruption) {
  constexpr std::chrono::milliseconds interval(20);
  const auto work = asio::make_work_guard(context);
  auto nextCheck = Clock::now();
  while (!isDone()) {
    if (Clock::now() >= nextCheck) {
      if (core::Outcome interruption = checkInterruption ? checkInterruption() : core::Outcome{}; !interruption.ok())
        return interruption;
      if (Clock::now() >= deadline)
        return {gc3Timeout, {}};
      nextCheck = std::min(Clock::now() + interval, deadline);
    }
    context.run_one_until(nextCheck);
  }
  return {};
}

} // namespace gc3::net
