// SPDX-License-Identifier: Apache-2.0
#include "cuda/Resources.h"

#include "core/Log.h"

#include <algorithm>

namespace gc3::cuda {

using core::Outcome;

OnDevice::OnDevice(const Cuda &cuda, int device) : cuda(cuda) {
  int current = -1;
  result = outcomeOf(cuda, cuda.getDevice(&current), "asking for the current device");
  if (!result.ok() || current == device)
    return;
  result = outcomeOf(cuda, cuda.setDevice(device), "switching to device " + std::to_string(device));
  if (result.ok())
    before = current;
}

OnDevice::~OnDevice() {
  if (before < 0)
    return;
  const Outcome back = outcomeOf(cuda, cuda.setDevice(before), "going back to device " + std::to_string(before));
  if (!back.ok()) // no call has failed for it
    core::tellOnce(back.text);
}

Outcome allocate(const Cuda &cuda, size_t bytes, const std::string &what, DeviceMemory &memory) {
  void *taken = nullptr;
  Outcome outcome = outcomeOf(cuda, cuda.allocate(&taken, bytes),
                              "allocating " + std::to_string(bytes) + " bytes of device memory for " + what);
  if (outcome.ok())
    memory = DeviceMemory(cuda, taken);
  return outcome;
}

Outcome allocate(const Cuda &cuda, size_t bytes, const std::string &what, PinnedMemory &memory) {
  void *taken = nullptr;
  Outcome outcome = outcomeOf(cuda, cuda.allocatePinned(&taken, bytes),
                              "allocating " + std::to_string(bytes) + " bytes of pinned memory for " + what);
  if (outcome.ok())
    memory = PinnedMemory(cuda, taken);
  return outcome;
}

Outcome createEvent(const Cuda &cuda, OwnEvent &event) {
  Event taken = nullptr;
  Outcome outcome = outcomeOf(cuda, cuda.createEvent(&taken), "creating an event");
  if (outcome.ok())
    event = OwnEvent(cuda, taken);
  return outcome;
}

template <typename Memory>
Outcome Pieces<Memory>::grow(const Cuda &cuda, size_t bytes) {
  const std::string what = "scratch and private copies";
  Outcome outcome;
  for (size_t wanted : {std::max(bytes, 2 * size), bytes}) {
    Memory piece;
    outcome = allocate(cuda, wanted, what, piece);
    if (outcome.ok()) {
      pieces.push_back(std::move(piece));
      size = wanted;
    }
    if (outcome.ok() || wanted == bytes)
      break;
  }
  return outcome;
}

Outcome CallMemory::reserve(size_t bytes, std::byte *&memory) {
  if (!onGpu.holds(bytes) && !onHost.holds(bytes))
    if (const Outcome grown = onGpu.grow(cuda, bytes); !grown.ok()) {
      if (const Outcome outcome = onHost.grow(cuda, bytes); !outcome.ok())
        return {outcome.code, grown.text + "; " + outcome.text};
      core::tellOnce(grown.text + "; they lie in the host's memory, which is slow");
    }
  memory = onGpu.holds(bytes) ? onGpu.data() : onHost.data();
  return {};
}

} // namespace gc3::cuda
