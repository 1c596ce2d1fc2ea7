// SPDX-License-Identifier: Apache-2.0
// NCCL before 2.29.2 has no function that returns the address of a peer's part. For these versions, this file computes
// the address from the window's first fields. NCCL's inlined device functions read the same fields, and their layout is
// the same in all versions from 2.28.7 on.
#include "comm/Window.h"

#include <cstddef>
#include <utility>

namespace gc3::comm {

using core::Outcome;
using cuda::outcomeOf;

namespace {

/// The first fields of a window in device memory.
struct WindowHead {
  uint64_t unused;
  std::byte *flatBase; ///< address of the part of the team's first rank
  int lsaRank, worldRank;
  uint32_t stride4G; ///< distance between the parts of consecutive ranks, in units of 4 GiB
  uint32_t rest;
};
static_assert(offsetof(WindowHead, flatBase) == 8 && offsetof(WindowHead, lsaRank) == 16 &&
              offsetof(WindowHead, stride4G) == 24 && sizeof(WindowHead) == 32);

} // namespace

Window::Window(Window &&other) noexcept
    : cuda(other.cuda), nccl(other.nccl), comm(other.comm), size(other.size),
      memory(std::exchange(other.memory, nullptr)), handle(std::exchange(other.handle, nullptr)) {}

Window &Window::operator=(Window &&other) noexcept {
  std::swap(cuda, other.cuda);
  std::swap(nccl, other.nccl);
  std::swap(comm, other.comm);
  std::swap(size, other.size);
  std::swap(memory, other.memory);
  std::swap(handle, other.handle);
  return *this;
}

Window::~Window() {
  if (handle)
    nccl->CommWindowDeregister(comm, handle);
  if (memory)
    nccl->MemFree(memory);
}

Outcome Window::reserve(uint64_t bytes, cuda::Stream stream) {
  size = bytes;
  if (Outcome outcome = outcomeOf(nccl->MemAlloc(&memory, bytes),
                                  "allocating " + std::to_string(bytes) + " bytes of symmetric memory");
      !outcome.ok()) {
    memory = nullptr;
    return outcome;
  }
  Outcome outcome = outcomeOf(*cuda, cuda->clear(memory, bytes, stream), "clearing FIFO slots");
  return outcome.ok() ? outcomeOf(*cuda, cuda->synchronize(stream), "clearing FIFO slots") : outcome;
}

ncclapi::Result Window::registerPart() {
  return nccl->CommWindowRegister(comm, memory, size, &handle, 0);
}

void Window::moveTo(ncclapi::Comm another) {
  if (handle)
    nccl->CommWindowDeregister(comm, handle);
  handle = nullptr;
  comm = another;
}

/// If NCCL supports no windows on the communicator, it returns a null handle. Before 2.29 it can also return another
/// kind of handle, which points to host memory.
core::Result<bool> Window::isWindow() const {
  if (!handle || nccl->GetLsaDevicePointer)
    return handle != nullptr;
  bool isOnDevice = false;
  if (Outcome outcome = outcomeOf(*cuda, cuda->isDeviceMemory(&isOnDevice, handle), "querying a window"); !outcome.ok())
    return outcome;
  return isOnDevice;
}

core::Result<std::byte *> Window::peerPart(int rank) const {
  void *address = nullptr;
  if (Outcome outcome = outcomeOf(nccl->GetLsaDevicePointer(handle, 0, rank, &address), "querying a peer's address");
      !outcome.ok())
    return outcome;
  return static_cast<std::byte *>(address);
}

core::Result<std::vector<std::byte *>> Window::locate(int count, cuda::Stream stream) const {
  const core::Result<bool> real = isWindow();
  if (!real.ok())
    return real.outcome();
  if (!*real)
    return Outcome{gc3InvalidUsage, "this communicator has no symmetric windows"};
  WindowHead head{};
  if (!nccl->GetLsaDevicePointer) {
    Outcome outcome = outcomeOf(*cuda, cuda->copy(&head, handle, sizeof head, stream), "reading a window");
    if (outcome.ok())
      outcome = outcomeOf(*cuda, cuda->synchronize(stream), "reading a window");
    if (!outcome.ok())
      return outcome;
  }
  std::vector<std::byte *> parts;
  for (int rank = 0; rank < count; ++rank) {
    parts.push_back(head.flatBase + (static_cast<uint64_t>(head.stride4G) * static_cast<uint64_t>(rank) << 32));
    if (!nccl->GetLsaDevicePointer)
      continue;
    const core::Result<std::byte *> part = peerPart(rank);
    if (!part.ok())
      return part.outcome();
    parts.back() = *part;
  }
  return parts;
}

core::Result<std::vector<std::byte *>> Window::resolve(int own, int count, cuda::Stream stream) const {
  core::Result<std::vector<std::byte *>> parts = locate(count, stream);
  if (parts.ok())
    (*parts)[static_cast<size_t>(own)] = static_cast<std::byte *>(memory);
  return parts;
}

} // namespace gc3::comm
