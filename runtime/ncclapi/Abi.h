// SPDX-License-Identifier: Apache-2.0
// The part of NCCL's binary interface that gc3 needs: types, result codes, and the functions that gc3 exports or calls.
// gc3 declares them itself, so that it builds without NCCL. If nccl.h is installed, test/nccl compares these
// declarations with it. The enumerations can hold every int, because a caller can pass values that only a newer NCCL
// has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gc3::ncclapi {

struct OpaqueComm;
struct OpaqueStream;
/// An ncclComm_t: NCCL's opaque handle of a communicator.
using Comm = OpaqueComm *;
/// A cudaStream_t.
using Stream = OpaqueStream *;
struct SimInfo;
struct OpaqueWindow;
/// An ncclWindow_t: the handle of memory that all ranks have registered together.
using Window = OpaqueWindow *;

/// An ncclTeam_t: `ranks` ranks of a communicator that are `stride` apart. `rank` is this rank's number in the team.
/// NCCL passes the struct by value.
struct Team {
  int ranks, rank, stride;
};

struct UniqueId {
  char bytes[128];
};

/// The fields that ncclConfig_t has in NCCL 2.18. Later versions add fields after these. A field that is not set has
/// the value configUndefined, or null if it is a pointer.
struct Config {
  size_t size;
  unsigned magic;
  unsigned version; ///< the version of NCCL that has exactly these fields
  int blocking;     ///< 0 or 1
  int cgaClusterSize;
  int minCTAs, maxCTAs; ///< limits on the thread blocks of a kernel, which are also limits on channels
  const char *netName;
  int splitShare; ///< 1: a child shares the parent's resources
};
/// Place of the field commName, a pointer, in ncclConfig_t from NCCL 2.27 on.
inline constexpr size_t commNameOffset = 48;
inline constexpr int configUndefined = INT32_MIN;
inline constexpr unsigned configMagic = 0xcafebeef, configVersion = 21800;

/// Flag of ncclCommShrink: NCCL first aborts the work on the parent.
inline constexpr int shrinkAbort = 1;

enum class Result : int {
  Success = 0,
  UnhandledCudaError = 1,
  SystemError = 2,
  InternalError = 3,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6,
  InProgress = 7,
};

enum class DataType : int {
  Int8,
  Uint8,
  Int32,
  Uint32,
  Int64,
  Uint64,
  Float16,
  Float32,
  Float64,
  Bfloat16,
  Float8e4m3,
  Float8e5m2,
};
inline constexpr int dataTypeCount = 12;

/// Values from redOpCount on are created by ncclRedOpCreatePreMulSum.
enum class RedOp : int { Sum, Prod, Max, Min, Avg };
inline constexpr int redOpCount = 5;

/// The location of an operation's scalar. The GPU reads a scalar in device memory when a call runs. NCCL and gc3 read a
/// scalar in host memory immediately.
enum class ScalarResidence : int { Device, HostImmediate };

/// The types of NCCL's functions. A function's type has its name without the prefix `nccl`.
namespace signature {
using AllGather = Result(const void *send, void *recv, size_t count, DataType, Comm, Stream);
using AllReduce = Result(const void *send, void *recv, size_t count, DataType, RedOp, Comm, Stream);
using AlltoAll = AllGather;
using Bcast = Result(void *buffer, size_t count, DataType, int root, Comm, Stream);
using Broadcast = Result(const void *send, void *recv, size_t count, DataType, int root, Comm, Stream);
using Gather = Broadcast;
using Reduce = Result(const void *send, void *recv, size_t count, DataType, RedOp, int root, Comm, Stream);
using ReduceScatter = AllReduce;
using Scatter = Broadcast;
using CommAbort = Result(Comm);
using CommCuDevice = Result(Comm, int *device);
using CommCount = Result(Comm, int *ranks);
using CommDestroy = Result(Comm);
using CommFinalize = Result(Comm);
using CommGetAsyncError = Result(Comm, Result *error);
using CommGrow = Result(Comm parent, int ranks, const UniqueId *, int rank, Comm *child, Config *);
using CommInitAll = Result(Comm *comms, int devices, const int *devlist);
using CommInitRank = Result(Comm *, int ranks, UniqueId, int rank);
using CommInitRankConfig = Result(Comm *, int ranks, UniqueId, int rank, Config *);
using CommInitRankScalable = Result(Comm *, int ranks, int rank, int ids, UniqueId *, Config *);
using CommRevoke = Result(Comm, int flags);
using CommShrink = Result(Comm parent, int *excluded, int excludedCount, Comm *child, Config *, int flags);
using CommSplit = Result(Comm parent, int color, int key, Comm *child, Config *);
using CommUserRank = Result(Comm, int *rank);
using CommWindowDeregister = Result(Comm, Window);
using CommWindowRegister = Result(Comm, void *memory, size_t bytes, Window *, int flags);
using DevCommCreate = Result(Comm, const void *requirements, void *deviceComm);
using DevCommDestroy = Result(Comm, const void *deviceComm);
using GetLsaDevicePointer = Result(Window, size_t offset, int lsaRank, void **pointer);
using GetLsaMultimemDevicePointer = Result(Window, size_t offset, void **pointer);
using GetUniqueId = Result(UniqueId *);
using GetVersion = Result(int *version);
using GroupEnd = Result();
using GroupSimulateEnd = Result(SimInfo *);
using GroupStart = Result();
using MemAlloc = Result(void **memory, size_t bytes);
using MemFree = Result(void *memory);
using RedOpCreatePreMulSum = Result(RedOp *, void *scalar, DataType, ScalarResidence, Comm);
using RedOpDestroy = Result(RedOp, Comm);
using TeamLsa = Team(Comm);
} // namespace signature

// clang-format off
#define GC3_NCCL_COLLECTIVES(X) \
  X(AllGather) X(AllReduce) X(AlltoAll) X(Bcast) X(Broadcast) X(Gather) X(Reduce) X(ReduceScatter) X(Scatter)

/// The functions that libgc3nccl.so exports, with the prefix `nccl`.
#define GC3_NCCL_INTERPOSED(X) \
  GC3_NCCL_COLLECTIVES(X) \
  X(CommInitRankConfig) X(CommInitRankScalable) X(CommShrink) X(CommSplit) \
  X(CommAbort) X(CommDestroy) X(CommFinalize) X(CommRevoke) \
  X(CommGetAsyncError) \
  X(CommWindowDeregister) X(CommWindowRegister) \
  X(RedOpCreatePreMulSum) X(RedOpDestroy) \
  X(GroupEnd) X(GroupSimulateEnd) X(GroupStart)
// clang-format on

/// The functions that callInstalled() can call in the installed library.
#define GC3_NCCL_CALLED(X) GC3_NCCL_INTERPOSED(X) X(CommCount) X(CommInitRank) X(CommUserRank) X(GetUniqueId)

// clang-format off
/// The NCCL functions that programs on several GPUs need. ncclapi/Nccl.h adds TeamLsa, GetLsaDevicePointer and two
/// functions for the GIN plugin. This is not a list of exports, so its lines are indented further than the lines that
/// Front.cmake reads.
#define GC3_NCCL_FOR_WINDOWS(X) \
    X(AllGather) X(CommAbort) X(CommCount) X(CommCuDevice) X(CommDestroy) X(CommGetAsyncError) X(CommSplit) \
    X(CommUserRank) \
    X(GetVersion) X(GroupEnd) X(GroupStart) X(CommWindowDeregister) X(CommWindowRegister) X(MemAlloc) X(MemFree)
// clang-format on

#define GC3_NCCL_ENUMERATOR(name) name,
enum class Function : uint8_t { GC3_NCCL_CALLED(GC3_NCCL_ENUMERATOR) };
enum class Collective : uint8_t { GC3_NCCL_COLLECTIVES(GC3_NCCL_ENUMERATOR) };
#undef GC3_NCCL_ENUMERATOR

#define GC3_NCCL_NAME(name) #name,
inline constexpr const char *functionNames[] = {GC3_NCCL_CALLED(GC3_NCCL_NAME)};        ///< indexed by Function
inline constexpr const char *collectiveNames[] = {GC3_NCCL_COLLECTIVES(GC3_NCCL_NAME)}; ///< indexed by Collective
#undef GC3_NCCL_NAME

template <Function>
struct SignatureOf;
#define GC3_NCCL_SIGNATURE(name)                                                                                       \
  template <>                                                                                                          \
  struct SignatureOf<Function::name> {                                                                                 \
    using Type = signature::name;                                                                                      \
  };
GC3_NCCL_CALLED(GC3_NCCL_SIGNATURE)
#undef GC3_NCCL_SIGNATURE

} // namespace gc3::ncclapi
