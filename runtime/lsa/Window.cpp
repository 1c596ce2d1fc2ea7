// SPDX-License-Identifier: Apache-2.0
// Before NCCL tells addresses itself they follow from a window's first fields, which lie alike from 2.28.7 on and are
// what its inlined device functions read.
#include "lsa/Window.h"

#include <cstddef>
#include <utility>

namespace gc3::lsa {

using core::Outcome;
using cuda::outcomeOf;

namespace {

/// The head of a window in device memory.
struct WindowHead {
  uint64_t unused;
  std::byte *flatBase; ///< of the first rank of the team
  int lsaRank, worldRank;
  uint32_t stride4G; ///< from one rank's to the next one's, in units of 4 GiB
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

Outcome Window::enroll() {
  return outcomeOf(nccl->CommWindowRegister(comm, memory, size, &handle, 0), "registering a window");
}

void Window::leave(ncclapi::Comm forAnother) {
  if (handle)
    nccl->CommWindowDeregister(comm, handle);
  handle = nullptr;
  comm = forAnother;
}

/// Where windows are not possible NCCL says so by null or, before 2.29, by a handle of another kind, in host memory.
Outcome Window::isWindow(bool &real) const {
  real = handle != nullptr;
  if (!real || nccl->GetLsaDevicePointer)
    return {};
  return outcomeOf(*cuda, cuda->isDeviceMemory(&real, handle), "looking at a window");
}

Outcome Window::ask(int rank, std::byte *&part) const {
  void *address = nullptr;
  Outcome outcome = outcomeOf(nccl->GetLsaDevicePointer(handle, 0, rank, &address), "asking for a peer's memory");
  part = static_cast<std::byte *>(address);
  return outcome;
}

Outcome Window::locate(int count, cuda::Stream stream, std::vector<std::byte *> &parts) const {
  bool real = false;
  if (Outcome outcome = isWindow(real); !outcome.ok())
    return outcome;
  if (!real)
    return {gc3InvalidUsage, "this communicator has no symmetric windows"};
  WindowHead head{};
  if (!nccl->GetLsaDevicePointer) {
    Outcome outcome = outcomeOf(*cuda, cuda->copy(&head, handle, sizeof head, stream), "reading a window");
    if (outcome.ok())
      outcome = outcomeOf(*cuda, cuda->synchronize(stream), "reading a window");
    if (!outcome.ok())
      return outcome;
  }
  parts.resize(static_cast<size_t>(count));
  for (int rank = 0; rank < count; ++rank) {
    std::byte *&part = parts[static_cast<size_t>(rank)];
    part = head.flatBase + (static_cast<uint64_t>(head.stride4G) * static_cast<uint64_t>(rank) << 32);
    if (nccl->GetLsaDevicePointer)
      if (Outcome outcome = ask(rank, part); !outcome.ok())
        return outcome;
  }
  return {};
}

Outcome Window::resolve(int own, int count, cuda::Stream stream, std::vector<std::byte *> &parts) {
  Outcome outcome = locate(count, stream, parts);
  if (outcome.ok())
    parts[static_cast<size_t>(own)] = static_cast<std::byte *>(memory);
  return outcome;
}

} // namespace gc3::lsa
