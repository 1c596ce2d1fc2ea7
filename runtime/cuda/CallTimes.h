// SPDX-License-Identifier: Apache-2.0
// The times of a rank's calls on its GPU, by CUDA events around the work of a call. Nothing waits for the GPU: a time
// is unknown until the call has ended. Events count in steps of half a microsecond.
//
// Thread-safe. Events are created in advance, on the thread's current device.
#pragma once

#include "cuda/Resources.h"

#include <mutex>
#include <optional>
#include <vector>

namespace gc3::cuda {

class CallTimes {
public:
  explicit CallTimes(const Cuda &cuda) : cuda(cuda) {}

  /// Creates the events for `most` calls whose times are not read yet. Further calls get no time.
  core::Outcome prepare(uint32_t most);

  /// Call before and after the work of a call is enqueued. The stream must not be captured. An error of CUDA means that
  /// the call has no time.
  void begin(uint64_t call, Stream stream);
  void end(uint64_t call, Stream stream);

  /// Returns the time of a call in microseconds; NaN if the call has no time. Returns no value if it has not ended.
  std::optional<float> find(uint64_t call);
  /// Frees the events of all calls before `call`, which find() is never asked for again.
  void forget(uint64_t call);

private:
  enum class State : uint8_t { Free, Begun, Ended };
  struct Slot {
    State state = State::Free;
    uint64_t call = 0;
    OwnEvent begin, end;
  };
  Slot &slotOf(uint64_t call) { return slots[call % slots.size()]; }

  const Cuda &cuda;
  std::mutex mutex;
  std::vector<Slot> slots; ///< by number of the call, modulo its size
  uint64_t forgotten = 0;  ///< calls before this one are forgotten
};

} // namespace gc3::cuda
