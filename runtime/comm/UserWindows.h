// SPDX-License-Identifier: Apache-2.0
// The windows that the application has registered with its own NCCL communicator. If the receive buffers of two ranks
// have the same offset in the same window, messages between them need no slots (docs/direct.md).
//
// All ranks register windows together, in one order with their calls. So they agree on the numbers of windows, and on
// whether a call comes after the first window. Thread-safe.
#pragma once

#include "comm/WindowParts.h"
#include "cuda/Options.h"
#include "cuda/Runner.h"

#include <mutex>

namespace gc3::comm {

class UserWindows {
public:
  /// `parent` is the application's communicator. `cuda` and `nccl` must outlive this object.
  UserWindows(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, ncclapi::Comm parent, const cuda::Options &options)
      : cuda(cuda), nccl(nccl), parent(parent), overSwitch(options.overSwitch), leastBytes(options.leastPlacedBytes) {}

  /// Adds a window with this rank's memory. `handle` is null if the application's NCCL supports no windows, or if the
  /// handle is not known. The window then only counts. With GC3_SWITCH, waits until all ranks have called this, because
  /// NCCL then maps the window for the switch.
  void add(ncclapi::Window handle, const void *memory, uint64_t bytes);
  /// Removes a window. The application calls this before it deregisters the window.
  void remove(ncclapi::Window handle);

  /// One rank's view of its communicator.
  struct View {
    uint32_t rank;
    ncclapi::Team team;
    cuda::Stream stream; ///< for copies; no call runs on it
  };
  /// Sets the place of a call's receive buffer, and the addresses of the peers' outputs. Does nothing if the call does
  /// not compare places: it is small, no window was ever added, or no message of the program is direct.
  void place(const core::Request &request, const View &view, cuda::Runner::Plan &plan);

private:
  struct Entry {
    ncclapi::Window handle;
    const std::byte *memory;
    uint64_t bytes;
    std::byte *overSwitch;          ///< the address for the switch; null: none
    uint64_t number;                ///< number of earlier windows of the communicator
    std::vector<std::byte *> parts; ///< of the team's ranks; empty until a call needs them
  };
  bool comparesPlaces(const cuda::PreparedLaunch &prepared) const;
  Entry *find(const std::byte *buffer, uint64_t bytes);
  const std::vector<std::byte *> *partsOf(Entry &window, const View &view);
  static void useSwitch(const Entry &window, uint64_t offset, cuda::Runner::Plan &plan);
  std::byte *switchAddress(ncclapi::Window handle) const;

  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  const ncclapi::Comm parent;
  const bool overSwitch;
  const uint64_t leastBytes; ///< ranks do not compare places in smaller calls
  std::mutex mutex;
  std::vector<Entry> entries;
  uint64_t added = 0; ///< number of windows ever added
};

} // namespace gc3::comm
