// SPDX-License-Identifier: Apache-2.0
// An application that uses the C API over communicators of the fake NCCL. Each rank has its own fake GPU.
#pragma once

#include "CommSupport.h"
#include "api/NcclBackend.h"

namespace gc3::test {

/// Waits until executor threads have released everything, at most ten seconds. Returns FakeNccl::leaks().
inline std::string leaksAtEnd(const FakeNccl &nccl) {
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  awaitThat([&] { return nccl.leaks().empty() || std::chrono::steady_clock::now() > last; });
  return nccl.leaks();
}

/// Returns a configuration with few threads and small slots, like smallOptions().
inline gc3GpuConfig_t smallConfig() {
  gc3GpuConfig_t config = GC3_GPU_CONFIG_INITIALIZER;
  config.threads = 32;
  config.slotBytes = 512;
  return config;
}

/// Makes an NCCL call as the application does. Returns the call's result.
template <typename Function, typename... Args>
ncclapi::Result callNccl(const char *name, Args... args) {
  return reinterpret_cast<Function *>(FakeNccl::applicationFunction(name))(args...);
}

/// An application, with its own fakes. The destructor destroys all of `comms` and checks that nothing leaks.
class Application {
public:
  Application() = default;
  ~Application() {
    fake.beforeCalls(nullptr);
    for (gc3Comm_t comm : comms)
      EXPECT_EQ(gc3CommDestroy(comm), gc3Success);
    // After this, kernels have ended, so the streams can be destroyed.
    awaitThat([this] { return nccl.children().empty(); });
    EXPECT_EQ(gc3BundleFree(bundle), gc3Success);
    for (cuda::Stream stream : streams)
      FakeCuda::table().destroyStream(stream);
    for (float *buffer : buffers)
      fake.release(reinterpret_cast<std::byte *>(buffer));
    EXPECT_EQ(leaksAtEnd(nccl), "");
    EXPECT_TRUE(nccl.revoked.empty());
    EXPECT_EQ(FakeCuda::currentDevice, 0);
  }
  Application(const Application &) = delete;
  Application &operator=(const Application &) = delete;

  static constexpr size_t count = 10;

  void load(const std::vector<ProgramSpec> &specs) {
    gc3BundleFree(bundle);
    const std::string bytes = buildBundle(specs);
    ASSERT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
  }
  /// Makes an NCCL communicator, and a stream and a buffer for each rank. All elements of a buffer are the rank plus 1.
  void prepare(int ranks, bool blocking = true) {
    ncclComms = nccl.make(ranks, blocking);
    comms.assign(ncclComms.size(), nullptr);
    while (streams.size() < ncclComms.size()) {
      streams.push_back(fake.stream(static_cast<int>(streams.size())));
      buffers.push_back(reinterpret_cast<float *>(fake.allocate(count * sizeof(float))));
    }
    fill();
  }
  void fill() {
    for (size_t rank = 0; rank < buffers.size(); ++rank)
      std::fill_n(buffers[rank], count, static_cast<float>(rank + 1));
  }
  /// Has all ranks join in one group.
  gc3Result_t init(const gc3GpuConfig_t &config = smallConfig()) {
    gc3GroupStart();
    for (size_t rank = 0; rank < comms.size(); ++rank)
      EXPECT_EQ(gc3CommInit(&comms[rank], bundle, ncclComms[rank], &config), gc3Success);
    return gc3GroupEnd();
  }
  void make(const std::vector<ProgramSpec> &specs, const gc3GpuConfig_t &config = smallConfig()) {
    load(specs);
    prepare(static_cast<int>(specs[0].ranks.size()));
    ASSERT_EQ(init(config), gc3Success) << gc3GetLastError(nullptr);
  }

  gc3Result_t allReduce(size_t rank, gc3RedOp_t op = gc3Sum) {
    return gc3AllReduce(buffers[rank], buffers[rank], count, gc3Float32, op, comms[rank], streams[rank]);
  }
  gc3Result_t allReduceAll() {
    gc3GroupStart();
    for (size_t rank = 0; rank < comms.size(); ++rank)
      EXPECT_EQ(allReduce(rank), gc3Success);
    return gc3GroupEnd();
  }
  void expectAll(float value) const {
    for (const float *buffer : buffers)
      EXPECT_EQ(std::vector<float>(buffer, buffer + count), std::vector<float>(count, value));
  }
  bool isIdle(size_t rank) {
    const Monitor::Lock lock;
    return fake.isIdle(streams[rank]);
  }
  static gc3Result_t asyncError(gc3Comm_t comm) {
    gc3Result_t result = gc3InternalError;
    EXPECT_EQ(gc3CommGetAsyncError(comm, &result), gc3Success);
    return result;
  }

  /// Makes the next call of a function on a device fail. `name` is as in FakeCuda::callsOf().
  void failNext(int device, const std::string &name) {
    fake.beforeCalls([this, device, name](int onDevice, const std::string &called, uint64_t index) {
      const Monitor::Lock lock;
      if (!fake.failing && onDevice == device && called == name)
        fake.failing = {device, index};
    });
  }

  FakeCuda fake;
  FakeNccl nccl{fake};
  gc3Bundle_t bundle = nullptr;
  std::vector<ncclapi::Comm> ncclComms;
  std::vector<gc3Comm_t> comms; ///< the destructor destroys them
  std::vector<cuda::Stream> streams;
  std::vector<float *> buffers;
};

class ApiTest : public testing::Test, protected Application {};

} // namespace gc3::test
