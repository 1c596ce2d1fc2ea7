// SPDX-License-Identifier: Apache-2.0
// Communicators that NCCL is about to finalize or destroy: what we hold of them is given back when what runs has ended,
// which may never be where a rank is gone. So an abort still reaches them.
#pragma once

#include "nccl/Entry.h"

#include <condition_variable>
#include <mutex>
#include <unordered_map>

namespace gc3::nccl {

class Departures {
public:
  /// Of an attachment, to which nobody else keeps a reference: from now on it can be abandoned. The one that is under
  /// way for a communicator that had this handle and was never destroyed, or null.
  std::shared_ptr<const Entry> note(std::shared_ptr<const Entry> entry);
  /// Gives back what has been noted of `comm`, and waits for that where its communicator blocks, or who calls `awaits`
  /// it; else it goes on in a thread, as NCCL does. One of our own is given back in a thread in any case, beside
  /// whatever group is open: in one NCCL would take it for one that blocks among others that do not.
  ///
  /// False: it was abandoned, and NCCL may have freed it.
  bool begin(Comm comm, const Engine &engine, bool awaits);
  /// Waits until what has begun has ended, and forgets it. False: it was abandoned meanwhile.
  bool await(Comm comm);
  /// InProgress: something of one that does not block is still to be given back; errors of what it ran.
  Result state(Comm comm) const;
  /// The one under way, for who aborts it; null: there is none, or it has been told to leave the communicator alone.
  /// Nobody waits for it any more. (What NCCL waits for while it destroys one of our own does not end.)
  std::shared_ptr<const Entry> abandon(Comm comm);

private:
  struct Departing {
    std::shared_ptr<const Entry> entry; ///< null: its attachment is going
    std::shared_ptr<OwnComm> own;
    AbortFlag isAborted;
    bool blocks;
    bool isAsked = true; ///< for its state, until that is final
    bool isAbandoned = false, hasEnded = false;
    Result error = Result::Success; ///< when it is asked no more
  };
  std::shared_ptr<Departing> find(Comm comm) const;
  void giveBack(Departing &departing);
  void tryToGiveBack(Departing &departing);
  bool await(const Departing &departing);

  mutable std::mutex mutex; ///< guards all that is in them
  std::condition_variable changed;
  std::unordered_map<Comm, std::shared_ptr<Departing>> all;
};

} // namespace gc3::nccl
