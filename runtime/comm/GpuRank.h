// SPDX-License-Identifier: Apache-2.0
// The GPU resources of one rank of a communicator: connections in windows, loaded programs, and the runner of its
// calls. The Communicator decides when each operation happens (Communicator.h). Collective operations among the ranks
// go over the child communicator.
//
// Only the rank's executor thread calls these functions, with the rank's GPU as its current device. There are
// exceptions. The thread that makes a collective call calls plan() and enqueue(); meanwhile, the executor calls no
// function except checkKernels(). stop() and markFailed() are thread-safe. mayShareCommunicator() is thread-safe after
// join().
#pragma once

#include "comm/ChildCommunicator.h"
#include "comm/DeviceComm.h"
#include "comm/OnlineRank.h"
#include "comm/ProgramTable.h"
#include "comm/UserWindows.h"
#include "comm/Window.h"
#include "cuda/MeasuredCalls.h"
#include "cuda/Recorder.h"

#include <algorithm>
#include <optional>

namespace gc3::comm {

/// The CUDA, NCCL and GIN functions. All tables must outlive the communicators.
struct Drivers {
  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  /// Returns the GIN plugin, or null if it is not found. If the pointer itself is null, there is no plugin either.
  const gin::Plugin *(*findGin)() = nullptr;
};

/// Settings that communicators share.
struct Setup {
  Drivers drivers;
  ProgramTable::Files files;
  /// Why this process can't run programs; Success if it can. join() sends this to the other ranks.
  core::Outcome problem;
  cuda::Options options;
};

/// The result of one stage of loading a program, on one rank. Ranks exchange the raw bytes of this struct.
struct LoadVerdict {
  uint32_t code = gc3Success; ///< gc3Result_t
  uint32_t lacksWindows = 0;  ///< 1: the communicator has no windows
  uint32_t program = 0;       ///< the number of the program that the rank loads
  char reason[244] = {};      ///< the error's text, truncated to this size
};

class GpuRank {
public:
  /// All arguments must outlive this object.
  GpuRank(const Setup &setup, ChildCommunicator &child, UserWindows &userWindows);
  GpuRank(const GpuRank &) = delete;
  GpuRank &operator=(const GpuRank &) = delete;

  struct Identity {
    int rank = 0, ranks = 0, device = 0;
  };

  /// The result of joining. If programs can run, both members are Success. `failure` is an error of this rank alone, so
  /// other ranks may still wait for this rank. After a `refusal`, NCCL runs all calls. All ranks get a refusal
  /// together, but its text can differ.
  struct JoinResult {
    core::Outcome failure, refusal;
  };
  /// Prepares the runner and the memory for gathers. Then exchanges RankInfos with the other ranks, and decides which
  /// programs can run.
  JoinResult join(const Identity &identity);
  /// Returns false if `other` is known to be the child of a rank of another communicator. Call after join().
  bool mayShareCommunicator(const ChildCommunicator &other) const {
    return childrenInProcess.empty() || std::find(childrenInProcess.begin(), childrenInProcess.end(),
                                                  reinterpret_cast<uint64_t>(&other)) != childrenInProcess.end();
  }
  /// Hands the rank's online selection over; null if the choice of programs is fixed. Call once, after join().
  std::shared_ptr<OnlineRank> takeOnline() { return std::move(onlineRank); }
  /// Returns the table of programs. Call only after join() has returned without a refusal.
  std::shared_ptr<ProgramTable> programs() const { return table; }

  /// The result of loading a program. `failure` is an error of this rank alone. `refusal` is common to all ranks: no
  /// rank runs the program. If the program is loaded, both are Success.
  struct LoadResult {
    core::Outcome failure, refusal;
    const cuda::GpuProgram *program = nullptr;
  };
  /// Loads program number `program` on all ranks or on none. If `localError` is an error, this rank does not try to
  /// load the program, and all ranks refuse it.
  LoadResult load(uint32_t program, const core::Outcome &localError);

  /// Plans a call of a loaded program. `capture` is the id of the capture that the call's stream is part of; 0: none.
  core::Outcome plan(const cuda::GpuProgram &program, const core::Shape &shape, const core::Request &request,
                     uint64_t capture, cuda::Runner::Plan &plan);
  core::Outcome enqueue(cuda::Runner::Plan &plan, cuda::Stream stream);
  /// Measure the work that NCCL enqueues on a stream between these two functions.
  void beginTime(cuda::CallTimes &times, uint64_t call, cuda::Stream stream);
  void endTime(cuda::CallTimes &times, uint64_t call, cuda::Stream stream);

  /// Returns an error if a kernel has failed. If a kernel runs longer than the timeout, stops it and returns an error.
  core::Outcome checkKernels() { return runner.watch(cuda::Watchdog::Clock::now()); }
  core::Result<bool> isIdle() const { return runner.isIdle(); }
  /// Waits until all kernels have ended. They end soon after stop().
  void awaitIdle();
  /// Makes checkKernels() return `cause` from now on. If kernels are stopped later, checkKernels() adds what they
  /// waited for. Thread-safe.
  void markFailed(const core::Outcome &cause) { runner.markFailed(cause); }
  /// Ends all kernels: those that run, and those that are enqueued. Thread-safe.
  void stop() { runner.stop(); }

  /// Deregisters the windows and destroys the device communicator. Can wait for other ranks. All calls must have ended.
  void releaseNccl();
  /// Drops the handles of windows and of the device communicator, which NCCL has freed with the aborted child. Call
  /// this instead of releaseNccl().
  void forgetNccl();

private:
  /// Resources of a program while it loads. They are released if a rank can't load the program.
  struct PendingLoad {
    uint32_t program = 0;
    core::Outcome outcome;                      ///< this rank's error; after agree(), it can be another rank's error
    std::unique_ptr<plan::ConnectionPool> pool; ///< copy of GpuRank::pool, plus the program's connections
    std::vector<uint32_t> numbers;              ///< numbers of the program's connections in the pool
    std::unique_ptr<cuda::GpuProgram> onGpu;
    Window window; ///< memory for the program's new connections
    uint64_t windowBytes = 0;
    bool lacksWindows = false; ///< the communicator has no windows
    plan::ConnectionPool::Parts parts;
  };
  core::Outcome prepare();
  core::Outcome examine(RankInfo &own);
  core::Outcome describe(RankInfo &own);
  core::Outcome describeNetwork(RankInfo &own);
  core::Result<uint32_t> mostBlocks(const cuda::Interpreters &interpreters, kernel::Protocol protocol) const;
  bool isUntornLink(const RankInfo &here, const RankInfo &there) const;
  PeerSet findUntornPeers(std::span<const RankInfo> infos) const;
  core::Outcome gatherUntornPeers(std::vector<RankInfo> &infos);
  core::Outcome connectNetwork(std::vector<RankInfo> &infos);
  void recordChildrenInProcess(std::span<const RankInfo> infos);
  void beginTrace(std::span<const RankInfo> infos);
  core::Outcome joinOnline(std::span<const RankInfo> infos);
  core::Outcome loadEarlier(select::TuneFile &earlier);
  core::Outcome connectExchanger(uint64_t host, std::unique_ptr<net::Exchanger> &exchanger, core::Outcome &problem);
  void finishJoin(std::span<const RankInfo> infos);
  /// Gathers one object from each rank. The gather runs after this rank's last call has ended, because that call's
  /// kernel could occupy the multiprocessors that NCCL's kernel needs.
  template <typename T>
  core::Result<std::vector<T>> gatherEach(const T &own) {
    if (core::Outcome outcome = runner.awaitLastCall(runner.stream()); !outcome.ok())
      return outcome;
    return child.gatherEach(own, runner.stream());
  }

  core::Outcome loadOnAllRanks();
  cuda::GpuProgram::Terms termsOf(const ProgramTable::Entry &entry) const;
  core::Outcome reserve();
  core::Outcome registerWindow();
  core::Outcome registerInTeam();
  core::Outcome connect();
  core::Outcome agree();
  bool maySplitByTeam() const;
  plan::NetworkRoute network() const;
  const cuda::GpuProgram *commitLoad();
  int firstOfTeam() const { return self.rank - team.rank * team.stride; }
  uint32_t rank() const { return static_cast<uint32_t>(self.rank); }
  std::string programName(uint32_t program) const;

  const Setup &setup;
  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  ChildCommunicator &child;
  UserWindows &userWindows;
  Identity self;
  /// Addresses of the ChildCommunicators of those ranks of this communicator that are in this process; empty: unknown.
  std::vector<uint64_t> childrenInProcess;
  ncclapi::Team team{};
  std::shared_ptr<ProgramTable> table;
  std::shared_ptr<OnlineRank> onlineRank;
  std::optional<cuda::MeasuredCalls> measured; ///< the calls whose times the application's tuner gets
  cuda::Runner runner;
  std::unique_ptr<plan::ConnectionPool> pool;
  std::vector<Window> windows; ///< by piece of the pool
  const gin::Plugin *part = nullptr;
  DeviceComm deviceComm;
  plan::ConnectionPool::Parts parts;      ///< addresses of the windows' parts, by window and rank
  std::unique_ptr<PendingLoad> loading;   ///< the program that is being loaded; NCCL writes to its members
  std::optional<cuda::Recorder> recorder; ///< declared last, so that it is destroyed first: it refers to programs
};

} // namespace gc3::comm
