// SPDX-License-Identifier: Apache-2.0
// The seam between the library in front of NCCL and what runs programs on GPUs. All calls of an engine are made outside
// of NCCL's groups; what an engine calls of NCCL goes straight to the installed library.
#pragma once

#include "nccl/AbortFlag.h"
#include "shim/Bundles.h"
#include "shim/CollectiveCall.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::nccl {

using namespace shim;

/// This process's rank of a communicator.
struct Member {
  Comm comm;
  int ranks;
  int rank;
  AbortFlag isAborted{}; ///< null: nobody aborts it before the engine has taken it on, or while that gives it back
};

/// Which program serves a call, or why none does.
struct Decision {
  int32_t program = -1; ///< an engine's own number; -1: NCCL serves
  std::string_view why; ///< the program's name, else the reason, for the log; lives as long as the attachment
  bool served() const { return program >= 0; }
};

/// A communicator that an engine has taken on. To destroy it gives back what it holds, from the communicator too,
/// unless abort() has been called, or as soon as the member's isAborted is set. One thread at a time runs calls, and
/// drains and gives back when there are none any more; the other functions here may be called at any time, by any
/// thread, but those that ask not while it gives back.
class Attachment {
public:
  Attachment() = default;
  Attachment(const Attachment &) = delete;
  Attachment &operator=(const Attachment &) = delete;
  virtual ~Attachment() = default;

  /// Decides from the collective, count, type, operation, root and ranks alone, so that all ranks decide alike; asked
  /// only about calls for which whyNever has nothing.
  virtual Decision serves(const CollectiveCall &call) const = 0;

  /// Waits until what has been enqueued has ended, or abort().
  virtual void drain() = 0;

  /// Gives back what it holds of NCCL's, which may wait for other ranks; abort() ends that.
  virtual void giveBack() = 0;

  /// Ends what runs; calls fail afterwards. The communicator must not be touched any more from here on: NCCL may free
  /// it. True: it has been revoked here before.
  virtual bool abort() = 0;

  /// A call was lost here that other ranks may run, so that further ones would meet theirs of before: they fail.
  virtual void breakDown(const std::string &why) = 0;

  /// The first failure of what has been enqueued; from then on further calls give it as well.
  virtual Result asyncError() const = 0;
};

/// What became of one rank: `attachment`, or null and why not.
struct Attached {
  std::shared_ptr<Attachment> attachment;
  std::string why;
};

/// A call that `program` serves.
struct Work {
  Attachment *attachment;
  CollectiveCall call;
  int32_t program;
};

/// How long calls wait for other ranks, which may come late: until that is told, and until it is an error.
/// Milliseconds; 0: for ever.
struct Patience {
  uint32_t tellMs = 0, endMs = 0;
};

class Engine {
public:
  Engine() = default;
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;
  virtual ~Engine() = default;

  /// Takes on communicators that were made by one thread together, or refuses each; all ranks of a communicator get the
  /// same answer. Every rank makes this call, so ranks may talk to each other through NCCL, in one group for all
  /// `members`. Returns one Attached per member. Several threads may call at once.
  virtual std::vector<Attached> attach(std::span<const Member> members) = 0;

  /// Loads the program of a call that will be run, if it is not loaded, for which it waits for other ranks. Several
  /// threads may call at once, each for another member.
  virtual void load(const Work &work) = 0;

  /// Enqueues calls in this order; their streams may be captured. They are one thread's: one call, or those of a group,
  /// which may have several ranks of one communicator, so what ranks must do together has to be done for all of them
  /// together. What fails has failed: other ranks may already run the program, so NCCL can't take over; the rest is
  /// enqueued all the same. Gives the first error.
  virtual Result run(std::span<const Work> works) = 0;

  /// Whether what is put on a stream is captured now; no, where that can't be found out.
  virtual bool isCaptured(Stream stream) const = 0;

  /// `work` for a thread of its own, which begins on the GPU of the one that calls.
  virtual std::function<void()> elsewhere(std::function<void()> work) const { return work; }

  /// Does `work`, which may wait for the GPU of an attachment, or of none, where nobody waits for it.
  virtual void aside(const Attachment *, const std::function<void()> &work) const { work(); }

  virtual Patience patience() const { return {}; }

  /// Why no communicator is ever taken on; empty: attach() has to be asked.
  virtual std::string refusal() const { return {}; }
};

/// The engine of this library, defined once in each. `bundles` has none where one of those named can't be used: attach
/// still has to tell the other ranks, who may have all of theirs.
std::unique_ptr<Engine> makeEngine(Bundles &&bundles);

} // namespace gc3::nccl
