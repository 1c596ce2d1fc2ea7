// SPDX-License-Identifier: Apache-2.0
// The functions of gc3.h for collectives. Each makes a request with the name of its collective.
#include "api/Handles.h"

using namespace gc3;
using core::CallKind;
using core::Outcome;

/// Makes a call of any kind. `root` is -1 if the collective has none.
static gc3Result_t request(CallKind kind, const char *name, const void *send, void *recv, size_t count,
                           gc3DataType_t type, gc3RedOp_t op, int root, gc3Comm_t comm, gc3Stream_t stream) {
  if (!name)
    return api::refuse(comm, gc3InvalidArgument, "the name is null");
  if (stream && comm && !comm->backend->takesStreams())
    return api::refuse(comm, gc3InvalidArgument, "host communicators take no stream");
  core::Request made{kind, name, send, recv, count, type, op, root, stream};
  if (comm)
    api::resolve(*comm, op, made);
  return api::enqueue(comm, made);
}

/// Like request(), for functions with a root argument. A negative root is an error.
static gc3Result_t rooted(const char *name, const void *send, void *recv, size_t count, gc3DataType_t type,
                          gc3RedOp_t op, int root, gc3Comm_t comm, gc3Stream_t stream) {
  if (root < 0)
    return api::refuse(comm, gc3InvalidArgument, "the root is negative");
  return request(CallKind::Standard, name, send, recv, count, type, op, root, comm, stream);
}

extern "C" {

gc3Result_t gc3AllReduce(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3RedOp_t op,
                         gc3Comm_t comm, gc3Stream_t stream) {
  return request(CallKind::Standard, "allreduce", sendbuff, recvbuff, count, type, op, -1, comm, stream);
}

gc3Result_t gc3AllGather(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3Comm_t comm,
                         gc3Stream_t stream) {
  return request(CallKind::Standard, "allgather", sendbuff, recvbuff, count, type, gc3Sum, -1, comm, stream);
}

gc3Result_t gc3ReduceScatter(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3RedOp_t op,
                             gc3Comm_t comm, gc3Stream_t stream) {
  return request(CallKind::Standard, "reduce_scatter", sendbuff, recvbuff, count, type, op, -1, comm, stream);
}

gc3Result_t gc3Broadcast(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root,
                         gc3Comm_t comm, gc3Stream_t stream) {
  return rooted("broadcast", sendbuff, recvbuff, count, type, gc3Sum, root, comm, stream);
}

gc3Result_t gc3Reduce(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3RedOp_t op, int root,
                      gc3Comm_t comm, gc3Stream_t stream) {
  return rooted("reduce", sendbuff, recvbuff, count, type, op, root, comm, stream);
}

gc3Result_t gc3AllToAll(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3Comm_t comm,
                        gc3Stream_t stream) {
  return request(CallKind::Standard, "alltoall", sendbuff, recvbuff, count, type, gc3Sum, -1, comm, stream);
}

gc3Result_t gc3Gather(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root, gc3Comm_t comm,
                      gc3Stream_t stream) {
  return rooted("gather", sendbuff, recvbuff, count, type, gc3Sum, root, comm, stream);
}

gc3Result_t gc3Scatter(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root, gc3Comm_t comm,
                       gc3Stream_t stream) {
  return rooted("scatter", sendbuff, recvbuff, count, type, gc3Sum, root, comm, stream);
}

gc3Result_t gc3RunCollective(gc3Comm_t comm, const char *collective, const void *sendbuff, void *recvbuff, size_t count,
                             gc3DataType_t type, gc3RedOp_t op, gc3Stream_t stream) {
  return request(CallKind::Collective, collective, sendbuff, recvbuff, count, type, op, -1, comm, stream);
}

gc3Result_t gc3RunProgram(gc3Comm_t comm, const char *program, const void *sendbuff, void *recvbuff, size_t count,
                          gc3DataType_t type, gc3RedOp_t op, gc3Stream_t stream) {
  return request(CallKind::Program, program, sendbuff, recvbuff, count, type, op, -1, comm, stream);
}

gc3Result_t gc3SelectProgram(gc3Comm_t comm, const char *collective, size_t count, gc3DataType_t type, int root,
                             const char **program) {
  return api::guarded(comm, [&]() -> Outcome {
    if (!comm || !collective || !program)
      return {gc3InvalidArgument, "comm, collective or program is null"};
    if (type < 0 || type >= gc3NumTypes)
      return {gc3InvalidArgument, "unknown data type " + std::to_string(static_cast<int>(type))};
    const common::StandardCollective *standard = common::findStandard(collective);
    bool asStandard = standard && (root >= 0 || !standard->hasRoot());
    CallKind kind = asStandard ? CallKind::Standard : CallKind::Collective;
    const core::Result<const char *> name =
        comm->backend->select({kind, collective, nullptr, nullptr, count, type, gc3Sum, root});
    if (name.ok())
      *program = *name;
    return name.outcome();
  });
}

} // extern "C"
