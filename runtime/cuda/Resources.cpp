// SPDX-License-Identifier: Apache-2.0
#include "cuda/Resources.h"

#include "core/Log.h"

#include <algorithm>

namespace gc3::cuda {

using core::Outcome;

OnDevice::OnDevice(const Cuda &cuda, int device) : cuda(cuda) {
  int current = -1;
  result = outcomeOf(cuda, cuda.getDevice(&current), "querying the current device");
  if (!result.ok() || current == device)
    return;
  result = outcomeOf(cuda, cuda.setDevice(device), "switching to device " + std::to_string(device));
  if (result.ok())
    before = current;
}

OnDevice::~OnDevice() {
  if (before < 0)
    return;
  const Outcome back = outcomeOf(cuda, cuda.setDevice(before), "restoring device " + std::to_string(before));
  if (!back.ok()) // only logged, because no call has failed
    core::logOnce(back.text);
}

core::Result<DeviceMemory> allocate(const Cuda &cuda, size_t bytes, const std::string &what) {
  void *acquired = nullptr;
  if (Outcome outcome = outcomeOf(cuda, cuda.allocate(&acquired, bytes),
                                  "allocating " + std::to_string(bytes) + " bytes of device memory for " + what);
      !outcome.ok())
    return outcome;
  return DeviceMemory(cuda, acquired);
}

core::Result<PinnedMemory> allocatePinned(const Cuda &cuda, size_t bytes, const std::string &what) {
  void *acquired = nullptr;
  if (Outcome outcome = outcomeOf(cuda, cuda.allocatePinned(&acquired, bytes),
                                  "allocating " + std::to_string(bytes) + " bytes of pinned memory for " + what);
      !outcome.ok())
    return outcome;
  return PinnedMemory(cuda, acquired);
}

static core::Result<OwnEvent> createBy(Result (*create)(Event *event), const Cuda &cuda) {
  Event acquired = nullptr;
  if (Outcome outcome = outcomeOf(cuda, create(&acquired), "creating an event"); !outcome.ok())
    return outcome;
  return OwnEvent(cuda, acquired);
}

core::Result<OwnEvent> createEvent(const Cuda &cuda) {
  return createBy(cuda.createEvent, cuda);
}

core::Result<OwnEvent> createTimedEvent(const Cuda &cuda) {
  return createBy(cuda.createTimedEvent, cuda);
}

template <typename Memory, core::Result<Memory> (*allocateMemory)(const Cuda &, size_t, const std::string &)>
Outcome GrowingMemory<Memory, allocateMemory>::grow(const Cuda &cuda, size_t bytes) {
  const std::string what = "scratch and private copies";
  Outcome outcome;
  for (size_t wanted : {std::max(bytes, 2 * size), bytes}) {
    core::Result<Memory> segment = allocateMemory(cuda, wanted, what);
    outcome = segment.outcome();
    if (segment.ok()) {
      segments.push_back(std::move(*segment));
      size = wanted;
    }
    if (segment.ok() || wanted == bytes)
      break;
  }
  return outcome;
}

core::Result<std::byte *> CallMemory::reserve(size_t bytes) {
  if (!onGpu.holds(bytes) && !onHost.holds(bytes))
    if (const Outcome grown = onGpu.grow(cuda, bytes); !grown.ok()) {
      if (const Outcome outcome = onHost.grow(cuda, bytes); !outcome.ok())
        return Outcome{outcome.code, grown.text + "; " + outcome.text};
      core::logOnce(grown.text + "; host memory is used instead, which is slow");
    }
  return onGpu.holds(bytes) ? onGpu.data() : onHost.data();
}

} // namespace gc3::cuda
