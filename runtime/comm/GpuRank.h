// SPDX-License-Identifier: Apache-2.0
// What one rank of a communicator holds on its GPU: connections in windows, loaded programs, the runner of its calls.
// The Communicator decides when each step happens (Communicator.h); steps that ranks make together go over the child.
//
// The executor thread of the rank makes all calls, with the rank's GPU as its current device. Except plan() and
// enqueue(): the caller of a collective makes them while the executor runs no step. stop() and breakDown() are
// thread-safe, and so is mayShareCommunicator() after join().
#pragma once

#include "comm/ChildCommunicator.h"
#include "comm/DeviceComm.h"
#include "comm/ProgramTable.h"
#include "comm/Window.h"
#include "cuda/Recorder.h"

#include <algorithm>
#include <optional>

namespace gc3::comm {

/// The functions that everything here calls. All tables must outlive the communicators.
struct Drivers {
  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  const gin::Part *(*findGin)() = nullptr; ///< finds the GIN plugin; null: there is none
};

/// What all communicators of one user have in common.
struct Setup {
  Drivers drivers;
  ProgramTable::Files files;
  core::Outcome problem; ///< why this process can't run programs; other ranks learn that it can't
  cuda::Options options;
};

/// How a step of loading ended on one rank. Crosses processes as it is.
struct LoadVerdict {
  uint32_t code = gc3Success; ///< gc3Result_t
  uint32_t lacksWindows = 0;  ///< 1: the communicator has no windows
  uint32_t program = 0;       ///< the number of the program that the rank loads
  char reason[244] = {};         ///< the error's text, cut to this length
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

  /// How joining ended. A failure is this rank's alone: other ranks wait for it. All ranks have the same refusal, each
  /// in its words: NCCL runs all calls. Both are successes if programs run.
  struct JoinResult {
    core::Outcome failure, refusal;
  };
  /// Allocates what every rank needs, exchanges RankInfos with the other ranks, and settles the programs.
  JoinResult join(const Identity &identity);
  /// After join(): false if `other` is known to be no child of the same communicator's ranks.
  bool mayShareCommunicator(const ChildCommunicator &other) const {
    return childrenInProcess.empty() || std::find(childrenInProcess.begin(), childrenInProcess.end(),
                                                  reinterpret_cast<uint64_t>(&other)) != childrenInProcess.end();
  }
  /// After join() without a refusal.
  std::shared_ptr<ProgramTable> programs() const { return table; }

  /// How loading a program ended. A failure is this rank's alone. All ranks have the same refusal: NCCL runs the calls.
  struct LoadResult {
    core::Outcome failure, refusal;
    const cuda::GpuProgram *program = nullptr;
  };
  /// Loads a program on all ranks or on none. `localError` is an error if this rank can't go on; the other ranks learn
  /// it.
  LoadResult load(uint32_t program, const core::Outcome &localError);

  /// Plans a call of a loaded program; `capture` is that of its stream.
  core::Outcome plan(const cuda::GpuProgram &program, const core::Request &request, uint64_t capture,
                     cuda::Runner::Plan &plan);
  core::Outcome enqueue(cuda::Runner::Plan &plan, cuda::Stream stream);

  /// Looks for kernels that failed, or run longer than the timeout and so are stopped.
  core::Outcome checkKernels() { return runner.watch(cuda::Watchdog::Clock::now()); }
  core::Result<bool> isIdle() const { return runner.isIdle(); }
  /// Waits until all kernels have ended, which they do soon after stop().
  void awaitIdle();
  /// Has checkKernels() report this error, with what kernels that it stops later waited for. Thread-safe.
  void markFailed(const core::Outcome &cause) { runner.breakDown(cause); }
  /// Has all kernels end, those that are still to run included. Thread-safe.
  void stop() { runner.stop(); }

  /// Releases what NCCL holds for the rank, which can wait for other ranks. All calls have ended.
  void releaseNccl();
  /// In place of releaseNccl(), after the abort of the child, with which NCCL has freed its part.
  void forgetNccl();

private:
  /// What a program takes while it is loaded. It is released again if another rank can't load the program.
  struct PendingLoad {
    uint32_t program = 0;
    core::Outcome outcome;                      ///< an error: all ranks refuse the program
    std::unique_ptr<plan::ConnectionPool> pool; ///< with the program's connections
    std::vector<uint32_t> numbers;              ///< of the program's connections in the pool
    std::unique_ptr<cuda::GpuProgram> onGpu;
    Window window; ///< for connections that the rank does not have yet
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
  /// After the calls on this GPU, since these could hold the multiprocessors that NCCL's kernel needs.
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
      childrenInProcess; ///< the children of the communicator's ranks in this process; empty: not known
  ncclapi::Team team{};
  std::shared_ptr<ProgramTable> table;
  cuda::Runner runner;
  std::unique_ptr<plan::ConnectionPool> pool;
  std::vector<Window> windows; ///< by piece of the pool
  const gin::Part *part = nullptr;
  DeviceComm deviceComm;
  plan::ConnectionPool::Parts parts;      ///< by window and rank
  std::unique_ptr<PendingLoad> loading;   ///< the program that is being loaded; NCCL writes to it
  std::optional<cuda::Recorder> recorder; ///< destroyed first, since it refers to programs
};

} // namespace gc3::comm
