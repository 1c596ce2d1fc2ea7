// SPDX-License-Identifier: Apache-2.0
#include "comm/UserWindows.h"

#include "core/Log.h"

#include <algorithm>

namespace gc3::comm {

using core::Outcome;
using kernel::Buffer;
using kernel::Place;

namespace {

/// Returns the place of a buffer at `offset` in the window with number `window`. Numbers repeat after 32767 windows.
Place placeAt(uint64_t window, uint64_t offset) {
  constexpr uint32_t offsetBits = 48; // the width of addresses
  constexpr uint64_t mostWindows = kernel::switchPlaces >> offsetBits;
  return static_cast<Place>((window % (mostWindows - 1) + 1) << offsetBits | offset);
}

std::byte *&outputOf(kernel::RankBuffers &memory) {
  return memory.buffers[static_cast<uint32_t>(Buffer::Output)];
}

/// Returns true if the switch can access all slots of an output: no slot is short, and all are whole packs.
bool hasWholePacks(const kernel::KernelArgs &call, const core::BufferLayout &layout, size_t elementSize,
                   const std::byte *output) {
  const uint64_t sizes = (call.slotElements | call.tileElements) * elementSize | call.tileStride;
  return layout.blockElements == layout.slotsPerBlock * layout.slotElements &&
         (reinterpret_cast<uintptr_t>(output) | sizes) % sizeof(kernel::Pack) == 0;
}

} // namespace

/// Returns the address at which the switch accesses a window; null if there is none.
std::byte *UserWindows::switchAddress(ncclapi::Window handle) const {
  int device = 0;
  if (!overSwitch || !handle || !nccl.GetLsaMultimemDevicePointer ||
      nccl.CommCuDevice(parent, &device) != ncclapi::Result::Success)
    return nullptr;
  const cuda::OnDevice current(cuda, device);
  void *address = nullptr;
  const bool isMapped = nccl.GetLsaMultimemDevicePointer(handle, 0, &address) == ncclapi::Result::Success;
  return isMapped ? static_cast<std::byte *>(address) : nullptr;
}

void UserWindows::add(ncclapi::Window handle, const void *memory, uint64_t bytes) {
  std::byte *const address = switchAddress(handle);
  const std::lock_guard lock(mutex);
  const uint64_t number = added++; // counts even if memory runs out below, because other ranks count the window
  if (handle)
    entries.push_back({handle, static_cast<const std::byte *>(memory), bytes, address, number, {}});
}

void UserWindows::remove(ncclapi::Window handle) {
  const std::lock_guard lock(mutex);
  std::erase_if(entries, [&](const Entry &entry) { return entry.handle == handle; });
}

/// Returns true if the ranks of a call compare places. The result is identical on all ranks.
bool UserWindows::comparesPlaces(const cuda::PreparedLaunch &prepared) const {
  const std::optional<uint64_t> bytes =
      core::callBytes(*prepared.program.loaded().program, prepared.count, core::elementSize(prepared.elementType()));
  return added != 0 && prepared.program.dependsOnPlaces() && bytes && *bytes >= leastBytes;
}

UserWindows::Entry *UserWindows::find(const std::byte *buffer, uint64_t bytes) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry &entry) {
    return buffer >= entry.memory && bytes <= entry.bytes &&
           static_cast<uint64_t>(buffer - entry.memory) <= entry.bytes - bytes;
  });
  return found == entries.end() ? nullptr : &*found;
}

/// Returns the addresses of the peers' parts of a window. Returns null and removes the window if there are none. Then
/// messages have slots, because the peers cannot know of this error.
const std::vector<std::byte *> *UserWindows::partsOf(Entry &window, const View &view) {
  if (window.parts.empty())
    if (Outcome outcome = locateParts(cuda, nccl, window.handle, view.team, view.stream).moveTo(window.parts);
        !outcome.ok()) {
      core::logOnce("rank " + std::to_string(view.rank) + ": a window is not used: " + outcome.text);
      entries.erase(entries.begin() + (&window - entries.data()));
      return nullptr;
    }
  return &window.parts;
}

/// The kernel's output can be a private copy. Peers can reach it only if it is the receive buffer.
void UserWindows::place(const core::Request &request, const View &view, cuda::Runner::Plan &plan) {
  const std::lock_guard lock(mutex);
  const cuda::PreparedLaunch &prepared = *plan.prepared;
  if (!comparesPlaces(prepared))
    return;
  plan.call.place = Place::Nowhere;
  const std::byte *output = outputOf(plan.call.memory[0]);
  const core::BufferLayout &layout = prepared.layout.ranks[view.rank].output;
  Entry *window = output == request.recv ? find(output, layout.elements * prepared.layout.elementSize) : nullptr;
  if (window && window->parts.empty() && plan.capture != 0 && !nccl.GetLsaDevicePointer)
    return; // the addresses are in device memory, which gc3 cannot read during a capture
  const std::vector<std::byte *> *parts = window ? partsOf(*window, view) : nullptr;
  if (!parts)
    return;
  const auto offset = static_cast<uint64_t>(output - window->memory);
  const uint32_t first = view.rank - static_cast<uint32_t>(view.team.rank); // teams of several ranks have no stride
  uint32_t index = 1;
  for (const uint32_t peer : prepared.program.directMessages().peers(view.rank))
    outputOf(plan.call.memory[index++]) = (*parts)[peer - first] + offset;
  plan.call.place = placeAt(window->number, offset);
  if (hasWholePacks(plan.call, layout, prepared.layout.elementSize, output))
    useSwitch(*window, offset, plan);
}

/// Makes the call use the switch, if it can. All ranks decide alike if their buffers are at the same place.
void UserWindows::useSwitch(const Entry &window, uint64_t offset, cuda::Runner::Plan &plan) {
  const cuda::PreparedLaunch &prepared = *plan.prepared;
  const void *kernel = prepared.program.switchKernel(prepared.elementType(), plan.call.op);
  if (!window.overSwitch || !kernel)
    return;
  plan.launch.kernel = kernel;
  outputOf(plan.call.memory[kernel::switchMemory]) = window.overSwitch + offset;
  plan.call.place = static_cast<Place>(static_cast<uint64_t>(plan.call.place) | kernel::switchPlaces);
}

} // namespace gc3::comm
