// SPDX-License-Identifier: Apache-2.0
// The GPU resources of one rank of a communicator: connections in windows, loaded programs, and the runner of its
// calls. The Communicator decides when each operation happens (Communicator.h). Collective operations of the ranks use
// the child.
//
// The rank's executor thread makes all calls, with the rank's GPU as its current device, except plan() and enqueue():
// the caller of a collective makes them while the executor makes no call. stop() and markFailed() are thread-safe, and
// so is mayShareCommunicator() after join().
#pragma once

#include "comm/ChildCommunicator.h"
#include "comm/DeviceComm.h"
#include "comm/ProgramTable.h"
#include "comm/Window.h"
#include "cuda/Recorder.h"

#include <algorithm>
#include <optional>

namespace gc3::comm {

/// The CUDA, NCCL and GIN functions. All tables must outlive the communicators.
struct Drivers {
  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  const gin::Plugin *(*findGin)() = nullptr; ///< returns the GIN plugin, or null; null: there is no plugin
};

/// Settings that communicators share.
struct Setup {
  Drivers drivers;
  ProgramTable::Files files;
  core::Outcome problem; ///< why this process can't run programs; other ranks learn that it can't
  cuda::Options options;
};

/// How a step of loading ended on one rank. Ranks exchange the bytes between processes.
struct LoadVerdict {
  uint32_t code = gc3Success; ///< gc3Result_t
  uint32_t lacksWindows = 0;  ///< 1: the communicator has no windows
  uint32_t program = 0;       ///< the number of the program that the rank loads
  char reason[244] = {};      ///< the error's text, cut to this length
};

class GpuRank {
public:
  /// Both must outlive this object.
  GpuRank(const Setup &setup, ChildCommunicator &child);
  GpuRank(const GpuRank &) = delete;
  GpuRank &operator=(const GpuRank &) = delete;

  struct Identity {
    int rank = 0, ranks = 0, device = 0;
  };

  /// How joining ended. A failure is an error of this rank alone: other ranks wait for it. A refusal is common to all
  /// ranks, though its text can differ: NCCL runs all calls. Both are successes if programs run.
  struct JoinResult {
    core::Outcome failure, refusal;
  };
  /// Prepares the runner and gathers, exchanges RankInfos with the other ranks, and decides which programs can run.
  JoinResult join(const Identity &identity);
  /// Returns false if `other` is known not to be a child of the same communicator's ranks. Call after join().
  bool mayShareCommunicator(const ChildCommunicator &other) const {
    return childrenInProcess.empty() || std::find(childrenInProcess.begin(), childrenInProcess.end(),
                                                  reinterpret_cast<uint64_t>(&other)) != childrenInProcess.end();
  }
  /// Returns the programs. Call after join() without a refusal.
  std::shared_ptr<ProgramTable> programs() const { return table; }

  /// How loading a program ended. A failure is an error of this rank alone. A refusal is common to all ranks: NCCL runs
  /// the program's calls.
  struct LoadResult {
    core::Outcome failure, refusal;
    const cuda::GpuProgram *program = nullptr;
  };
  /// Loads a program on all ranks or on none. If `localError` is an error, this rank can't load it, and all ranks
  /// refuse the program.
  LoadResult load(uint32_t program, const core::Outcome &localError);

  /// Plans a call of a loaded program. `capture` is the id of its stream's capture; 0: none.
  core::Outcome plan(const cuda::GpuProgram &program, const core::Request &request, uint64_t capture,
                     cuda::Runner::Plan &plan);
  core::Outcome enqueue(cuda::Runner::Plan &plan, cuda::Stream stream);

  /// Returns the error of failed kernels. Stops kernels that run longer than the timeout, and returns an error for
  /// them.
  core::Outcome checkKernels() { return runner.watch(cuda::Watchdog::Clock::now()); }
  core::Result<bool> isIdle() const { return runner.isIdle(); }
  /// Waits until all kernels have ended. They end soon after stop().
  void awaitIdle();
  /// Has checkKernels() return this error. If kernels are stopped later, adds what they waited for. Thread-safe.
  void markFailed(const core::Outcome &cause) { runner.markFailed(cause); }
  /// Ends all kernels, also enqueued ones. Thread-safe.
  void stop() { runner.stop(); }

  /// Deregisters windows and destroys the device communicator, which can wait for other ranks. All calls have ended.
  void releaseNccl();
  /// Replaces releaseNccl() after an abort of the child, which frees NCCL's part.
  void forgetNccl();

private:
  /// Resources of a program while it loads. They are released if a rank can't load the program.
  struct PendingLoad {
    uint32_t program = 0;
    core::Outcome outcome;                      ///< if an error, all ranks refuse the program
    std::unique_ptr<plan::ConnectionPool> pool; ///< the rank's pool, plus the program's connections
    std::vector<uint32_t> numbers;              ///< numbers of the program's connections in the pool
    std::unique_ptr<cuda::GpuProgram> onGpu;
    Window window; ///< for connections that the rank does not have
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
  void finishJoin(std::span<const RankInfo> infos);
  /// Gathers after all calls on this GPU have ended, because they could occupy the multiprocessors that NCCL's kernel
  /// needs.
  template <typename T>
  core::Result<std::vector<T>> gatherEach(const T &own) {
    if (core::Outcome outcome = runner.awaitLastCall(runner.stream()); !outcome.ok())
      return outcome;
    return child.gatherEach(own, runner.stream());
  }

  core::Outcome loadOnAllRanks();
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
  Identity self;
  std::vector<uint64_t>
      childrenInProcess; ///< addresses of the children of the communicator's ranks in this process; empty: not known
  ncclapi::Team team{};
  std::shared_ptr<ProgramTable> table;
  cuda::Runner runner;
  std::unique_ptr<plan::ConnectionPool> pool;
  std::vector<Window> windows; ///< by piece of the pool
  const gin::Plugin *part = nullptr;
  DeviceComm deviceComm;
  plan::ConnectionPool::Parts parts;      ///< addresses, by window and rank
  std::unique_ptr<PendingLoad> loading;   ///< the program that loads; NCCL writes to it
  std::optional<cuda::Recorder> recorder; ///< destroyed first, because it refers to programs
};

} // namespace gc3::comm
