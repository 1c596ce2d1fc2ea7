// SPDX-License-Identifier: Apache-2.0
// What gc3 uses of the CUDA runtime, and its own kernels, as a table of functions: the code above it compiles, and is
// tested, without CUDA. Every function but describe returns a cudaError_t, 0 for success. All but those that are given
// a stream may be called while any stream is captured.
#pragma once

#include "core/Request.h"
#include "kernel/Kernels.h"

struct CUstream_st;
struct CUevent_st;

namespace gc3::cuda {

using Stream = CUstream_st *;
using Event = CUevent_st *;

using Result = int;
inline constexpr Result notReady = 600; ///< of query: what comes before the event is not done
inline constexpr Result unloading = 4;  ///< CUDA is gone, as the process ends

/// Of a stream that is a part of a capture of which nothing can come any more.
inline constexpr uint64_t failedCapture = UINT64_MAX;

/// Of a device, numbered as CUDA's.
enum class Attribute : uint8_t { Multiprocessors = 16, Major = 75, Minor = 76, CooperativeLaunch = 95 };

struct Launch {
  const void *kernel;
  uint32_t blocks;
  uint32_t threads; ///< of a block
  void **arguments;
  Stream stream;
  bool cooperative; ///< all blocks run at once, or none
};

/// The interpreter's kernels, and what asks about them and launches them: another shared object has another CUDA
/// runtime in it, and only that one knows its kernels.
struct Interpreters {
  const void *(*kernel)(core::ElementType type, kernel::Protocol protocol); ///< as kernelFor
  Result (*occupancy)(int *blocksPerMultiprocessor, const void *kernel, uint32_t threads);
  Result (*launch)(const Launch &launch);
};

struct Cuda {
  Result (*getDevice)(int *device);
  Result (*setDevice)(int device);
  Result (*attribute)(int *value, Attribute attribute, int device);
  Result (*busId)(char *text, int bytes, int device); ///< where it is, also in other processes
  Result (*deviceOf)(int *device, const char *busId);
  Result (*nativeAtomics)(int *supported, int device, int peer); ///< between two: true of NVLink, and not of PCIe

  Result (*allocate)(void **memory, size_t bytes);
  Result (*release)(void *memory);
  Result (*allocatePinned)(void **memory, size_t bytes); ///< host memory that kernels see at the same address
  Result (*releasePinned)(void *memory);
  Result (*isDeviceMemory)(bool *isIt, const void *address);
  Result (*copy)(void *to, const void *from, size_t bytes, Stream stream);
  Result (*clear)(void *memory, size_t bytes, Stream stream);

  Result (*createStream)(Stream *stream); ///< that waits for no other
  Result (*destroyStream)(Stream stream);
  Result (*synchronize)(Stream stream);
  Result (*capture)(uint64_t *capture,
                    Stream stream);    ///< the one that the stream is a part of; 0: none; or failedCapture
  Result (*createEvent)(Event *event); ///< without a time
  Result (*destroyEvent)(Event event);
  Result (*record)(Event event, Stream stream);
  Result (*query)(Event event);
  Result (*await)(Stream stream, Event event); ///< what the stream does next comes after the event
  // Of a stream that is captured: each replay does so, with an event that is also others'.
  Result (*recordExternal)(Event event, Stream stream);
  Result (*awaitExternal)(Stream stream, Event event);

  Result (*occupancy)(int *blocksPerMultiprocessor, const void *kernel, uint32_t threads);
  Result (*launch)(const Launch &launch);
  const char *(*describe)(Result result);

  const void *(*interpreter)(core::ElementType type, kernel::Protocol protocol); ///< as kernelFor
  const void *(*multiply)(core::ElementType type);                               ///< as multiplyKernel
  const void *(*divide)(core::ElementType type);                                 ///< as divideKernel
  const void *(*clock)();                                                        ///< as clockKernel
};

/// Those of the table itself.
inline Interpreters interpretersOf(const Cuda &cuda) {
  return {cuda.interpreter, cuda.occupancy, cuda.launch};
}

/// The CUDA runtime that this build is linked with; null where it was built without.
const Cuda *linkedCuda();

/// gc3UnhandledCudaError with what was being done and what CUDA says, or success.
core::Outcome outcomeOf(const Cuda &cuda, Result result, const std::string &doing);

/// The id of the capture that a stream is a part of; 0: none.
core::Result<uint64_t> findCapture(const Cuda &cuda, Stream stream);

} // namespace gc3::cuda
