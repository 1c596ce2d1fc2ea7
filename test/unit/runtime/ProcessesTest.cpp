// SPDX-License-Identifier: Apache-2.0
// Host communicators across real processes, over the C API. A test forks the ranks' processes before it starts any
// thread. Each child ends with the number of its failures.
#include "Programs.h"
#include "TraceCheck.h"
#include "TraceSupport.h"

#include "gc3.h"
#include "trace/TraceFile.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace gc3::test;

namespace {

/// The view that a rank's thread has of its communicator. After an abort, the communicator is null.
struct Member {
  int rank = 0, ranks = 0;
  gc3Comm_t comm = nullptr;
};

/// Passes the unique id from rank 0's process to the others, through a pipe.
class IdPipe {
public:
  IdPipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~IdPipe() { ::close(ends[0]), ::close(ends[1]); }
  void send(const gc3UniqueId_t &id, int times) const {
    for (int i = 0; i < times; ++i)
      EXPECT_EQ(::write(ends[1], &id, sizeof id), static_cast<ssize_t>(sizeof id));
  }
  gc3UniqueId_t receive() const {
    gc3UniqueId_t id{};
    EXPECT_EQ(::read(ends[0], &id, sizeof id), static_cast<ssize_t>(sizeof id)); // less than PIPE_BUF: atomic
    return id;
  }

private:
  int ends[2] = {-1, -1};
};

struct Job {
  std::vector<ProgramSpec> programs;
  int processes = 2, ranksPerProcess = 1;
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
};

/// Joins the ranks of one process in a group. Returns the result of the group.
gc3Result_t joinRanks(const Job &job, int process, const IdPipe &pipe, std::vector<gc3Comm_t> &comms) {
  const int own = job.ranksPerProcess, ranks = job.processes * own;
  const std::string bytes = buildBundle(job.programs);
  gc3Bundle_t bundle = nullptr;
  EXPECT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success) << gc3GetLastError(nullptr);
  gc3UniqueId_t id;
  if (process == 0) {
    EXPECT_EQ(gc3GetUniqueId(&id), gc3Success) << gc3GetLastError(nullptr);
    pipe.send(id, job.processes - 1);
  } else {
    id = pipe.receive();
  }
  comms.resize(static_cast<size_t>(own));
  EXPECT_EQ(gc3GroupStart(), gc3Success);
  for (int i = 0; i < own; ++i)
    EXPECT_EQ(gc3HostCommInitRank(&comms[static_cast<size_t>(i)], ranks, id, process * own + i, bundle, &job.config),
              gc3Success);
  const gc3Result_t result = gc3GroupEnd();
  EXPECT_EQ(gc3BundleFree(bundle), gc3Success);
  return result;
}

/// Joins the ranks of one process, and calls body(rank) on a thread for each.
void runProcess(const Job &job, int process, const IdPipe &pipe, const std::function<void(Member &)> &body) {
  const int own = job.ranksPerProcess, ranks = job.processes * own;
  std::vector<gc3Comm_t> comms;
  ASSERT_EQ(joinRanks(job, process, pipe, comms), gc3Success) << gc3GetLastError(nullptr);
  std::vector<Member> members;
  for (int i = 0; i < own; ++i)
    members.push_back({process * own + i, ranks, comms[static_cast<size_t>(i)]});
  std::vector<std::thread> threads;
  for (Member &member : members)
    threads.emplace_back([&] { body(member); });
  for (std::thread &thread : threads)
    thread.join();
  for (const Member &member : members)
    EXPECT_EQ(gc3CommDestroy(member.comm), gc3Success);
}

using Body = std::function<void(Member &)>;

/// Forks a process. It ends with status 0 if the test has no failure there.
pid_t start(const std::function<void()> &main) {
  const pid_t child = ::fork();
  if (child == 0) {
    main();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  return child;
}

/// Starts all processes. Returns their ids.
std::vector<pid_t> startAll(const Job &job, const IdPipe &pipe, const Body &body) {
  std::vector<pid_t> children;
  for (int process = 0; process < job.processes; ++process)
    children.push_back(start([&] { runProcess(job, process, pipe, body); }));
  return children;
}

int waitFor(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

/// Runs body(rank) on all ranks of all processes, and expects no failure.
void runAll(const Job &job, const Body &body) {
  const IdPipe pipe;
  for (const pid_t child : startAll(job, pipe, body))
    EXPECT_EQ(waitFor(child), 0);
}

/// Returns a port that no program uses now.
uint16_t findFreePort() {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(probe, reinterpret_cast<sockaddr *>(&address), size), 0);
  EXPECT_EQ(::getsockname(probe, reinterpret_cast<sockaddr *>(&address), &size), 0);
  ::close(probe);
  return ntohs(address.sin_port);
}

float inputOf(int rank, size_t element, int round) {
  return static_cast<float>(static_cast<size_t>(rank + 1) * (element % 7 + 1) + static_cast<size_t>(round));
}

/// Makes an AllReduce. Returns its result. Wrong sums are failures of the test.
gc3Result_t sum(const Member &self, size_t count, int round) {
  std::vector<float> data(count);
  for (size_t i = 0; i < count; ++i)
    data[i] = inputOf(self.rank, i, round);
  const gc3Result_t result = gc3AllReduce(data.data(), data.data(), count, gc3Float32, gc3Sum, self.comm, nullptr);
  if (result != gc3Success)
    return result;
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) {
    float expected = 0;
    for (int r = 0; r < self.ranks; ++r)
      expected += inputOf(r, i, round);
    wrong += data[i] != expected;
  }
  EXPECT_EQ(wrong, 0u) << "rank " << self.rank << ", round " << round << ", " << count << " elements";
  return result;
}

std::string textOf(const Member &self) {
  return gc3GetLastError(self.comm);
}

void expectSums(const Member &self, size_t count, int rounds) {
  for (int round = 0; round < rounds; ++round)
    ASSERT_EQ(sum(self, count, round), gc3Success) << gc3GetLastError(self.comm);
}

/// The trace files of a job. Each process has one, which its lowest rank names.
class JobTrace {
public:
  ~JobTrace() {
    for (int rank = 0; rank < mostRanks; ++rank)
      std::filesystem::remove(file(rank));
  }
  std::string file(int rank) const { return gc3::trace::replaced(path.name, "%r", std::to_string(rank)); }
  const char *pattern() const { return path.name.c_str(); }

private:
  static constexpr int mostRanks = 4;
  const TracePath path{".%r"};
};

std::string contentOf(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the names of the processes in a trace, by process number.
std::map<uint64_t, std::string> processesIn(const Trace &trace) {
  std::map<uint64_t, std::string> names;
  for (const TraceEvent &event : trace.find("M", "process_name"))
    names[event.process] = event.arguments.at("name");
  return names;
}

/// Lets time pass, by much more than a call takes.
void beLate() {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(200))
    std::this_thread::yield();
}

/// Expects that there is a moment in each call at which all ranks are in the call.
void expectCommonMoments(const Trace &trace, const std::string &program, size_t calls) {
  constexpr uint64_t clockError = 1'000'000; // nanoseconds
  std::map<std::string, std::pair<uint64_t, uint64_t>> moments;
  for (const TraceEvent &event : trace.find("X", program)) {
    auto &[begin, end] = moments.try_emplace(event.arguments.at("call"), 0, UINT64_MAX).first->second;
    begin = std::max(begin, event.begin), end = std::min(end, event.end);
  }
  EXPECT_EQ(moments.size(), calls);
  for (const auto &[call, moment] : moments)
    EXPECT_LT(moment.first, moment.second + clockError) << "call " << call;
}

} // namespace

/// Rank 0 has failed more often than rank 1 before both join.
TEST(Processes, AFailedJoinDoesNotCount) {
  const std::string root = "127.0.0.1:" + std::to_string(findFreePort());
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto joinTwice = [&](int rank) {
    setenv("GC3_RANK", std::to_string(rank).c_str(), 1);
    setenv("GC3_RANKS", "2", 1);
    setenv("GC3_ROOT", root.c_str(), 1);
    const std::string bytes = buildBundle({ringAllReduce(2, false)});
    gc3Bundle_t bundle = nullptr;
    ASSERT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
    char isReady = 0;
    if (rank == 0) {
      gc3Comm_t comm = nullptr;
      gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
      config.timeoutMs = 1;
      EXPECT_EQ(gc3HostCommInitEnv(&comm, bundle, &config), gc3Timeout) << gc3GetLastError(nullptr);
      EXPECT_EQ(::write(ends[1], &isReady, 1), 1);
    } else {
      EXPECT_EQ(::read(ends[0], &isReady, 1), 1);
    }
    gc3Comm_t comms[2];
    for (gc3Comm_t &comm : comms)
      ASSERT_EQ(gc3HostCommInitEnv(&comm, bundle, nullptr), gc3Success) << gc3GetLastError(nullptr);
    for (gc3Comm_t comm : comms)
      EXPECT_EQ(gc3CommDestroy(comm), gc3Success);
    EXPECT_EQ(gc3BundleFree(bundle), gc3Success);
  };
  std::vector<pid_t> children;
  for (int rank = 0; rank < 2; ++rank)
    children.push_back(start([&] { joinTwice(rank); }));
  for (const pid_t child : children)
    EXPECT_EQ(waitFor(child), 0);
  ::close(ends[0]), ::close(ends[1]);
}

TEST(Processes, ComputeSums) {
  for (const auto &[processes, own] : {std::pair{2, 1}, {4, 1}, {2, 2}, {1, 2}})
    runAll({{ringAllReduce(static_cast<uint32_t>(processes * own), true)}, processes, own}, [](Member &self) {
      for (const size_t count : {1, 1000, 300000})
        expectSums(self, count, 5);
    });
}

TEST(Processes, MapEachOthersBuffers) {
  static constexpr size_t count = 300000;
  runAll({{ringAllReduce(3, true)}, 3, 1}, [](Member &self) {
    void *buffers[2] = {};
    for (void *&buffer : buffers)
      ASSERT_EQ(gc3HostMemAlloc(&buffer, count * sizeof(float)), gc3Success) << gc3GetLastError(nullptr);
    auto *send = static_cast<float *>(buffers[0]), *recv = static_cast<float *>(buffers[1]);
    for (int round = 0; round < 5; ++round) {
      std::fill_n(send, count, static_cast<float>(self.rank + round));
      ASSERT_EQ(gc3AllReduce(send, recv, count, gc3Float32, gc3Sum, self.comm, nullptr), gc3Success) << textOf(self);
      EXPECT_EQ(std::count(recv, recv + count, static_cast<float>(3 + 3 * round)), ssize_t{count});
    }
    for (void *buffer : buffers)
      EXPECT_EQ(gc3HostMemFree(buffer), gc3Success);
  });
}

TEST(Processes, HaveSeveralCommunicators) {
  const IdPipe first, second;
  const Job job{{ringAllReduce(2, true)}, 2, 1};
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process)
    children.push_back(start([&] {
      runProcess(job, process, first, [&](Member &outer) {
        expectSums(outer, 100, 2);
        runProcess(job, process, second, [&](Member &inner) {
          expectSums(inner, 1000, 3);
          expectSums(outer, 1000, 3);
        });
        expectSums(outer, 100, 2);
      });
    }));
  for (const pid_t child : children)
    EXPECT_EQ(waitFor(child), 0);
}

/// Each process makes calls on two communicators in one group. The processes make these calls in opposite orders, which
/// must not deadlock.
TEST(Processes, GroupCallsOnCommunicatorsInAnyOrder) {
  const IdPipe pipes[2];
  Job job{{ringAllReduce(2, true)}, 2, 1};
  job.config.timeoutMs = 10000;
  const auto callOnBoth = [](const Member &first, const Member &second) {
    for (int turn = 0; turn < 300; ++turn) {
      std::vector<float> data[2];
      for (int i = 0; i < 2; ++i)
        data[i].assign(1000, static_cast<float>(10 * i + turn + first.rank));
      ASSERT_EQ(gc3GroupStart(), gc3Success);
      for (int i = 0; i < 2; ++i) {
        const int which = first.rank == 0 ? i : 1 - i;
        float *const own = data[which].data();
        ASSERT_EQ(gc3AllReduce(own, own, 1000, gc3Float32, gc3Sum, which == 0 ? first.comm : second.comm, nullptr),
                  gc3Success);
      }
      ASSERT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
      for (int i = 0; i < 2; ++i)
        ASSERT_EQ(data[i], std::vector<float>(1000, static_cast<float>(20 * i + 2 * turn + 1)));
    }
  };
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process)
    children.push_back(start([&] {
      runProcess(job, process, pipes[0], [&](Member &first) {
        runProcess(job, process, pipes[1], [&](Member &second) { callOnBoth(first, second); });
      });
    }));
  for (const pid_t child : children)
    EXPECT_EQ(waitFor(child), 0);
}

TEST(Processes, NameAKilledProcess) {
  runAll({{ringAllReduce(3, true)}, 3, 1}, [](Member &self) {
    expectSums(self, 1000, 3);
    if (self.rank == 1)
      ::_exit(0); // without gc3CommDestroy
    EXPECT_EQ(sum(self, 1000, 3), gc3RemoteError);
    EXPECT_EQ(textOf(self).rfind("rank 1, whose process ", 0), 0u) << textOf(self);
    EXPECT_EQ(sum(self, 1000, 3), gc3RemoteError);
  });
}

TEST(Processes, NameARankThatHasLeft) {
  runAll({{ringAllReduce(2, true)}, 2, 1}, [](Member &self) {
    expectSums(self, 1000, 3);
    if (self.rank == 1)
      return;
    EXPECT_EQ(sum(self, 1000, 3), gc3RemoteError);
    EXPECT_EQ(
        textOf(self).rfind("rank 1, which has left; 1 of 2 ranks wait in a call that these ranks have not made: 1 ("
                           "whose process ",
                           0),
        0u)
        << textOf(self);
  });
}

TEST(Processes, NameAnAbortedRank) {
  runAll({{ringAllReduce(2, true)}, 2, 1}, [](Member &self) {
    expectSums(self, 1000, 3);
    if (self.rank == 1) {
      EXPECT_EQ(gc3CommAbort(self.comm), gc3Success);
      self.comm = nullptr;
      return;
    }
    EXPECT_EQ(sum(self, 1000, 3), gc3RemoteError);
    EXPECT_EQ(
        textOf(self).rfind("rank 1, which has failed: the rank was aborted; 1 of 2 ranks wait in a call that these "
                           "ranks have not made: 1 (whose process ",
                           0),
        0u)
        << textOf(self);
  });
}

TEST(Processes, WriteTracesThatCanBeMerged) {
  const JobTrace files;
  const ProgramSpec spec = ringAllReduce(4, true);
  Job job{{spec}, 2, 2};
  job.config.trace = files.pattern();
  const IdPipe pipe;
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process)
    children.push_back(start([&] {
      if (process == 1)
        beLate();
      runProcess(job, process, pipe, [](Member &self) { expectSums(self, 100, 3); });
    }));
  for (const pid_t child : children)
    EXPECT_EQ(waitFor(child), 0);
  Trace merged(files.file(0));
  const Trace second(files.file(2));
  EXPECT_EQ(processesIn(merged), (std::map<uint64_t, std::string>{{0, "rank 0"}, {1, "rank 1"}}));
  EXPECT_EQ(processesIn(second), (std::map<uint64_t, std::string>{{2, "rank 2"}, {3, "rank 3"}}));
  merged.events.insert(merged.events.end(), second.events.begin(), second.events.end());
  EXPECT_EQ(checkTrace(merged, {LoadedSpec(spec).program.get(), {1, 2, 3}, 0, true, false}), "");
  expectCommonMoments(merged, spec.name, 3);
}

TEST(Processes, EmptyNoTraceBeforeTheirConfigsAgree) {
  const JobTrace files;
  const IdPipe pipe;
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process) {
    std::ofstream(files.file(process)) << "an earlier trace";
    children.push_back(start([&] {
      Job job{{ringAllReduce(2, true)}, 2, 1};
      job.config.trace = files.pattern();
      job.config.tileElements = static_cast<uint64_t>(process);
      std::vector<gc3Comm_t> comms;
      EXPECT_EQ(joinRanks(job, process, pipe, comms), gc3InvalidUsage);
      EXPECT_STREQ(gc3GetLastError(nullptr), "rank 1 has other FIFO slots than rank 0");
    }));
  }
  for (const pid_t child : children)
    EXPECT_EQ(waitFor(child), 0);
  for (int process = 0; process < 2; ++process)
    EXPECT_EQ(contentOf(files.file(process)), "an earlier trace");
}
