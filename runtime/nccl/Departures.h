// SPDX-License-Identifier: Apache-2.0
// Communicators that NCCL is about to finalize or destroy: what we hold of them is given back when what runs has ended,
// which may never be where a rank is gone. So an abort still reaches them.
#pragma once

#include "nccl/Entry.h"

#include <mutex>
#include <thread>
#include <unordered_map>

namespace gc3::nccl {

class Departures {
public:
  /// Of an attachment: from now on it can be abandoned. The one that is under way for a communicator that had this
  /// handle and was never destroyed, or null.
  std::shared_ptr<const Entry> note(const std::shared_ptr<const Entry> &entry);
  /// Gives back what `entry`, which has been noted, holds, and waits for that where its communicator blocks. Else it
  /// goes on in a thread, as NCCL does, and beside whatever group is open: in one NCCL would take our own communicator
  /// for one that blocks among others that do not.
  ///
  /// False: it was abandoned, and NCCL may have freed it.
  bool begin(std::shared_ptr<const Entry> entry, const Engine &engine);
  /// Waits until it has been given back. False: it was abandoned meanwhile.
  bool await(Comm comm);
  /// InProgress: something of one that does not block is still to be given back; errors of what it ran.
  Result state(Comm comm) const;
  /// The one under way, for who aborts it; null: there is none, or it has been told to leave the communicator alone.
  std::shared_ptr<const Entry> abandon(Comm comm);

private:
  struct Departing {
    std::shared_ptr<const Entry> entry; ///< null: it has ended, and is given back
    AbortFlag isAborted;
    std::weak_ptr<OwnComm> own;
    std::thread thread;
    Result error = Result::Success; ///< then
  };
  bool giveBack(std::shared_ptr<const Entry> entry);

  mutable std::mutex mutex;
  std::unordered_map<Comm, Departing> all;
};

} // namespace gc3::nccl
