// SPDX-License-Identifier: Apache-2.0
// Rank 0 opens a port and accepts the connections of all other ranks. Connections of strangers disturb no rank: they
// are dropped when they send a wrong greeting, and a limited number may be silent.
#pragma once

#include "net/Greeting.h"
#include "net/Socket.h"

#include <asio/steady_timer.hpp>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace gc3::net {

/// All functions run on the thread of the context, which must end before this object does.
class Reception {
public:
  /// Takes the connection of a rank. Each rank comes once.
  using OnRank = std::function<void(uint32_t rank, Tcp::socket socket)>;

  explicit Reception(asio::io_context &context) : context(context) {}

  /// Opens the first free port of `firstPort` .. `firstPort` + `count` - 1; if firstPort is 0, any port. Ranks can
  /// connect from now on: if `host` is a loopback address, at this address, else at all addresses of the machine.
  core::Outcome open(uint16_t firstPort, uint16_t count, const std::string &host = {});
  uint16_t port() const;

  /// Begins to accept ranks 1 to `ranks` - 1.
  void start(const Key &key, uint32_t ranks, OnRank onRank);
  bool isComplete() const { return connected + 1 == isConnected.size(); }

  /// Returns a text such as "ranks 1, 4 did not connect to rank 0 in time; check ..." for ranks that have not
  /// connected.
  std::string describeMissing() const;
  /// Returns what is known about a rank that has not connected, such as "a process that says it is rank 2 has another
  /// GC3_SECRET". Empty: nothing.
  std::string remarkOn(uint32_t rank) const;
  /// Returns a text such as "; the last error of rank 0: Too many open files". Empty: rank 0 accepts connections.
  std::string describeError() const;

  /// Closes the port, and the connections that have proved nothing.
  void close();

private:
  /// A connection that has not proved its rank.
  struct Guest {
    explicit Guest(Tcp::socket socket) : socket(std::move(socket)) {}
    Tcp::socket socket;
    GreetingBytes bytes{};
    Greeting hello, own;
  };
  using GuestPointer = std::shared_ptr<Guest>;

  asio::error_code bindTo(const asio::ip::address &address, uint16_t port);
  void acceptNext();
  void readHello(const GuestPointer &guest);
  void handleHello(const GuestPointer &guest, const Greeting &hello);
  void acknowledge(const GuestPointer &guest);
  void readConfirmation(const GuestPointer &guest);
  void handleConfirmation(const GuestPointer &guest, const Greeting &confirmation);
  void refuse(const GuestPointer &guest, Greeting::Reason reason);
  void drop(const GuestPointer &guest);

  asio::io_context &context;
  Tcp::acceptor acceptor{context};
  asio::steady_timer pause{context}; ///< after an error
  asio::error_code acceptError;
  std::optional<Key> key;
  OnRank onRank;
  std::vector<bool> isConnected; ///< by rank
  uint32_t connected = 0;
  std::list<GuestPointer> guests;          ///< the oldest first
  std::map<uint32_t, std::string> remarks; ///< by rank
};

} // namespace gc3::net
