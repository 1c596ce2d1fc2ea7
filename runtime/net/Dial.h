// SPDX-License-Identifier: Apache-2.0
// A rank connects to rank 0. The rank can't know which addresses of rank 0's machine it reaches. So it tries one after
// the other, without waiting for an answer, and takes the first one that proves the key.
#pragma once

#include "net/Greeting.h"
#include "net/Socket.h"

#include <memory>
#include <string>
#include <vector>

namespace gc3::net {

/// Returns the endpoints that a rank tries to reach rank 0. `host` is the number of this machine; 0: unknown. Ranks of
/// rank 0's machine try 127.0.0.1 first.
std::vector<Tcp::endpoint> targetsOf(const Endpoint &rank0, uint64_t host);
/// What to do if none of them can be reached.
inline constexpr const char *targetAdvice = "; NCCL_SOCKET_IFNAME can name the network interface";

class Dial {
public:
  /// `advice` ends the error if the network has no way to any target.
  Dial(const std::vector<Tcp::endpoint> &targets, const Key &key, uint32_t rank, uint32_t ranks,
       std::string advice = {});
  ~Dial();

  /// Returns gc3Timeout at the deadline. The text then completes "rank N did not reach rank 0 in time", with the errors
  /// of the endpoints; if programs have answered, only of theirs.
  core::Outcome connect(Clock::time_point deadline, const std::function<core::Outcome()> &checkInterruption);

  /// Moves the connected socket to another context.
  Tcp::socket moveSocket(asio::io_context &to);

private:
  /// Tries one endpoint, again and again.
  struct Attempt;

  void begin(size_t attempt);
  void connectTo(Attempt &attempt);
  void noteProgram(Attempt &attempt);
  void sendHello(Attempt &attempt);
  void readAcknowledgement(Attempt &attempt);
  void handleAcknowledgement(Attempt &attempt);
  void confirm(Attempt &attempt);
  void refuse(Attempt &attempt, Greeting::Reason reason, const Greeting &other);
  void retry(Attempt &attempt, const std::string &error);
  std::string listErrors() const;

  const Key key;
  const uint32_t rank, ranks;
  const std::string advice;
  asio::io_context context{1};
  std::vector<std::unique_ptr<Attempt>> attempts; ///< the preferred endpoint first
  Attempt *chosen = nullptr;                      ///< the first with an acknowledgement
  bool isConnected = false;
};

} // namespace gc3::net
