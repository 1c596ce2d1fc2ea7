// SPDX-License-Identifier: Apache-2.0
// Substitutes the fakes for the CUDA runtime and the installed NCCL, and defines the functions of Front.h.
#include "Front.h"

#include "CommSupport.h"
#include "ncclapi/Installed.h"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

namespace gc3 {

using namespace ncclapi;
using test::FakeNccl;

const cuda::Cuda *cuda::linkedCuda() {
  return &test::FakeCuda::table();
}

void *ncclapi::findInstalled(const std::string &name) {
  return FakeNccl::function(name);
}
void *ncclapi::installedFunction(const std::string &name) {
  return FakeNccl::applicationFunction(name);
}
/// Like NCCL's Bcast, calls ncclBroadcast by its exported name, and so calls the interposer again.
static Result bcast(void *buffer, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}
void *ncclapi::installedFunction(Function function) {
  return function == Function::Bcast ? reinterpret_cast<void *>(bcast)
                                     : installedFunction(std::string(functionNames[static_cast<size_t>(function)]));
}

static thread_local int insideDepth = 0;
bool ncclapi::isInsideNccl() {
  return insideDepth != 0;
}
NcclCallScope::NcclCallScope() {
  ++insideDepth;
}
NcclCallScope::~NcclCallScope() {
  --insideDepth;
}

namespace test {

namespace {

/// Makes a bundle with all programs, and sets the environment variables, which the interposer reads once. The file of
/// the bundle has no name, so the system removes it when the process ends.
struct Environment {
  Environment() {
    std::vector<ProgramSpec> specs{
        ringAllReduce(2, false), allGather(2, false), reduceScatter(2, false), allToAll(2, 1),         broadcast(2, 1),
        reduceTo(2, 1),          gather(2, 1),        scatter(2, 1),           ringAllReduce(3, false)};
    for (ProgramSpec &spec : specs)
      spec.maxBytes = 1024;
    specs.push_back(allGather(2, true));
    specs.back().minBytes = 1 << 20;
    const std::string bundle = buildBundle(specs);
    const int file = memfd_create("bundle", MFD_CLOEXEC);
    EXPECT_EQ(write(file, bundle.data(), bundle.size()), static_cast<ssize_t>(bundle.size()));
    setenv("GC3_BUNDLES", ("/proc/self/fd/" + std::to_string(file)).c_str(), 1);
    setenv("GC3_THREADS", "32", 1);
    setenv("GC3_SLOT_BYTES", "256", 1);
  }
};

} // namespace

Front::Front() {
  static const Environment environment;
  cuda.waits = true;
  for (size_t rank = 0; rank < mostRanks; ++rank) {
    newStream(rank);
    for (auto *buffers : {&send, &recv})
      buffers->push_back(reinterpret_cast<float *>(cuda.allocate(room * sizeof(float))));
  }
  fill();
  nccl.onEvent = [this](const std::string &event) { note(event); };
  cuda.beforeCalls([this](int device, const std::string &name, uint64_t index) {
    std::function<void(int, const std::string &, uint64_t)> hook;
    {
      std::lock_guard lock(noting);
      hook = beforeCall;
    }
    if (name == "CUDA launch")
      note("run " + std::to_string(device));
    if (hook)
      hook(device, name, index);
  });
}

Front::~Front() {
  after(nullptr);
  before(nullptr);
  failCalls("");
  takeEvents();
  for (const auto &[comm, name] : alive) {
    const auto isEnd = [&, &name = name](const std::string &event) {
      return event == "CommAbort(" + name + ")" || event == "CommDestroy(" + name + ")";
    };
    if (std::none_of(all.begin(), all.end(), isEnd)) {
      EXPECT_EQ(ncclCommAbort(comm), Result::Success);
    }
  }
  awaitChildren(0);
  for (Stream stream : streams)
    EXPECT_EQ(FakeCuda::table().destroyStream(reinterpret_cast<cuda::Stream>(stream)), 0);
  for (const auto *buffers : {&send, &recv})
    for (float *buffer : *buffers)
      cuda.release(reinterpret_cast<std::byte *>(buffer));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20); // executors release the rest
  const auto sweep = [] { return comm::Registry::ofProcess().sweep(); };             // joins their threads
  while ((sweep() != 0 || nccl.leaks() != "") && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(sweep(), 0u);
  EXPECT_EQ(nccl.leaks(), "");
}

Comms Front::make(int ranks, bool blocking) {
  Comms comms = nccl.make(ranks, blocking);
  for (Comm comm : comms)
    endLater(comm);
  return comms;
}

void Front::awaitChildren(size_t left) {
  awaitThat([&] { return nccl.children().size() == left; });
}

void Front::endLater(Comm comm) {
  alive.emplace_back(comm, nameOf(comm));
}

Comms Front::makeJoined(int ranks, bool blocking) {
  Comms comms = make(ranks, blocking);
  EXPECT_EQ(allReduceAll(comms, few), Result::Success);
  expectSum(comms.size());
  takeEvents();
  nccl.takeProbes();
  return comms;
}

Result Front::allReduce(size_t rank, Comm comm, size_t count, RedOp op) {
  return ncclAllReduce(send[rank], recv[rank], count, DataType::Float32, op, comm, streams[rank]);
}

Result Front::inGroup(size_t ranks, const std::function<Result(size_t)> &call) {
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  for (size_t rank = 0; rank < ranks; ++rank)
    EXPECT_EQ(call(rank), Result::Success);
  return ncclGroupEnd();
}

Stream Front::newStream(size_t rank) {
  streams.push_back(reinterpret_cast<Stream>(cuda.stream(static_cast<int>(rank))));
  return streams.back();
}

void Front::onEachRank(size_t ranks, const std::function<void(size_t)> &work) {
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      FakeCuda::currentDevice = static_cast<int>(rank);
      work(rank);
    });
  for (std::thread &thread : threads)
    thread.join();
}

void Front::fill() {
  for (size_t rank = 0; rank < mostRanks; ++rank)
    for (size_t i = 0; i < room; ++i) {
      send[rank][i] = static_cast<float>(10 * rank + i + 1);
      recv[rank][i] = 0;
    }
}

void Front::expectSum(size_t ranks, float factor) {
  ASSERT_TRUE(areIdle());
  for (size_t i = 0; i < few; ++i) {
    float sum = 0;
    for (size_t rank = 0; rank < ranks; ++rank)
      sum += send[rank][i];
    for (size_t rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(recv[rank][i], factor * sum) << "rank " << rank;
  }
  fill();
}

bool Front::areIdle() {
  return std::all_of(streams.begin(), streams.end(),
                     [&](Stream stream) { return cuda.isIdle(reinterpret_cast<cuda::Stream>(stream)); });
}

Result Front::stateOf(Comm comm) {
  Result state = Result::InternalError;
  EXPECT_EQ(ncclCommGetAsyncError(comm, &state), Result::Success);
  return state;
}

comm::Phase Front::phaseOf(Comm comm) {
  const auto known = comm::Registry::ofProcess().find(comm);
  return known ? known->status().phase : comm::Phase::Unready;
}

/// Records an event, and runs the test's hook. Replaces addresses of buffers and streams by names.
void Front::note(std::string event) {
  const auto rename = [&](const void *address, const std::string &name) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "0x%zx", reinterpret_cast<size_t>(address));
    const size_t length = std::strlen(digits);
    for (size_t at = 0; (at = event.find(digits, at)) != std::string::npos; ++at)
      if (std::isxdigit(static_cast<unsigned char>(event[at + length])) == 0) // not the beginning of a longer address
        event.replace(at, length, name);
  };
  for (size_t rank = 0; rank < mostRanks; ++rank) {
    rename(send[rank], "send" + std::to_string(rank));
    rename(recv[rank], "recv" + std::to_string(rank));
    rename(streams[rank], "stream" + std::to_string(rank));
  }
  std::function<void(const std::string &)> hook;
  {
    std::lock_guard lock(noting);
    events.push_back(event);
    all.push_back(event);
    hook = afterEvent;
    const std::string function = event.substr(0, event.find('('));
    if (const auto node = planned.extract(function))
      nccl.fail(function, node.mapped());
  }
  if (hook)
    hook(event);
}

Events Front::takeEvents() {
  std::lock_guard lock(noting);
  return std::exchange(events, {});
}

void Front::await(const std::string &event) {
  awaitThat([&] {
    std::lock_guard lock(noting);
    return std::find(events.begin(), events.end(), event) != events.end();
  });
}

std::string Front::event(size_t rank, const std::string &comm, size_t count, int op) {
  const std::string own = std::to_string(rank);
  return "AllReduce(send" + own + ", recv" + own + ", " + std::to_string(count) + ", 7, " + std::to_string(op) + ", " +
         comm + ", stream" + own + ")";
}

void Front::after(std::function<void(const std::string &)> hook) {
  std::lock_guard lock(noting);
  afterEvent = std::move(hook);
}

void Front::before(std::function<void(int, const std::string &, uint64_t)> hook) {
  std::lock_guard lock(noting);
  beforeCall = std::move(hook);
}

void Front::failCalls(const std::string &name, int device) {
  const Monitor::Lock lock;
  cuda.failFunction = {name, device};
}

void Front::failNext(const std::string &function, Result result) {
  std::lock_guard lock(noting);
  planned[function] = result;
}

void Front::capture(bool begins) {
  const Monitor::Lock lock;
  cuda.captured = begins;
}

} // namespace test
} // namespace gc3
