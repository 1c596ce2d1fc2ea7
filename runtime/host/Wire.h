// SPDX-License-Identifier: Apache-2.0
// What carries headers and data between this process and processes of other hosts, such as UCX. It delivers everything
// that one process sends to another in the order in which it was sent. It works only during calls of progress().
#pragma once

#include "core/Result.h"
#include "host/WireHeader.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gc3::host {

/// Not thread-safe, except event(). Processes are named by their lowest ranks.
class Wire {
public:
  using Bytes = std::span<const std::byte>;

  class Receiver {
  public:
    virtual ~Receiver() = default;
    /// Receives a header and its data, which are valid during the call. They can be anything. If the data was empty, it
    /// can have one byte.
    virtual void receive(Bytes header, Bytes data) = 0;
    /// The connection to a process is lost. `reason` is a clause such as "Connection reset by remote peer".
    virtual void lose(uint32_t process, const std::string &reason) = 0;
  };

  virtual ~Wire() = default;
  /// Returns where other processes reach this one, for their connect().
  virtual Bytes address() const = 0;
  /// Begins a connection to a process of another host. progress() completes it.
  virtual core::Outcome connect(uint32_t process, Bytes address) = 0;
  /// Sends a header and a copy of `data` to a process. If there is no connection, this has no effect.
  virtual void send(uint32_t process, const WireHeader &header, Bytes data) = 0;
  /// Like send(), without a copy: `data` must not change until `completed` has been incremented, which can be at once.
  /// `completed` must live until then, or until close().
  virtual void sendInPlace(uint32_t process, const WireHeader &header, Bytes data, uint64_t &completed) = 0;
  /// Makes progress, and passes to `receiver` what has arrived. Returns whether anything has.
  virtual bool progress(Receiver &receiver) = 0;
  /// Begins to hand everything sent so far over to the system, so that it arrives without calls of progress().
  virtual void beginFlush() = 0;
  /// Returns whether the last flush has ended; true if there was none.
  virtual bool isFlushed() const = 0;
  /// Returns false if there is work for progress(). Otherwise, event() becomes readable when there is.
  virtual bool arm() = 0;
  virtual int event() const = 0;
  /// Ends all connections at once. `data` of earlier calls is free then. Only the destructor may follow.
  virtual void close() = 0;
};

} // namespace gc3::host
