// SPDX-License-Identifier: Apache-2.0
#include "comm/DeviceComm.h"

namespace gc3::comm {

using core::Outcome;

DeviceComm &DeviceComm::operator=(DeviceComm &&other) noexcept {
  std::swap(cuda, other.cuda);
  std::swap(nccl, other.nccl);
  std::swap(part, other.part);
  std::swap(comm, other.comm);
  std::swap(hostCopy, other.hostCopy);
  std::swap(deviceCopy, other.deviceCopy);
  std::swap(exists, other.exists);
  return *this;
}

DeviceComm::~DeviceComm() {
  if (exists)
    part->destroy(nccl->DevCommDestroy, comm, hostCopy.get());
}

Outcome DeviceComm::reserve() {
  hostCopy = std::make_unique<std::byte[]>(part->commBytes);
  return allocate(*cuda, part->commBytes, "a device communicator").moveTo(deviceCopy);
}

ncclapi::Result DeviceComm::create(uint32_t signals) {
  return part->create(nccl->DevCommCreate, comm, signals, hostCopy.get());
}

Outcome DeviceComm::publish(cuda::Stream stream) {
  const std::string doing = "copying a device communicator";
  exists = true;
  Outcome outcome = outcomeOf(*cuda, cuda->copy(deviceCopy.get(), hostCopy.get(), part->commBytes, stream), doing);
  return outcome.ok() ? outcomeOf(*cuda, cuda->synchronize(stream), doing) : outcome;
}

} // namespace gc3::comm
