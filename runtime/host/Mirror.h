// SPDX-License-Identifier: Apache-2.0
// The connections of a prepared call whose other ends are on other hosts. Each of the two processes has a Fifo of such
// a connection: the sender fills its own, and the receiver reads its own. Transport copies messages and credits from
// one to the other, so that both look as if they were one. Only the thread that holds the transport accesses a Mirror,
// except for lastCall, `begun` and `bytes`.
//
// A rank announces a call after it has received all messages of earlier calls. So when all ranks have announced a call,
// its senders have credits for the messages of earlier calls. The receiver sends only the credits that a sender needs
// within a call: the call's last messages need none.
//
// The Fifos are in memory that the processes of a host share. Another process can discard them as soon as all ranks of
// this process have announced a call that does not use them. So the transport accesses only Fifos of calls that a rank
// of this process is in.
#pragma once

#include "host/Fifo.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace gc3::host {

/// The sender's end of a connection to another host.
struct OutgoingMirror {
  Fifo *fifo = nullptr;
  uint32_t connection = 0;     ///< index in the program
  uint32_t process = 0;        ///< lowest rank of the receiver's process
  uint64_t perCall = 0;        ///< messages in each call
  std::vector<uint64_t> bytes; ///< by slot: size of its message. The sender writes it before it counts the message
  uint64_t posted = 0;         ///< messages that the wire has
  uint64_t completed = 0;      ///< messages whose slots the wire no longer reads
  uint64_t credited = 0;       ///< messages for which the receiver has sent credits
};

/// The receiver's end of a connection from another host.
struct IncomingMirror {
  Fifo *fifo = nullptr;
  uint32_t connection = 0;
  uint32_t process = 0;  ///< lowest rank of the sender's process
  uint64_t perCall = 0;  ///< messages in each call
  uint64_t arrived = 0;  ///< messages copied to the Fifo
  uint64_t credited = 0; ///< messages for which this process has sent credits
};

struct Mirror {
  uint64_t call = 0;                    ///< id of the prepared call
  std::vector<OutgoingMirror> outgoing; ///< ascending by connection
  std::vector<IncomingMirror> incoming; ///< ascending by connection
  std::atomic<uint64_t> lastCall{0};    ///< number of the last call that a rank has entered
  std::atomic<uint64_t> begun{0};       ///< calls that all ranks of all processes have entered
};

} // namespace gc3::host
