// SPDX-License-Identifier: Apache-2.0
// Fills the table with the functions of the CUDA runtime.
#include "cuda/Launch.h"

namespace gc3::cuda {

namespace {

static_assert(cudaErrorNotReady == notReady && cudaErrorCudartUnloading == unloading);
static_assert(cudaErrorInsufficientDriver == insufficientDriver);
static_assert(static_cast<int>(Attribute::Multiprocessors) == cudaDevAttrMultiProcessorCount);
static_assert(static_cast<int>(Attribute::Major) == cudaDevAttrComputeCapabilityMajor);
static_assert(static_cast<int>(Attribute::Minor) == cudaDevAttrComputeCapabilityMinor);
static_assert(static_cast<int>(Attribute::CooperativeLaunch) == cudaDevAttrCooperativeLaunch);

/// Calls `Function` in relaxed capture mode.
template <auto Function, typename... Arguments>
Result aside(Arguments... arguments) {
  const RelaxedCapture thisThread;
  return consumeError(Function(arguments...));
}

Result allocate(void **memory, size_t bytes) {
  const RelaxedCapture thisThread;
  return consumeError(cudaMalloc(memory, bytes));
}

Result allocatePinned(void **memory, size_t bytes) {
  const RelaxedCapture thisThread;
  return consumeError(cudaHostAlloc(memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
}

Result createStream(Stream *stream) {
  const RelaxedCapture thisThread;
  return consumeError(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
}

Result createEvent(Event *event) {
  const RelaxedCapture thisThread;
  return consumeError(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
}

Result createTimedEvent(Event *event) {
  const RelaxedCapture thisThread;
  return consumeError(cudaEventCreateWithFlags(event, cudaEventDefault));
}

Result elapsed(float *milliseconds, Event begin, Event end) {
  const RelaxedCapture thisThread;
  return consumeError(cudaEventElapsedTime(milliseconds, begin, end));
}

/// Returns CUDA's id plus 1, because CUDA's ids can begin with 0, which here means no capture. A failed capture has no
/// id.
Result capture(uint64_t *capture, Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  const Result result = consumeError(cudaStreamGetCaptureInfo(stream, &status, &number));
  *capture = status == cudaStreamCaptureStatusNone     ? 0
             : status == cudaStreamCaptureStatusActive ? number + 1
                                                       : failedCapture;
  return result;
}

Result isDeviceMemory(bool *isIt, const void *address) {
  cudaPointerAttributes attributes{};
  const Result result = consumeError(cudaPointerGetAttributes(&attributes, address));
  *isIt = attributes.type == cudaMemoryTypeDevice;
  return result;
}

const char *describe(Result result) {
  return cudaGetErrorString(static_cast<cudaError_t>(result));
}

constexpr Cuda table{
    .driverVersion = [](int *version) { return consumeError(cudaDriverGetVersion(version)); },
    .deviceCount = [](int *count) { return consumeError(cudaGetDeviceCount(count)); },
    .getDevice = [](int *device) { return consumeError(cudaGetDevice(device)); },
    .setDevice = [](int device) { return consumeError(cudaSetDevice(device)); },
    .attribute =
        [](int *value, Attribute attribute, int device) {
          return consumeError(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
        },
    .busId = [](char *text, int bytes, int device) { return consumeError(cudaDeviceGetPCIBusId(text, bytes, device)); },
    .deviceOf = [](int *device, const char *busId) { return consumeError(cudaDeviceGetByPCIBusId(device, busId)); },
    .nativeAtomics =
        [](int *supported, int device, int peer) {
          return consumeError(cudaDeviceGetP2PAttribute(supported, cudaDevP2PAttrNativeAtomicSupported, device, peer));
        },
    .allocate = allocate,
    .release = aside<cudaFree>,
    .allocatePinned = allocatePinned,
    .releasePinned = aside<cudaFreeHost>,
    .isDeviceMemory = isDeviceMemory,
    .copy = [](void *to, const void *from, size_t bytes,
               Stream stream) { return consumeError(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream)); },
    .clear = [](void *memory, size_t bytes,
                Stream stream) { return consumeError(cudaMemsetAsync(memory, 0, bytes, stream)); },
    .createStream = createStream,
    .destroyStream = aside<cudaStreamDestroy>,
    .synchronize = aside<cudaStreamSynchronize>,
    .capture = capture,
    .createEvent = createEvent,
    .createTimedEvent = createTimedEvent,
    .destroyEvent = aside<cudaEventDestroy>,
    .record = [](Event event, Stream stream) { return consumeError(cudaEventRecord(event, stream)); },
    .query = aside<cudaEventQuery>,
    .elapsed = elapsed,
    .await = [](Stream stream, Event event) { return consumeError(cudaStreamWaitEvent(stream, event, 0)); },
    .recordExternal =
        [](Event event, Stream stream) {
          return consumeError(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
        },
    .awaitExternal =
        [](Stream stream, Event event) {
          return consumeError(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal));
        },
    .occupancy = occupancy,
    .launch = launch,
    .describe = describe,
    .interpreter = kernel::kernelFor,
    .switchInterpreter = kernel::switchKernelFor,
    .multiply = kernel::multiplyKernel,
    .divide = kernel::divideKernel,
    .clock = kernel::clockKernel,
};

} // namespace

const Cuda *linkedCuda() {
  return &table;
}

} // namespace gc3::cuda
