// SPDX-License-Identifier: Apache-2.0
#include "net/Reception.h"

#include "select/RankList.h"

#include <asio/ip/v6_only.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <fcntl.h>

namespace gc3::net {

using core::Outcome;

namespace {

/// Limit on connections that have proved nothing, in addition to one for each rank.
constexpr size_t mostStrangers = 64;

/// Returns a text such as "a port" or "a port from 29501 to 29516".
std::string describePorts(uint16_t first, uint16_t count) {
  return first == 0 ? "a port" : "a port from " + std::to_string(first) + " to " + std::to_string(first + count - 1);
}

} // namespace

asio::error_code Reception::bindTo(const asio::ip::address &address, uint16_t port) {
  const Tcp::endpoint endpoint(address, port);
  asio::error_code error, ignored;
  acceptor.open(endpoint.protocol(), error);
  if (!error)
    acceptor.set_option(Tcp::acceptor::reuse_address(true), error); // of an earlier job that has ended
  if (!error && address.is_v6())
    acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error)
    acceptor.bind(endpoint, error);
  if (!error)
    acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    acceptor.close(ignored);
  return error;
}

Outcome Reception::open(uint16_t firstPort, uint16_t count, const std::string &host) {
  asio::error_code error, isName;
  const asio::ip::address named = asio::ip::make_address(host, isName);
  const bool isLocal = !isName && named.is_loopback();
  for (uint16_t i = 0; i < count && !acceptor.is_open(); ++i) {
    const auto port = static_cast<uint16_t>(firstPort == 0 ? 0 : firstPort + i);
    error = bindTo(isLocal ? named : asio::ip::address_v6::any(), port); // "any" is for IPv4, too
    if (error && error != asio::error::address_in_use && !isLocal)
      error = bindTo(asio::ip::address_v4::any(), port);
  }
  if (!acceptor.is_open())
    return {gc3SystemError, "rank 0 can't open " + describePorts(firstPort, count) + ": " + error.message()};
  (void)fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  return {};
}

uint16_t Reception::port() const {
  return acceptor.local_endpoint().port();
}

void Reception::start(const Key &ofRanks, uint32_t ranks, OnRank onEachRank) {
  key = ofRanks;
  isConnected.assign(ranks, false);
  onRank = std::move(onEachRank);
  acceptNext();
}

std::string Reception::describeMissing() const {
  select::RankList missing;
  std::string details;
  for (uint32_t rank = 1; rank < isConnected.size(); ++rank) {
    if (isConnected[rank])
      continue;
    missing.add(rank);
    if (const std::string remark = remarkOn(rank); !remark.empty())
      details += "; " + remark;
  }
  return missing.str() +
         " did not connect to rank 0 in time; check that their machines reach a port of rank 0's machine" + details +
         describeError();
}

std::string Reception::describeError() const {
  return acceptError ? "; the last error of rank 0: " + acceptError.message() : "";
}

std::string Reception::remarkOn(uint32_t rank) const {
  const auto found = remarks.find(rank);
  return found == remarks.end() ? "" : "a process that says it is rank " + std::to_string(rank) + " " + found->second;
}

void Reception::close() {
  asio::error_code ignored;
  acceptor.close(ignored);
  pause.cancel();
  for (const GuestPointer &guest : guests)
    guest->socket.close(ignored);
  guests.clear();
}

void Reception::acceptNext() {
  acceptor.async_accept([this](asio::error_code error, Tcp::socket socket) {
    if (!acceptor.is_open())
      return;
    acceptError = error;
    if (error) { // such as too many open files
      pause.expires_after(std::chrono::milliseconds(20));
      pause.async_wait([this](asio::error_code) {
        if (acceptor.is_open())
          acceptNext();
      });
      return;
    }
    prepare(socket);
    guests.push_back(std::make_shared<Guest>(std::move(socket)));
    readHello(guests.back());
    if (guests.size() > mostStrangers + isConnected.size())
      drop(GuestPointer(guests.front())); // a rank of the communicator tries again
    acceptNext();
  });
}

void Reception::readHello(const GuestPointer &guest) {
  asio::async_read(guest->socket, asio::buffer(guest->bytes), [this, guest](asio::error_code error, size_t) {
    const std::optional<Greeting> hello = readGreeting(guest->bytes);
    if (error || !hello || hello->tag != key->tag())
      return drop(guest);
    handleHello(guest, *hello);
  });
}

void Reception::handleHello(const GuestPointer &guest, const Greeting &hello) {
  guest->hello = hello;
  guest->own.rank = hello.rank;
  guest->own.ranks = static_cast<uint32_t>(isConnected.size());
  guest->own.tag = key->tag();
  if (hello.version != Greeting::currentVersion)
    return refuse(guest, Greeting::Reason::OtherVersion);
  if (hello.kind != Greeting::Kind::Hello || hello.rank == 0)
    return drop(guest);
  if (hello.ranks != guest->own.ranks)
    return refuse(guest, Greeting::Reason::OtherRanks);
  if (hello.rank >= isConnected.size())
    return drop(guest);
  if (isConnected[hello.rank])
    return refuse(guest, Greeting::Reason::RankIsTaken);
  acknowledge(guest);
}

void Reception::acknowledge(const GuestPointer &guest) {
  Greeting &own = guest->own;
  own.kind = Greeting::Kind::Acknowledgement;
  own.nonce = makeNonce();
  own.proof = key->prove({Key::Side::Rank0, own.rank, own.ranks, guest->hello.nonce, own.nonce});
  guest->bytes = writeGreeting(own);
  asio::async_write(guest->socket, asio::buffer(guest->bytes), [this, guest](asio::error_code error, size_t) {
    if (error)
      return drop(guest);
    readConfirmation(guest);
  });
}

void Reception::readConfirmation(const GuestPointer &guest) {
  asio::async_read(guest->socket, asio::buffer(guest->bytes), [this, guest](asio::error_code error, size_t) {
    const std::optional<Greeting> confirmation = readGreeting(guest->bytes);
    if (error || !confirmation || confirmation->version != Greeting::currentVersion)
      return drop(guest);
    handleConfirmation(guest, *confirmation);
  });
}

void Reception::handleConfirmation(const GuestPointer &guest, const Greeting &confirmation) {
  const Greeting &own = guest->own;
  if (confirmation.kind == Greeting::Kind::Refusal)
    remarks[own.rank] = describeDifference(confirmation.reason, confirmation, own);
  const Key::Statement statement{Key::Side::Other, own.rank, own.ranks, guest->hello.nonce, own.nonce};
  if (confirmation.kind != Greeting::Kind::Confirmation || !key->isProven(statement, confirmation.proof) ||
      isConnected[own.rank])
    return drop(guest);
  isConnected[own.rank] = true;
  ++connected;
  const uint32_t rank = own.rank;
  Tcp::socket socket = std::move(guest->socket); // drop() closes no socket that has moved
  drop(guest);
  onRank(rank, std::move(socket));
}

/// Sends a refusal, and keeps what it says for the error of this rank.
void Reception::refuse(const GuestPointer &guest, Greeting::Reason reason) {
  Greeting &own = guest->own;
  if (own.rank < isConnected.size() && !isConnected[own.rank])
    remarks[own.rank] = describeDifference(reason, guest->hello, own);
  own.kind = Greeting::Kind::Refusal;
  own.reason = reason;
  guest->bytes = writeGreeting(own);
  asio::async_write(guest->socket, asio::buffer(guest->bytes),
                    [this, guest](asio::error_code, size_t) { drop(guest); });
}

void Reception::drop(const GuestPointer &guest) {
  asio::error_code ignored;
  guest->socket.close(ignored);
  guests.remove(guest);
}

} // namespace gc3::net
