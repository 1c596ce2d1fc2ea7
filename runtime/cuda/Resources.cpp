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

Outcome GrowingMemory::allocatePiece(size_t bytes, Piece &piece) const {
  const std::string what = "scratch and private copies";
  const Outcome onGpu = allocate(cuda, bytes, what, piece.onGpu);
  if (onGpu.ok())
    return {};
  const Outcome onHost = allocate(cuda, bytes, what, piece.onHost);
  if (!onHost.ok())
    return {onHost.code, onGpu.text + "; " + onHost.text};
  log::tellOnce(onGpu.text + "; they lie in the host's memory, which is slow");
  return {};
}

Outcome GrowingMemory::reserve(size_t bytes) {
  if (holds(bytes))
    return {};
  const size_t wanted = std::max(bytes, 2 * size);
  Piece piece;
  Outcome outcome = allocatePiece(wanted, piece);
  if (outcome.ok()) {
    pieces.push_back(std::move(piece));
    size = wanted;
  }
  return outcome;
}

std::byte *GrowingMemory::data() const {
  if (pieces.empty())
    return nullptr;
  const Piece &last = pieces.back();
  return static_cast<std::byte *>(last.onGpu.get() ? last.onGpu.get() : last.onHost.get());
}

void GrowingMemory::abandon() {
  for (Piece &piece : pieces) {
    piece.onGpu.abandon();
    piece.onHost.abandon();
  }
}

} // namespace gc3::cuda
