// SPDX-License-Identifier: Apache-2.0
#include "comm/Window.h"

#include "comm/WindowParts.h"

#include <utility>

namespace gc3::comm {

using core::Outcome;
using cuda::outcomeOf;

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

core::Result<bool> Window::isWindow() const {
  return comm::isWindow(*cuda, *nccl, handle);
}

core::Result<std::vector<std::byte *>> Window::locate(const ncclapi::Team &team, cuda::Stream stream) const {
  return locateParts(*cuda, *nccl, handle, team, stream);
}

core::Result<std::vector<std::byte *>> Window::resolve(const ncclapi::Team &team, cuda::Stream stream) const {
  core::Result<std::vector<std::byte *>> parts = locate(team, stream);
  if (parts.ok())
    (*parts)[static_cast<size_t>(team.rank)] = static_cast<std::byte *>(memory);
  return parts;
}

} // namespace gc3::comm
