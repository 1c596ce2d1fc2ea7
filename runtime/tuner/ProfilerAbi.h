// SPDX-License-Identifier: Apache-2.0
// The binary interface of NCCL's profiler plugins, as far as gc3 implements it. NCCL's headers that define it are
// src/include/plugin/profiler/profiler_v4.h to profiler_v6.h and nccl_profiler.h of github.com/NVIDIA/nccl. NCCL 2.27
// looks up version 4, 2.28 version 5, 2.29 to 2.31 version 6 first, and then older versions.
#pragma once

#include "tuner/TunerAbi.h"

namespace gc3::tuner::abi {

/// Bits of the mask of events that a plugin requests, and kinds of events. A group is a kernel launch. A kernel event
/// is the work of one channel for one call.
enum EventKind : uint64_t { GroupEvent = 1 << 0, CollEvent = 1 << 1, P2pEvent = 1 << 2, KernelEvent = 1 << 6 };
/// The state in which a kernel event has its end.
inline constexpr int kernelStopped = 22;

struct CollDescription {
  uint64_t sequence;
  const char *collective; ///< "AllReduce", ...
  const void *send;
  void *recv;
  size_t count; ///< elements of a block, as in the application's call
  int root;
  const char *datatype; ///< "ncclFloat32", ...
  uint8_t channels;     ///< number of kernel events that follow. 0: not known
  uint8_t warps;
  const char *algorithm; ///< "RING", "NVLS_TREE", ...
  const char *protocol;  ///< "LL", "LL128", "SIMPLE"
};

struct KernelDescription {
  uint8_t channel;
  uint64_t start; ///< nanoseconds of the GPU's global timer
};

/// NCCL's structs have more members in the union, and after it. Versions differ in the type of `kind`.
template <typename Kind>
struct EventDescription {
  Kind kind;
  void *parent; ///< handle of a kernel event's call
  int rank;
  union {
    CollDescription coll;
    KernelDescription kernel;
  };
};

/// Data of a state. NCCL's type is a union with more members.
struct StateArguments {
  uint64_t stop; ///< nanoseconds of the GPU's global timer
};

/// NCCL ignores results of these functions, except that of init.
using StopEvent = Result (*)(void *event);
using RecordState = Result (*)(void *event, int state, const StateArguments *arguments);

struct ProfilerV4 {
  const char *name;
  Result (*init)(void **context, int *mask, const char *communicatorName, uint64_t communicator, int nodes, int ranks,
                 int rank, Logger logger);
  Result (*startEvent)(void *context, void **event, const EventDescription<uint8_t> *description);
  StopEvent stopEvent;
  RecordState recordEventState;
  Finalize finalize;
};

/// Version 6 has further kinds of events.
struct ProfilerV5 {
  const char *name;
  Result (*init)(void **context, uint64_t communicator, int *mask, const char *communicatorName, int nodes, int ranks,
                 int rank, Logger logger);
  Result (*startEvent)(void *context, void **event, const EventDescription<uint64_t> *description);
  StopEvent stopEvent;
  RecordState recordEventState;
  Finalize finalize;
};

} // namespace gc3::tuner::abi
