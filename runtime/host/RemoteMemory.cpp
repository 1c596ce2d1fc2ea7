// SPDX-License-Identifier: Apache-2.0
#include "host/RemoteMemory.h"

#include <sys/uio.h>

namespace gc3::host {

namespace {

/// Calls copy(own, other) until it has copied all bytes. One call copies less if it ends at a page that can't be read.
template <typename Copy>
bool copyAll(std::byte *own, std::byte *other, size_t bytes, Copy copy) {
  while (bytes != 0) {
    const iovec ownPart{own, bytes}, otherPart{other, bytes};
    const ssize_t copied = copy(ownPart, otherPart);
    if (copied <= 0)
      return false;
    own += copied, other += copied, bytes -= static_cast<size_t>(copied);
  }
  return true;
}

} // namespace

bool readFrom(int process, std::byte *to, const std::byte *from, size_t bytes) {
  return copyAll(to, const_cast<std::byte *>(from), bytes, [=](const iovec &own, const iovec &other) {
    return ::process_vm_readv(process, &own, 1, &other, 1, 0);
  });
}

bool writeTo(int process, std::byte *to, const std::byte *from, size_t bytes) {
  return copyAll(const_cast<std::byte *>(from), to, bytes, [=](const iovec &own, const iovec &other) {
    return ::process_vm_writev(process, &own, 1, &other, 1, 0);
  });
}

} // namespace gc3::host
