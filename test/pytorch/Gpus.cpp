// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime functions that PyTorch 2.6 calls, over the fake CUDA: memory, copies, streams and events. Kernel
// launches do nothing. Constants and struct layouts are those of CUDA 12.
#include "Machine.h"

#include "FakeCuda.h"

#include <array>
#include <cstring>

using namespace gc3;
using namespace gc3::test;

namespace {

using cuda::Event;
using cuda::Stream;

constexpr int devices = 8;
constexpr size_t memoryBytes = size_t{16} << 30;

/// Allocations of device memory: address, size and device.
auto &blocks = *new std::map<const std::byte *, std::pair<size_t, int>>; // never destroyed: threads can use it at exit

/// Returns the allocation that contains an address, or null for host memory.
const std::pair<size_t, int> *blockOf(const void *address) {
  const auto *byte = static_cast<const std::byte *>(address);
  auto next = blocks.upper_bound(byte);
  if (next == blocks.begin())
    return nullptr;
  const auto &[begin, block] = *--next;
  return byte < begin + block.first ? &block : nullptr;
}

/// Copies bytes in stream order. If `to` or `from` is host memory, waits until the copy is complete, so that the caller
/// can reuse that memory.
int copy(void *to, const void *from, size_t bytes, Stream stream) {
  bool within;
  {
    const Monitor::Lock lock;
    within = blockOf(to) != nullptr && blockOf(from) != nullptr;
  }
  const int result = machineCuda().copy(to, from, bytes, stream);
  if (!within)
    return machineCuda().synchronize(stream);
  return result;
}

/// Writes the fields of CUDA 12's cudaDeviceProp that PyTorch reads, at their offsets.
void describeDevice(char *properties) {
  std::memset(properties, 0, 1032);
  auto put = [properties](size_t offset, auto value) { std::memcpy(properties + offset, &value, sizeof value); };
  std::strcpy(properties, "emulated");
  put(288, memoryBytes);
  put(296, size_t{49152});                   // shared memory of a block
  put(304, 65536);                           // registers of a block
  put(308, 32);                              // threads of a warp
  put(320, 1024);                            // threads of a block
  put(324, std::array{1024, 1024, 64});      // largest block in each dimension
  put(336, std::array{1 << 30, 1024, 1024}); // largest grid in each dimension
  put(360, std::array{9, 0});                // architecture
  put(388, 132);                             // multiprocessors
}

} // namespace

extern "C" {
struct PointerAttributes {
  int type, device; ///< kind of memory: 0 unknown, 2 device
  const void *devicePointer, *hostPointer;
};

int cudaGetDeviceCount(int *count) {
  *count = devices;
  return 0;
}
int cudaGetDevice(int *current) {
  return machineCuda().getDevice(current);
}
int cudaSetDevice(int next) {
  return machineCuda().setDevice(next);
}
int cudaGetDeviceProperties_v2(char *properties, int) {
  describeDevice(properties);
  return 0;
}
int cudaDeviceGetAttribute(int *value, int, int) {
  *value = 0;
  return 0;
}
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = *greatest = 0;
  return 0;
}
int cudaDeviceCanAccessPeer(int *can, int, int) {
  *can = 1;
  return 0;
}
int cudaDriverGetVersion(int *version) {
  *version = 12040;
  return 0;
}
int cudaRuntimeGetVersion(int *version) {
  *version = 12040;
  return 0;
}
int cudaMemGetInfo(size_t *available, size_t *all) {
  *available = *all = memoryBytes;
  return 0;
}
int cudaGetLastError() {
  return 0;
}
int cudaPeekAtLastError() {
  return 0;
}
int cudaThreadExchangeStreamCaptureMode(int *) {
  return 0;
}

int cudaMalloc(void **memory, size_t bytes) {
  const Monitor::Lock lock;
  const int result = machineCuda().allocate(memory, bytes);
  blocks[static_cast<std::byte *>(*memory)] = {bytes, FakeCuda::currentDevice};
  return result;
}
int cudaFree(void *memory) {
  const Monitor::Lock lock;
  return blocks.erase(static_cast<std::byte *>(memory)) != 0 ? machineCuda().release(memory) : 0;
}
int cudaPointerGetAttributes(PointerAttributes *attributes, const void *address) {
  const Monitor::Lock lock;
  const auto *block = blockOf(address);
  *attributes =
      block ? PointerAttributes{2, block->second, address, nullptr} : PointerAttributes{0, -1, nullptr, address};
  return 0;
}
int cudaMemcpy(void *to, const void *from, size_t bytes, int) {
  return copy(to, from, bytes, nullptr);
}
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, Stream stream) {
  return copy(to, from, bytes, stream);
}

int cudaStreamCreateWithPriority(Stream *stream, unsigned, int) {
  return machineCuda().createStream(stream);
}
int cudaStreamDestroy(Stream stream) {
  machineCuda().synchronize(stream);
  return machineCuda().destroyStream(stream);
}
int cudaStreamSynchronize(Stream stream) {
  return machineCuda().synchronize(stream);
}
int cudaStreamQuery(Stream stream) {
  const Monitor::Lock lock;
  return machine().isIdle(stream) ? 0 : cuda::notReady;
}
int cudaStreamWaitEvent(Stream stream, Event event, unsigned) {
  return machineCuda().await(stream, event);
}
int cudaStreamIsCapturing(Stream, int *status) {
  *status = 0;
  return 0;
}
int cudaStreamGetCaptureInfo_v2(Stream, int *status, unsigned long long *, void *, const void **, size_t *) {
  *status = 0;
  return 0;
}
int cudaEventCreateWithFlags(Event *event, unsigned) {
  return machineCuda().createEvent(event);
}
int cudaEventDestroy(Event event) {
  return machineCuda().destroyEvent(event);
}
int cudaEventRecord(Event event, Stream stream) {
  return machineCuda().record(event, stream);
}
int cudaEventQuery(Event event) {
  return machineCuda().query(event);
}
int cudaEventSynchronize(Event event) {
  return Monitor::wait("cudaEventSynchronize", [&] { return cudaEventQuery(event) != cuda::notReady; }) ? 0 : 702;
}
int cudaLaunchKernel() {
  return 0;
}
}
