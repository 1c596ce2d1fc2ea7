// SPDX-License-Identifier: Apache-2.0
// Defines NCCL's functions for collectives and groups, which gc3 exports.
#include "ncclapi/Installed.h"
#include "shim/Exports.h"
#include "shim/Group.h"
#include "shim/Guarded.h"

using namespace gc3::shim;

/// Runs the call with a program, or defers it until the end of the group. If no program runs the call, forwards it to
/// NCCL.
static Result run(CollectiveCall call) {
  if (isInsideNccl())
    return forward(call);
  return guarded([&] {
    Interposer &interposer = Interposer::ofProcess();
    std::shared_ptr<Communicator> communicator = interposer.findOrAdd(call.comm);
    if (!communicator)
      return forward(call);
    if (static_cast<int>(call.op) >= redOpCount)
      call.preMulSum = interposer.operation(call.comm, call.op);
    return Group::ofThisThread().call(call, std::move(communicator));
  });
}

extern "C" {

Result ncclAllGather(const void *send, void *recv, size_t count, DataType type, Comm comm, Stream stream) {
  return run({Collective::AllGather, send, recv, count, type, RedOp::Sum, -1, comm, stream});
}

Result ncclAllReduce(const void *send, void *recv, size_t count, DataType type, RedOp op, Comm comm, Stream stream) {
  return run({Collective::AllReduce, send, recv, count, type, op, -1, comm, stream});
}

Result ncclAlltoAll(const void *send, void *recv, size_t count, DataType type, Comm comm, Stream stream) {
  return run({Collective::AlltoAll, send, recv, count, type, RedOp::Sum, -1, comm, stream});
}

Result ncclBcast(void *buffer, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return run({Collective::Bcast, buffer, buffer, count, type, RedOp::Sum, root, comm, stream});
}

Result ncclBroadcast(const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return run({Collective::Broadcast, send, recv, count, type, RedOp::Sum, root, comm, stream});
}

Result ncclGather(const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return run({Collective::Gather, send, recv, count, type, RedOp::Sum, root, comm, stream});
}

Result ncclReduce(const void *send, void *recv, size_t count, DataType type, RedOp op, int root, Comm comm,
                  Stream stream) {
  return run({Collective::Reduce, send, recv, count, type, op, root, comm, stream});
}

Result ncclReduceScatter(const void *send, void *recv, size_t count, DataType type, RedOp op, Comm comm,
                         Stream stream) {
  return run({Collective::ReduceScatter, send, recv, count, type, op, -1, comm, stream});
}

Result ncclScatter(const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return run({Collective::Scatter, send, recv, count, type, RedOp::Sum, root, comm, stream});
}

Result ncclGroupStart() {
  if (isInsideNccl())
    return callInstalled<Function::GroupStart>();
  return guarded([] { return Group::ofThisThread().start(); });
}

Result ncclGroupEnd() {
  if (isInsideNccl())
    return callInstalled<Function::GroupEnd>();
  return guarded([] { return Group::ofThisThread().end(); });
}

Result ncclGroupSimulateEnd(SimInfo *info) {
  if (isInsideNccl())
    return callInstalled<Function::GroupSimulateEnd>(info);
  return guarded([&] { return Group::ofThisThread().simulateEnd(info); });
}

} // extern "C"
