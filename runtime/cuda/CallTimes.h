// SPDX-License-Identifier: Apache-2.0
// The times of a rank's calls on its GPU. Nothing waits for the GPU: a time is unknown until the call has ended.
//
// There are two ways to measure a call:
// - by the kernel: each of its thread blocks writes to host memory when it begins and ends (kernel::BlockTimes). This
//   costs two stores to host memory for each block. The time is that of the kernel alone, in steps of the GPU's clock.
// - by two CUDA events around all work of the call. They cost 6 microseconds of an H100, and count in steps of half a
//   microsecond.
//
// Thread-safe. The object must outlive the kernels that it measures. It allocates in advance, on the thread's current
// device.
#pragma once

#include "cuda/Resources.h"

#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace gc3::cuda {

class CallTimes {
public:
  /// The largest number of thread blocks that a kernel which measures itself can have.
  static constexpr uint32_t mostBlocks = 256;

  explicit CallTimes(const Cuda &cuda) : cuda(cuda) {}

  /// Creates the events of `most` calls whose times are not read yet. Further calls get no time.
  core::Outcome prepare(uint32_t most);
  /// Allocates the memory in which kernels measure these calls. Without it, events measure all calls.
  core::Outcome prepareKernels();

  /// Returns memory in which a kernel of `blocks` thread blocks measures the call; the times in it are 0. Returns null
  /// if the kernel has too many blocks, if there is no memory, or if the call can have no time.
  kernel::BlockTimes *beginKernel(uint64_t call, uint32_t blocks);
  /// Record the events. Call before and after the work of a call is enqueued. The stream must not be captured. An error
  /// of CUDA means that the call has no time.
  void begin(uint64_t call, Stream stream);
  void end(uint64_t call, Stream stream);
  /// Call if the work of a call could not be enqueued completely. The call has no time.
  void drop(uint64_t call);

  struct Time {
    float microseconds; ///< NaN: the call has no time
    bool byEvents = false;
  };
  /// Returns the time of a call. Returns no value if it has not ended.
  std::optional<Time> find(uint64_t call);
  /// Frees the memory of all calls before `call`. Do not call find() for them again.
  void forget(uint64_t call);

private:
  enum class State : uint8_t {
    Free,
    InKernel, ///< the kernel measures the call
    Dropped,  ///< like InKernel, but the call has no time; perhaps its kernel never runs
    Begun,    ///< the first event is recorded
    Ended     ///< both events are recorded
  };
  struct Slot {
    State state = State::Free;
    uint64_t call = 0;
    uint32_t blocks = 0; ///< of the kernel
    OwnEvent begin, end;
  };
  Slot *claim(uint64_t call);
  Slot *slotOf(uint64_t call);
  std::span<kernel::BlockTimes> timesOf(const Slot &slot) const;
  std::optional<Time> timeOfKernel(const Slot &slot) const;
  std::optional<Time> timeOfEvents(const Slot &slot) const;

  const Cuda &cuda;
  std::mutex mutex;
  std::vector<Slot> slots;  ///< by number of the call, modulo its size
  PinnedMemory kernelTimes; ///< mostBlocks for each slot
  uint64_t forgotten = 0;   ///< calls before this one are forgotten
};

} // namespace gc3::cuda
