// SPDX-License-Identifier: Apache-2.0
#include "net/Reception.h"

#include "select/RankList.h"

#include <asio/ip/v6_only.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <fcntl.h>
#include <sys/random.h>

namespace gc3::net {

using core::Outcome;

/// Opens a port at all addresses of the machine.
asio::error_code Reception::bindTo(const Tcp &protocol) {
  asio::error_code error, ignored;
  acceptor.open(protocol, error);
  if (!error && protocol == Tcp::v6())
    acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error)
    acceptor.bind({protocol, 0}, error);
  if (!error)
    acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    acceptor.close(ignored);
  return error;
}

Outcome Reception::open(Endpoint &endpoint) {
  if (getrandom(token.data(), sizeof token, 0) != sizeof token)
    return {gc3SystemError, "online selection: the system gives no random numbers"};
  asio::error_code error = bindTo(Tcp::v6()); // for IPv4, too
  if (error)
    error = bindTo(Tcp::v4());
  if (!error)
    endpoint.port = acceptor.local_endpoint(error).port();
  if (error)
    return {gc3SystemError, "online selection: rank 0 can't open a port: " + error.message()};
  (void)fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  endpoint.token = token;
  return {};
}

Outcome Reception::acceptAll(Clock::time_point deadline, const std::function<Outcome()> &checkInterruption) {
  acceptNext();
  Outcome outcome = runUntil(
      context, [this] { return connected + 1 == sockets.size(); }, deadline, checkInterruption);
  if (outcome.code != gc3Timeout || !outcome.text.empty())
    return outcome;
  outcome.text = "online selection: " + listMissing() +
                 " did not connect to rank 0 in time; check that their machines reach a port of rank 0's machine";
  if (acceptError)
    outcome.text += " (the last error of rank 0: " + acceptError.message() + ")";
  return outcome;
}

std::string Reception::listMissing() const {
  select::RankList missing;
  for (uint32_t rank = 1; rank < sockets.size(); ++rank)
    if (!sockets[rank])
      missing.add(rank);
  return missing.str();
}

void Reception::acceptNext() {
  acceptor.async_accept([this](asio::error_code error, Tcp::socket socket) {
    acceptError = error;
    if (error) { // such as too many open files
      pause.expires_after(std::chrono::milliseconds(20));
      pause.async_wait([this](asio::error_code) { acceptNext(); });
      return;
    }
    prepare(socket);
    readHello(std::make_shared<Guest>(std::move(socket)));
    acceptNext();
  });
}

/// Returns whether the guest has sent a greeting of this kind, of a rank that has not connected.
bool Reception::isExpected(const Guest &guest, Greeting::Kind kind, uint32_t &rank) const {
  const std::optional<Greeting> greeting = readGreeting(guest.bytes);
  if (!greeting || greeting->kind != kind || greeting->proof != token[0] || greeting->ranks != sockets.size())
    return false;
  rank = greeting->rank;
  return rank >= 1 && rank < sockets.size() && !sockets[rank];
}

// The guest of a handler that starts no other operation is dropped.

void Reception::readHello(const GuestPointer &guest) {
  asio::async_read(guest->socket, asio::buffer(guest->bytes), [this, guest](asio::error_code error, size_t) {
    if (!error && isExpected(*guest, Greeting::Kind::Hello, guest->rank))
      acknowledge(guest);
  });
}

void Reception::acknowledge(const GuestPointer &guest) {
  const auto ranks = static_cast<uint32_t>(sockets.size());
  guest->bytes = writeGreeting({Greeting::Kind::Acknowledgement, guest->rank, ranks, token[1]});
  asio::async_write(guest->socket, asio::buffer(guest->bytes), [this, guest](asio::error_code error, size_t) {
    if (!error)
      readConfirmation(guest);
  });
}

void Reception::readConfirmation(const GuestPointer &guest) {
  asio::async_read(guest->socket, asio::buffer(guest->bytes), [this, guest](asio::error_code error, size_t) {
    uint32_t rank = 0;
    if (error || !isExpected(*guest, Greeting::Kind::Confirmation, rank) || rank != guest->rank)
      return;
    sockets[rank] = std::make_unique<Tcp::socket>(std::move(guest->socket));
    ++connected;
  });
}

} // namespace gc3::net
