// SPDX-License-Identifier: Apache-2.0
// A table of the CUDA runtime functions that gc3 uses, and of gc3's kernels. Code that uses the table compiles without
// CUDA, and tests replace the table. Functions return a cudaError_t, which is 0 for success, except `describe` and the
// functions that return kernels. Functions without a stream parameter may be called while any stream is captured.
#pragma once

#include "core/Request.h"
#include "kernel/Kernels.h"

struct CUstream_st;
struct CUevent_st;

namespace gc3::cuda {

using Stream = CUstream_st *;
using Event = CUevent_st *;

using Result = int;
inline constexpr Result notReady = 600;          ///< result of query: work before the event has not ended
inline constexpr Result unloading = 4;           ///< CUDA is unloaded because the process ends
inline constexpr Result insufficientDriver = 35; ///< there is no driver, or it is older than the CUDA runtime

/// The id that `capture` returns for a stream whose capture has failed. Such a capture can only be ended.
inline constexpr uint64_t failedCapture = UINT64_MAX;

/// A device attribute, with CUDA's number.
enum class Attribute : uint8_t { Multiprocessors = 16, Major = 75, Minor = 76, CooperativeLaunch = 95 };

struct Launch {
  const void *kernel;
  uint32_t blocks;
  uint32_t threads; ///< threads per block
  void **arguments;
  Stream stream;
  bool cooperative; ///< true: CUDA launches the kernel only if all blocks can run at the same time
};

/// The interpreter's kernels, and the functions that query and launch them. A shared object with kernels contains its
/// own CUDA runtime, and only that runtime can launch these kernels.
struct Interpreters {
  const void *(*kernel)(core::ElementType type, kernel::Protocol protocol); ///< like kernelFor
  Result (*occupancy)(int *blocksPerMultiprocessor, const void *kernel, uint32_t threads);
  Result (*launch)(const Launch &launch);
};

struct Cuda {
  Result (*driverVersion)(int *version); ///< 0: there is no driver
  Result (*deviceCount)(int *count);
  Result (*getDevice)(int *device);
  Result (*setDevice)(int device);
  Result (*attribute)(int *value, Attribute attribute, int device);
  Result (*busId)(char *text, int bytes, int device); ///< PCI bus id of a device, also valid in other processes
  Result (*deviceOf)(int *device, const char *busId);
  Result (*nativeAtomics)(int *supported, int device, int peer); ///< supported over NVLink, not over PCIe

  Result (*allocate)(void **memory, size_t bytes);
  Result (*release)(void *memory);
  Result (*allocatePinned)(void **memory, size_t bytes); ///< host memory that kernels access at the same address
  Result (*releasePinned)(void *memory);
  Result (*isDeviceMemory)(bool *isIt, const void *address);
  Result (*copy)(void *to, const void *from, size_t bytes, Stream stream);
  Result (*clear)(void *memory, size_t bytes, Stream stream);

  Result (*createStream)(Stream *stream); ///< the stream does not wait for the default stream
  Result (*destroyStream)(Stream stream);
  Result (*synchronize)(Stream stream);
  Result (*capture)(uint64_t *capture,
                    Stream stream);         ///< id of the capture of the stream, or failedCapture; 0: no capture
  Result (*createEvent)(Event *event);      ///< creates an event without timing
  Result (*createTimedEvent)(Event *event); ///< creates an event that records the time
  Result (*destroyEvent)(Event event);
  Result (*record)(Event event, Stream stream);
  Result (*query)(Event event);
  /// Sets `milliseconds` to the time between two records of timed events. Returns notReady if one is not complete.
  Result (*elapsed)(float *milliseconds, Event begin, Event end);
  Result (*await)(Stream stream, Event event); ///< orders later work of the stream after the event
  // For a captured stream: each replay of the graph records the event or waits for it. Streams outside of the graph use
  // the event, too.
  Result (*recordExternal)(Event event, Stream stream);
  Result (*awaitExternal)(Stream stream, Event event);

  Result (*occupancy)(int *blocksPerMultiprocessor, const void *kernel, uint32_t threads);
  Result (*launch)(const Launch &launch);
  const char *(*describe)(Result result);

  const void *(*interpreter)(core::ElementType type, kernel::Protocol protocol); ///< like kernelFor
  const void *(*switchInterpreter)(core::ElementType type);                      ///< like switchKernelFor
  const void *(*multiply)(core::ElementType type);                               ///< like multiplyKernel
  const void *(*divide)(core::ElementType type);                                 ///< like divideKernel
  const void *(*clock)();                                                        ///< like clockKernel
};

/// Returns the functions of the table that belong to the interpreters.
inline Interpreters interpretersOf(const Cuda &cuda) {
  return {cuda.interpreter, cuda.occupancy, cuda.launch};
}

/// Returns the CUDA runtime that this build is linked with, or null for a build without CUDA.
const Cuda *linkedCuda();

/// Returns Success if `result` is 0. Otherwise returns gc3UnhandledCudaError with the text `doing` and CUDA's
/// description. If the machine has no driver, the text is only this.
core::Outcome outcomeOf(const Cuda &cuda, Result result, const std::string &doing);

/// Returns the id of the capture that a stream is part of; 0: none.
core::Result<uint64_t> findCapture(const Cuda &cuda, Stream stream);

} // namespace gc3::cuda
