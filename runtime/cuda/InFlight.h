// SPDX-License-Identifier: Apache-2.0
// Detects whether other communicators of this process have calls on GPUs that have not ended (docs/selection.md,
// "Words"). A call of a program counts from when it is enqueued. Replays of graphs do not count.
#pragma once

#include "cuda/Resources.h"

#include <atomic>
#include <cstdint>

namespace gc3::cuda {

/// The calls of one communicator, or of one of its ranks. Thread-safe. Nothing waits for a GPU.
class InFlight {
public:
  explicit InFlight(const Cuda &cuda) : cuda(cuda) {}
  ~InFlight();
  InFlight(const InFlight &) = delete;
  InFlight &operator=(const InFlight &) = delete;

  /// Counts calls from now on. `event` is recorded after each call, and must outlive this object.
  void start(Event event);
  /// Sets the number of the communicator. Ranks with equal numbers are not others to each other; 0: unknown.
  void setCommunicator(uint64_t number);
  /// A call was enqueued, and the event was recorded after it.
  void note() { enqueued.fetch_add(1, std::memory_order_release); }

  /// Returns whether another communicator has enqueued a call that has not ended. Queries an event for each
  /// communicator with calls that are not known to have ended.
  bool areOthers() const;

private:
  struct Registry;
  bool isBusy();

  const Cuda &cuda;
  std::atomic<uint64_t> enqueued = 0;
  Event lastCall = nullptr; // the registry's mutex guards this member and the following ones
  uint64_t communicator = 0;
  uint64_t ended = 0; ///< so many calls are known to have ended
};

} // namespace gc3::cuda
