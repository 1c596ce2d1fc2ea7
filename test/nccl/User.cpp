// SPDX-License-Identifier: Apache-2.0
// Calls NCCL by its exported names. It is linked into a program, or into a module that a program opens with RTLD_LOCAL,
// as Python opens PyTorch's modules.
#include "ncclapi/Abi.h"

using namespace gc3::ncclapi;

extern "C" {
signature::CommInitRank ncclCommInitRank;
signature::CommDestroy ncclCommDestroy;
signature::AllReduce ncclAllReduce;
signature::AlltoAll ncclAlltoAll;
signature::Bcast ncclBcast;
signature::GroupStart ncclGroupStart;
signature::GroupEnd ncclGroupEnd;
Result ncclSend(const void *send, size_t count, DataType type, int peer, Comm comm, Stream stream);

/// Makes single calls, a group, a Bcast, and an AlltoAll. NCCL's Bcast calls its Broadcast. An old NCCL has no
/// AlltoAll.
__attribute__((visibility("default"))) int useNccl() {
  Comm comm = nullptr;
  ncclCommInitRank(&comm, 4, {}, 3);
  ncclAllReduce(nullptr, nullptr, 262144, DataType::Float32, RedOp::Sum, comm, nullptr);
  ncclAllReduce(nullptr, nullptr, 3, DataType::Float32, RedOp::Sum, comm, nullptr);
  ncclGroupStart();
  ncclAllReduce(nullptr, nullptr, 2, DataType::Float32, RedOp::Sum, comm, nullptr);
  ncclSend(nullptr, 1, DataType::Int8, 2, comm, nullptr);
  ncclGroupEnd();
  ncclBcast(nullptr, 2, DataType::Int8, 3, comm, nullptr);
  ncclAlltoAll(nullptr, nullptr, 3, DataType::Int8, comm, nullptr);
  return static_cast<int>(ncclCommDestroy(comm));
}
}
