// SPDX-License-Identifier: Apache-2.0
// The collectives and groups, as NCCL exports them.
#include "nccl/Group.h"
#include "ncclapi/Installed.h"
#include "shim/Exports.h"
#include "shim/Guarded.h"

using namespace gc3::nccl;

/// Runs a program, or keeps the call until the end of the group; what no program serves is NCCL's at once.
static Result serve(CollectiveCall call) {
  if (isInside())
    return forward(call);
  return guarded([&] {
    Group &group = Group::ofThisThread();
    std::shared_ptr<const Entry> entry = Communicators::table().findOrExpected(call.comm);
    if (entry && static_cast<int>(call.op) >= redOpCount)
      call.preMulSum = Communicators::table().operation(call.comm, call.op);
    if (entry && entry->waits) {
      if (group.isOpen()) {
        group.keep({nullptr, call, -1}, std::move(entry));
        return Result::Success;
      }
      Kept first{{nullptr, call, -1}, entry};
      Communicators::table().makeReady(std::vector<CallsOfOne>{{&first}});
      if (entry->own->isAborted())
        return Result::InvalidUsage;
      return first.work.attachment ? Communicators::table().run({&first.work, 1}) : forward(call);
    }
    Decision decision = entry ? entry->decide(call) : Decision{};
    if (!decision.served()) {
      if (entry)
        group.pass(*entry);
      return forward(call);
    }
    Work work{entry->attached.attachment.get(), call, decision.program};
    if (!group.isOpen())
      return Communicators::table().run({&work, 1});
    group.keep(work, std::move(entry));
    return Result::Success;
  });
}

extern "C" {

Result ncclAllGather(const void *send, void *recv, size_t count, DataType type, Comm comm, Stream stream) {
  return serve({Collective::AllGather, send, recv, count, type, RedOp::Sum, -1, comm, stream});
}

Result ncclAllReduce(const void *send, void *recv, size_t count, DataType type, RedOp op, Comm comm, Stream stream) {
  return serve({Collective::AllReduce, send, recv, count, type, op, -1, comm, stream});
}

Result ncclAlltoAll(const void *send, void *recv, size_t count, DataType type, Comm comm, Stream stream) {
  return serve({Collective::AlltoAll, send, recv, count, type, RedOp::Sum, -1, comm, stream});
}

Result ncclBcast(void *buffer, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return serve({Collective::Bcast, buffer, buffer, count, type, RedOp::Sum, root, comm, stream});
}

Result ncclBroadcast(const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return serve({Collective::Broadcast, send, recv, count, type, RedOp::Sum, root, comm, stream});
}

Result ncclGather(const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return serve({Collective::Gather, send, recv, count, type, RedOp::Sum, root, comm, stream});
}

Result ncclReduce(const void *send, void *recv, size_t count, DataType type, RedOp op, int root, Comm comm,
                  Stream stream) {
  return serve({Collective::Reduce, send, recv, count, type, op, root, comm, stream});
}

Result ncclReduceScatter(const void *send, void *recv, size_t count, DataType type, RedOp op, Comm comm,
                         Stream stream) {
  return serve({Collective::ReduceScatter, send, recv, count, type, op, -1, comm, stream});
}

Result ncclScatter(const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return serve({Collective::Scatter, send, recv, count, type, RedOp::Sum, root, comm, stream});
}

Result ncclGroupStart() {
  return isInside() ? callInstalled<Function::GroupStart>() : Group::ofThisThread().start();
}

Result ncclGroupEnd() {
  if (isInside())
    return callInstalled<Function::GroupEnd>();
  return guarded([] { return Group::ofThisThread().end(); });
}

Result ncclGroupSimulateEnd(SimInfo *info) {
  if (isInside())
    return callInstalled<Function::GroupSimulateEnd>(info);
  return guarded([&] { return Group::ofThisThread().simulateEnd(info); });
}

} // extern "C"
