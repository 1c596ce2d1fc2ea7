// SPDX-License-Identifier: Apache-2.0
// A rank connects to rank 0. The rank can't know which addresses of rank 0's machine it reaches. So it tries one after
// the other, without waiting for an answer, and takes the first one that proves the token.
#pragma once

#include "net/Frame.h"
#include "net/Socket.h"

#include <memory>
#include <vector>

namespace gc3::net {

class Dial {
public:
  /// `host` is the number of this machine; 0: unknown. Ranks of rank 0's machine try 127.0.0.1 first.
  Dial(const Endpoint &hub, uint32_t rank, uint32_t ranks, uint64_t host);
  ~Dial();

  /// Returns gc3Timeout at the deadline, with the error of each address.
  core::Outcome connect(Clock::time_point deadline, const std::function<core::Outcome()> &checkInterruption);

  /// Moves the connected socket to another context.
  Tcp::socket moveSocket(asio::io_context &to);

private:
  /// Tries one address, again and again.
  struct Attempt;

  void begin(size_t attempt);
  void connectTo(Attempt &attempt);
  void sendHello(Attempt &attempt);
  void readAcknowledgement(Attempt &attempt);
  void confirm(Attempt &attempt);
  void retry(Attempt &attempt, const std::string &error);
  std::string listErrors() const;

  const Endpoint hub;
  const uint32_t rank, ranks;
  asio::io_context context{1};
  std::vector<std::unique_ptr<Attempt>> attempts; ///< the preferred address first
  Attempt *chosen = nullptr;                      ///< the first with an acknowledgement
  bool isConnected = false;
};

} // namespace gc3::net
