// SPDX-License-Identifier: Apache-2.0
// One rank's part in telling all ranks of its communicator something, by ncclAllGather: each gives as many bytes as the
// others, and receives those of all. In front of what it tells is a head by which those who hear it know what they
// hear: NCCL may gather later than we ask it to, and whatever the application tells over the same communicator.
//
// One thread at a time.
#pragma once

#include "cuda/Resources.h"
#include "lsa/Record.h"
#include "ncclapi/Nccl.h"

#include <algorithm>
#include <vector>

namespace gc3::lsa {

class Exchange {
public:
  /// Of what is told at once.
  static constexpr size_t mostBytes = std::max(sizeof(Record), sizeof(Greeting));

  /// In front of a message. Crosses processes as it is, in every version.
  struct Head {
    enum class Kind : uint32_t {
      Nothing,   ///< none has been gathered
      Message,   ///< what is behind it
      Withdrawn, ///< NCCL gathers this at the end of a group; the rank has given up
    };
    uint64_t communicator; ///< its name; 0: it has none yet
    uint32_t number;       ///< of the gather, from 1
    Kind kind;
  };
  static_assert(sizeof(Head) == 16);

  enum class State : uint8_t {
    Idle,
    Gathering, ///< NCCL has been told to, and is not known to have ended
    Noted,     ///< it does so when the thread's open group ends, or when it likes
  };

  Exchange(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, ncclapi::Comm comm)
      : cuda(cuda), nccl(nccl), comm(comm) {}

  /// Takes what it needs on the current device, as do all calls below.
  core::Outcome prepare(uint32_t rank, uint32_t ranks);
  /// All ranks know the communicator by this name from here on.
  void nameCommunicator(uint64_t name) { communicator = name; }

  // Begins, is gathered in a group of NCCL's, and ends, each on the same stream:
  core::Outcome begin(const void *bytes, size_t size, cuda::Stream stream);
  core::Outcome gather(cuda::Stream stream);
  core::Outcome awaitOn(cuda::Stream stream);
  /// To be asked from there on until it has, or is given up. Not ok: it has failed.
  core::Outcome hasEnded(bool &ended);
  /// Once it has: by rank what each has told.
  /// gc3InvalidUsage: nothing was gathered, so that `stream` goes on in the thread's open group, if it has one, where
  /// the others hear of it; or they had one; or what they told is not this.
  core::Outcome hear(void *all, cuda::Stream stream);

  State state() const { return now; }
  /// NCCL goes on with it by itself, after which nobody hears.
  void leave() { now = State::Noted; }
  /// Gives nothing back, as NCCL uses it.
  void abandon() { memory.abandon(); }

private:
  std::byte *own() const { return static_cast<std::byte *>(memory.get()); }
  std::byte *heard() const { return own() + sizeof(Head) + mostBytes; }
  core::Outcome tell(cuda::Stream stream);
  core::Outcome withdraw(cuda::Stream stream);
  Head headOf(const std::vector<std::byte> &messages, uint32_t rank) const;
  core::Outcome check(const std::vector<std::byte> &messages) const;

  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  const ncclapi::Comm comm;
  uint32_t rank = 0, ranks = 0;
  cuda::DeviceMemory memory; ///< own message, then from heard() on those of all
  cuda::OwnEvent gathered;
  uint64_t communicator = 0;
  uint32_t number = 0;
  std::vector<std::byte> told; ///< copied from when the stream likes
  State now = State::Idle;
};

} // namespace gc3::lsa
