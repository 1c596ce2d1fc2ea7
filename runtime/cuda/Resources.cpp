// SPDX-License-Identifier: Apache-2.0
#include "cuda/Resources.h"

#include "log/Log.h"

#include <algorithm>

namespace gc3::cuda {

using host::Outcome;

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
    log::tellOnce(back.text);
}

Outcome allocate(const Cuda &cuda, size_t bytes, const std::string &what, DeviceMemory &memory) {
  void *taken = nullptr;
  Outcome outcome = outcomeOf(cuda, cuda.allocate(&taken, bytes),
                              "allocating " + std::to_string(bytes) + " bytes of device memory for " + what);
  if (outcome.ok())
    memory = DeviceMemory(cuda, taken);
  return outcome;
}

Outcome createEvent(const Cuda &cuda, OwnEvent &event) {
  Event taken = nullptr;
  Outcome outcome = outcomeOf(cuda, cuda.createEvent(&taken), "creating an event");
  if (outcome.ok())
    event = OwnEvent(cuda, taken);
  return outcome;
}

Outcome GrowingMemory::reserve(size_t bytes) {
  if (holds(bytes))
    return {};
  const size_t wanted = std::max(bytes, 2 * size);
  DeviceMemory piece;
  Outcome outcome = allocate(cuda, wanted, "scratch and private copies", piece);
  if (outcome.ok()) {
    pieces.push_back(std::move(piece));
    size = wanted;
  }
  return outcome;
}

void GrowingMemory::abandon() {
  for (DeviceMemory &piece : pieces)
    piece.abandon();
}

} // namespace gc3::cuda
