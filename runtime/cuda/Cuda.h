// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime functions that gc3 uses, and gc3's kernels, as a table: code above it compiles and is tested without
// CUDA. Functions return a cudaError_t, 0 for success, except describe and those that return kernels. Functions without
// a stream parameter may be called while any stream is captured.
#pragma once

#include "core/Request.h"
#include "kernel/Kernels.h"

struct CUstream_st;
struct CUevent_st;

namespace gc3::cuda {

using Stream = CUstream_st *;
using Event = CUevent_st *;

using Result = int;
inline constexpr Result notReady = 600; ///< result of query: work before the event has not ended
inline constexpr Result unloading = 4;  ///< CUDA is unloaded because the process ends

/// Result of `capture` for a stream whose capture has failed and can only be ended.
inline constexpr uint64_t failedCapture = UINT64_MAX;

/// A device attribute, with CUDA's number.
enum class Attribute : uint8_t { Multiprocessors = 16, Major = 75, Minor = 76, CooperativeLaunch = 95 };

struct Launch {
  const void *kernel;
  uint32_t blocks;
  uint32_t threads; ///< per block
  void **arguments;
  Stream stream;
  bool cooperative; ///< all blocks run at the same time, or none
};

/// The interpreter's kernels, and the functions that query and launch them. A shared object with kernels contains its
/// own CUDA runtime, and only that one can launch them.
struct Interpreters {
  const void *(*kernel)(core::ElementType type, kernel::Protocol protocol); ///< like kernelFor
  Result (*occupancy)(int *blocksPerMultiprocessor, const void *kernel, uint32_t threads);
  Result (*launch)(const Launch &launch);
};

struct Cuda {
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

  Result (*createStream)(Stream *stream); ///< the stream does not synchronise with other streams
  Result (*destroyStream)(Stream stream);
  Result (*synchronize)(Stream stream);
  Result (*capture)(uint64_t *capture,
                    Stream stream);    ///< id of the capture that the stream is part of; 0: none; or failedCapture
  Result (*createEvent)(Event *event); ///< without timing
  Result (*destroyEvent)(Event event);
  Result (*record)(Event event, Stream stream);
  Result (*query)(Event event);
  Result (*await)(Stream stream, Event event); ///< orders later work of the stream after the event
  // For a stream that is captured: each replay records or awaits the event, which others use, too.
  Result (*recordExternal)(Event event, Stream stream);
  Result (*awaitExternal)(Stream stream, Event event);

  Result (*occupancy)(int *blocksPerMultiprocessor, const void *kernel, uint32_t threads);
  Result (*launch)(const Launch &launch);
  const char *(*describe)(Result result);

  const void *(*interpreter)(core::ElementType type, kernel::Protocol protocol); ///< like kernelFor
  const void *(*multiply)(core::ElementType type);                               ///< like multiplyKernel
  const void *(*divide)(core::ElementType type);                                 ///< like divideKernel
  const void *(*clock)();                                                        ///< like clockKernel
};

/// Returns the interpreters in the table itself.
inline Interpreters interpretersOf(const Cuda &cuda) {
  return {cuda.interpreter, cuda.occupancy, cuda.launch};
}

/// Returns the CUDA runtime that this build is linked with, or null for a build without CUDA.
const Cuda *linkedCuda();

/// Returns success, or gc3UnhandledCudaError with the text `doing` and CUDA's description.
core::Outcome outcomeOf(const Cuda &cuda, Result result, const std::string &doing);

/// Returns the id of the capture that a stream is part of; 0: none.
core::Result<uint64_t> findCapture(const Cuda &cuda, Stream stream);

} // namespace gc3::cuda
