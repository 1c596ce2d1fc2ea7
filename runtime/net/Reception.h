// SPDX-License-Identifier: Apache-2.0
// Rank 0 opens a port and waits for the connections of all other ranks.
#pragma once

#include "net/Frame.h"
#include "net/Socket.h"

#include <asio/steady_timer.hpp>
#include <memory>
#include <vector>

namespace gc3::net {

class Reception {
public:
  explicit Reception(uint32_t ranks) : sockets(ranks) {}

  /// Opens the port and makes the token. Fills in both of `endpoint`.
  core::Outcome open(Endpoint &endpoint);

  /// Waits until ranks 1 to `ranks` - 1 have connected. Drops connections that prove no token, or are of a rank that
  /// has connected. Connections that send nothing disturb no other, and end with this object. Returns gc3Timeout with
  /// the missing ranks at the deadline.
  core::Outcome acceptAll(Clock::time_point deadline, const std::function<core::Outcome()> &checkInterruption);

  /// Moves a rank's socket to another context.
  Tcp::socket moveSocket(uint32_t rank, asio::io_context &to) { return moveTo(to, *sockets[rank]); }

private:
  /// A connection that has not proved its rank. Its handlers own it.
  struct Guest {
    explicit Guest(Tcp::socket socket) : socket(std::move(socket)) {}
    Tcp::socket socket;
    GreetingBytes bytes{};
    uint32_t rank = 0;
  };
  using GuestPointer = std::shared_ptr<Guest>;

  asio::error_code bindTo(const Tcp &protocol);
  void acceptNext();
  void readHello(const GuestPointer &guest);
  void acknowledge(const GuestPointer &guest);
  void readConfirmation(const GuestPointer &guest);
  bool isExpected(const Guest &guest, Greeting::Kind kind, uint32_t &rank) const;
  std::string listMissing() const;

  asio::io_context context{1};
  Tcp::acceptor acceptor{context};
  asio::steady_timer pause{context}; ///< after an error
  std::array<uint64_t, 2> token{};
  std::vector<std::unique_ptr<Tcp::socket>> sockets; ///< by rank
  uint32_t connected = 0;
  asio::error_code acceptError;
};

} // namespace gc3::net
