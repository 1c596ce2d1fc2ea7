// SPDX-License-Identifier: Apache-2.0
#include "comm/UserWindows.h"

#include "core/Log.h"

#include <algorithm>

namespace gc3::comm {

using core::Outcome;
using kernel::Buffer;
using kernel::Place;

namespace {

/// Returns the place of a buffer at `offset` in the window with number `window`. Numbers repeat after 65535 windows.
Place placeAt(uint64_t window, uint64_t offset) {
  constexpr uint32_t offsetBits = 48; // the width of addresses
  return static_cast<Place>((window % 0xffff + 1) << offsetBits | offset);
}

std::byte *&outputOf(kernel::RankBuffers &memory) {
  return memory.buffers[static_cast<uint32_t>(Buffer::Output)];
}

} // namespace

void UserWindows::add(ncclapi::Window handle, const void *memory, uint64_t bytes) {
  const std::lock_guard lock(mutex);
  const uint64_t number = added++; // counts even if memory runs out below, because other ranks count the window
  if (handle)
    entries.push_back({handle, static_cast<const std::byte *>(memory), bytes, number, {}});
}

void UserWindows::remove(ncclapi::Window handle) {
  const std::lock_guard lock(mutex);
  std::erase_if(entries, [&](const Entry &entry) { return entry.handle == handle; });
}

/// Returns true if the ranks of a call compare places. The result is identical on all ranks.
bool UserWindows::comparesPlaces(const cuda::PreparedLaunch &prepared) const {
  const std::optional<uint64_t> bytes =
      core::callBytes(*prepared.program.loaded().program, prepared.count, core::elementSize(prepared.elementType()));
  return added != 0 && prepared.program.directMessages().dependOnCall() && bytes && *bytes >= leastBytes;
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
  const std::vector<std::byte *> *parts = window ? partsOf(*window, view) : nullptr;
  if (!parts)
    return;
  const auto offset = static_cast<uint64_t>(output - window->memory);
  const uint32_t first = view.rank - static_cast<uint32_t>(view.team.rank); // teams of several ranks have no stride
  uint32_t index = 1;
  for (const uint32_t peer : prepared.program.directMessages().peers(view.rank))
    outputOf(plan.call.memory[index++]) = (*parts)[peer - first] + offset;
  plan.call.place = placeAt(window->number, offset);
}

} // namespace gc3::comm
