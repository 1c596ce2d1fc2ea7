// SPDX-License-Identifier: Apache-2.0
#include "lsa/Network.h"

namespace gc3::lsa {

using core::Outcome;
using cuda::outcomeOf;

Network &Network::operator=(Network &&other) noexcept {
  std::swap(cuda, other.cuda);
  std::swap(nccl, other.nccl);
  std::swap(part, other.part);
  std::swap(comm, other.comm);
  std::swap(hostCopy, other.hostCopy);
  std::swap(deviceCopy, other.deviceCopy);
  std::swap(exists, other.exists);
  return *this;
}

Network::~Network() {
  if (exists)
    part->destroy(nccl->DevCommDestroy, comm, hostCopy.get());
}

Outcome Network::reserve() {
  hostCopy = std::make_unique<std::byte[]>(part->commBytes);
  return allocate(*cuda, part->commBytes, "a device communicator", deviceCopy);
}

Outcome Network::create(uint32_t signals) {
  return outcomeOf(part->create(nccl->DevCommCreate, comm, signals, hostCopy.get()), "creating a device communicator");
}

Outcome Network::complete(const Outcome &created, const Outcome &onDevice, cuda::Stream stream) {
  exists = created.ok();
  if (!exists || !onDevice.ok())
    return exists ? onDevice : created;
  Outcome outcome = outcomeOf(*cuda, cuda->copy(deviceCopy.get(), hostCopy.get(), part->commBytes, stream),
                              "copying a device communicator");
  return outcome.ok() ? outcomeOf(*cuda, cuda->synchronize(stream), "copying a device communicator") : outcome;
}

} // namespace gc3::lsa
