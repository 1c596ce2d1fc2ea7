// SPDX-License-Identifier: Apache-2.0
// Exchanges the measured times of a communicator's ranks over TCP, while calls go on (docs/selection.md, "Streams").
// Each rank sends its message of an exchange to rank 0. Rank 0 evaluates the messages of all ranks, and sends the
// result to all ranks. So the traffic grows linearly with the ranks, and all ranks have the same result.
//
//   Exchanger exchanger({rank, ranks, host});
//   if (rank == 0)
//     endpoint = exchanger.listen(...); // the ranks get it through another channel
//   exchanger.connect(endpoint, ...);
//   exchanger.start(readTimes, lookBack);
//   for each call: // as in select/Schedule.h
//     while (exchanger.take(result))
//       schedule.end(result);
//     if an exchange is due that has not ended: exchanger.hurry(its number), then takeWithin() until it has ended,
//       error() has an error, or the communicator is aborted
//     ...
//     if an exchange begins: exchanger.begin(its message)
//   exchanger.stop();
//
// Connections that do not prove the token of the endpoint and the secret are dropped. The channel has no encryption,
// and no protection against a program that changes what the network carries.
#pragma once

#include "core/Result.h"
#include "net/Frame.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gc3::net {

/// One rank's part of the channel. Exchangers of several communicators are independent. No function throws.
class Exchanger {
public:
  struct Identity {
    uint32_t rank = 0, ranks = 1;
    uint64_t host = 0;    ///< number that identifies the machine; 0: unknown
    std::string secret{}; ///< of all ranks (GC3_SECRET); empty: none
  };
  /// Fills in the times of a message's calls, `message.call - message.count` to `message.call - 1`, that are known.
  /// Returns whether all are known. Runs on the exchanger's thread, also several times for a message.
  using ReadTimes = std::function<bool(select::Message &message)>;
  /// Returns this rank's answer to the question for the first `asked` calls. Runs on the exchanger's thread.
  using LookBack = std::function<Answer(uint64_t asked)>;
  using CheckInterruption = std::function<core::Outcome()>;

  explicit Exchanger(const Identity &identity);
  /// Calls stop().
  ~Exchanger();
  Exchanger(const Exchanger &) = delete;
  Exchanger &operator=(const Exchanger &) = delete;

  // The functions to start. One thread calls them, in this order.

  /// Only for rank 0: opens a port. The addresses of the interfaces that `interfaces` selects come first; it has the
  /// form of NCCL_SOCKET_IFNAME, and can be empty. gc3SystemError: the system refuses a port.
  core::Result<Endpoint> listen(std::string_view interfaces);
  /// Rank 0 waits for the connections of all other ranks, and ignores `hub`. The others connect to `hub`, the result of
  /// listen() on rank 0. Polls `checkInterruption`, which may be null, about every 20 ms, and returns its error.
  /// gc3Timeout: the text names the ranks that are missing, or the addresses with their errors.
  core::Outcome connect(const Endpoint &hub, std::chrono::milliseconds timeout,
                        const CheckInterruption &checkInterruption);
  /// Starts the thread. It does nothing while no message waits for its times. gc3SystemError: there is no thread.
  core::Outcome start(ReadTimes readTimes, LookBack lookBack);

  // The functions for the thread that makes the calls. Only takeWithin() waits.

  /// Sends the rank's message of the next exchange, when its times are known. The first exchange is 0.
  void begin(const select::Message &message);
  /// Moves the result of the next exchange to `result`. Returns false if this exchange has not ended.
  bool take(select::Exchange &result) { return takeWithin({}, result); }
  /// Waits at most this time for the result. Returns false earlier if there is an error().
  bool takeWithin(std::chrono::microseconds time, select::Exchange &result);
  /// Sends the messages up to this exchange, without the times that are not known.
  void hurry(uint64_t exchange);

  // Any thread may call these functions, after start().

  /// Returns gc3SystemError if no more exchanges can end: a connection has ended, or a rank has sent damaged data. The
  /// text names the rank. Results of exchanges that ended before can still be taken. So only a call that needs another
  /// exchange fails. Ranks that have made all their calls may stop before others.
  core::Outcome error() const;
  /// Begins to compare the choices of all ranks, because a call of this rank has stalled. Only the first call has an
  /// effect. Does not wait.
  void beginComparison();
  /// Returns what the comparison has found: a sentence that names the ranks whose choices differ. Empty if no
  /// difference is known, or a rank has left. No value while the comparison runs.
  std::optional<std::string> comparison() const;
  /// Ends the thread and the connections. Results that rank 0 has computed reach the other ranks; waits at most a
  /// second for this. Messages that wait for times are not sent. Does nothing if the thread does not run.
  void stop();

private:
  struct Parts;
  const Identity identity;
  std::unique_ptr<Parts> parts; ///< from listen() or connect() on
};

} // namespace gc3::net
