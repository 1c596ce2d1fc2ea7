// SPDX-License-Identifier: Apache-2.0
// The table of the CUDA runtime.
#include "cuda/Launch.h"

namespace gc3::cuda {

namespace {

static_assert(cudaErrorNotReady == notReady && cudaErrorCudartUnloading == unloading);
static_assert(static_cast<int>(Attribute::Multiprocessors) == cudaDevAttrMultiProcessorCount);
static_assert(static_cast<int>(Attribute::Major) == cudaDevAttrComputeCapabilityMajor);
static_assert(static_cast<int>(Attribute::Minor) == cudaDevAttrComputeCapabilityMinor);
static_assert(static_cast<int>(Attribute::CooperativeLaunch) == cudaDevAttrCooperativeLaunch);

/// Calls the same function in relaxed capture mode.
template <auto Function, typename... Arguments>
Result aside(Arguments... arguments) {
  const RelaxedCapture thisThread;
  return taken(Function(arguments...));
}

Result allocate(void **memory, size_t bytes) {
  const RelaxedCapture thisThread;
  return taken(cudaMalloc(memory, bytes));
}

Result allocatePinned(void **memory, size_t bytes) {
  const RelaxedCapture thisThread;
  return taken(cudaHostAlloc(memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
}

Result createStream(Stream *stream) {
  const RelaxedCapture thisThread;
  return taken(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
}

Result createEvent(Event *event) {
  const RelaxedCapture thisThread;
  return taken(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
}

/// Adds 1 to CUDA's ids, which can begin with 0. A failed capture has no id.
Result capture(uint64_t *capture, Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  const Result result = taken(cudaStreamGetCaptureInfo(stream, &status, &number));
  *capture = status == cudaStreamCaptureStatusNone     ? 0
             : status == cudaStreamCaptureStatusActive ? number + 1
                                                       : failedCapture;
  return result;
}

Result isDeviceMemory(bool *isIt, const void *address) {
  cudaPointerAttributes attributes{};
  const Result result = taken(cudaPointerGetAttributes(&attributes, address));
  *isIt = attributes.type == cudaMemoryTypeDevice;
  return result;
}

const char *describe(Result result) {
  return cudaGetErrorString(static_cast<cudaError_t>(result));
}

constexpr Cuda table{
    .getDevice = [](int *device) { return taken(cudaGetDevice(device)); },
    .setDevice = [](int device) { return taken(cudaSetDevice(device)); },
    .attribute =
        [](int *value, Attribute attribute, int device) {
          return taken(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
        },
    .busId = [](char *text, int bytes, int device) { return taken(cudaDeviceGetPCIBusId(text, bytes, device)); },
    .deviceOf = [](int *device, const char *busId) { return taken(cudaDeviceGetByPCIBusId(device, busId)); },
    .nativeAtomics =
        [](int *supported, int device, int peer) {
          return taken(cudaDeviceGetP2PAttribute(supported, cudaDevP2PAttrNativeAtomicSupported, device, peer));
        },
    .allocate = allocate,
    .release = aside<cudaFree>,
    .allocatePinned = allocatePinned,
    .releasePinned = aside<cudaFreeHost>,
    .isDeviceMemory = isDeviceMemory,
    .copy = [](void *to, const void *from, size_t bytes,
               Stream stream) { return taken(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream)); },
    .clear = [](void *memory, size_t bytes, Stream stream) { return taken(cudaMemsetAsync(memory, 0, bytes, stream)); },
    .createStream = createStream,
    .destroyStream = aside<cudaStreamDestroy>,
    .synchronize = aside<cudaStreamSynchronize>,
    .capture = capture,
    .createEvent = createEvent,
    .destroyEvent = aside<cudaEventDestroy>,
    .record = [](Event event, Stream stream) { return taken(cudaEventRecord(event, stream)); },
    .query = aside<cudaEventQuery>,
    .await = [](Stream stream, Event event) { return taken(cudaStreamWaitEvent(stream, event, 0)); },
    .recordExternal =
        [](Event event, Stream stream) {
          return taken(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
        },
    .awaitExternal = [](Stream stream,
                        Event event) { return taken(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal)); },
    .occupancy = occupancy,
    .launch = launch,
    .describe = describe,
    .interpreter = kernel::kernelFor,
    .multiply = kernel::multiplyKernel,
    .divide = kernel::divideKernel,
    .clock = kernel::clockKernel,
};

} // namespace

const Cuda *linkedCuda() {
  return &table;
}

} // namespace gc3::cuda
