// SPDX-License-Identifier: Apache-2.0
// A fake NCCL in this process, over the fake CUDA. Each rank can have its own thread. Collective calls block where NCCL
// blocks: until all ranks of the communicator have called, or the caller's handle is revoked or aborted. Gathers wait
// on their streams. A window maps each rank's memory at a second address, a multiple of 4 GiB from the next rank's.
// part() replaces libgc3gin.so; its kernels use an emulated network. Tests fail calls through the fake CUDA.
//
// Misuse ends the process with a message: a call on a freed handle, freeing a handle that another thread uses, two
// threads that set up one communicator or query its state at once, and freeing handles in the wrong order. Thread-safe.
// A test that accesses a data member while other threads call must hold the Monitor.
#pragma once

#include "FakeCuda.h"
#include "gin/Plugin.h"
#include "ncclapi/Nccl.h"

#include <memory>

namespace gc3::test {

class FakeNccl {
public:
  explicit FakeNccl(FakeCuda &cuda);
  ~FakeNccl();
  FakeNccl(const FakeNccl &) = delete;
  FakeNccl &operator=(const FakeNccl &) = delete;

  /// Returns the functions that gc3 calls for itself. Communicators that they split off are gc3's children.
  ncclapi::Nccl table() const;
  /// Returns such a function by its name in Abi.h, without `nccl`; null if there is none.
  static void *function(const std::string &name);
  /// Returns the function to which the interposer forwards the application's calls. Communicators that it splits off
  /// are the application's, and its calls on the application's communicators are events.
  static void *applicationFunction(const std::string &name);
  /// Returns the replacement of libgc3gin.so, for NCCL version `partFor`.
  static const gin::Plugin *part();
  /// The result of a failing call.
  static constexpr ncclapi::Result failure = ncclapi::Result::SystemError;

  // What tests set:
  int version = 22809;
  enum class Windows : uint8_t {
    Real,
    Null,    ///< no windows, as NCCL 2.29 reports it
    Other,   ///< no windows, as NCCL 2.28 reports it
    OneTeam, ///< real if all ranks are of one team, else null
  } windows = Windows::Real;
  int ranksPerGpu = 1;               ///< consecutive ranks share a GPU
  int teamSize = 0;                  ///< number of ranks in an LSA team; 0, or more than exist: all ranks
  int teamStride = 1;                ///< from one rank of a team to the next
  bool hasPart = true;               ///< part() exists, for ranks of different teams
  int partFor = 22809;               ///< NCCL version of part()
  std::map<int, uint32_t> contexts;  ///< number of network contexts by rank; default: 4
  std::optional<int> alwaysBlocking; ///< NCCL_COMM_BLOCKING: overrides each ncclConfig_t
  bool connects = false;             ///< the first gather of a communicator blocks until all ranks have called it
  bool deregisterWaits = false;      ///< CommWindowDeregister blocks until all ranks have called it for the window
  bool destroyWaits = false;         ///< CommDestroy blocks until all ranks have destroyed or aborted theirs
  bool abortWaits = false;           ///< CommAbort and CommRevoke block until the rank's gathers have left all streams
  bool failsLate = false;            ///< a failing collective call first takes part, so that other ranks complete
  bool inBackground = false;         ///< non-blocking operations complete when all ranks have called, without a query
  bool completesAlone = false;       ///< ranks that no call has created count as ranks that have called

  /// Makes the application's communicator of `ranks` ranks on devices 0, 1, ...
  std::vector<ncclapi::Comm> make(int ranks, bool blocking = true);
  /// Frees a handle of the application's communicator: no call may name it from now on.
  void free(ncclapi::Comm comm);
  /// The next call of nccl<function> returns `result`. It does nothing else, unless `result` is Success or InProgress.
  void fail(const std::string &function, ncclapi::Result result);
  /// Sets the state that CommGetAsyncError reports until the next call of this function.
  void asyncError(ncclapi::Comm comm, ncclapi::Result result);
  /// The next communicator of the application has this freed handle.
  void reuse(ncclapi::Comm comm);

  // What tests read:
  uint64_t used = 0;                  ///< calls that name a communicator
  uint64_t gathersBegun = 0;          ///< gathers that hold a GPU, or have held one
  uint64_t registrations = 0;         ///< begun, on all ranks
  uint64_t windowsMade = 0;           ///< on all ranks
  uint64_t networksMade = 0;          ///< on all ranks
  uint64_t partCalls = 0;             ///< calls of the part
  uint64_t splits = 0;                ///< handles of children made
  uint64_t abortedSplits = 0;         ///< handles of children aborted
  std::vector<ncclapi::Comm> revoked; ///< handles, in this order
  /// Returns the number of signals of one rank of the last communicator with a network.
  uint32_t signals() const;
  uint64_t messagesInFlight() const; ///< messages that had not landed when their sender's kernel ended
  uint64_t slotsReturned() const;    ///< number of slots that the network returned
  /// Returns everything that is allocated and not freed: CUDA's resources, symmetric memory, windows, networks and
  /// children.
  std::string leaks() const;
  /// Returns true if the calling thread has an open group.
  static bool isGroupOpen();
  /// Returns the communicators that gc3 has made and not freed.
  std::vector<ncclapi::Comm> children() const;
  /// Returns "c0" for the application's first communicator, and "child of c0" for gc3's.
  std::string name(ncclapi::Comm comm) const;

  /// Returns the application's calls since the last time, such as "AllReduce(0x10, 0x20, 4, 7, 0, c0, 0x1)".
  std::vector<std::string> takeEvents();
  /// Returns the names of gc3's calls on the application's communicators since the last time.
  std::vector<std::string> takeProbes();
  /// Hook that runs after each event, without the monitor; as in FakeCuda::beforeCalls().
  std::function<void(const std::string &event)> onEvent;

  struct World;
  struct Member;
  struct State;

private:
  std::unique_ptr<State> state;
};

} // namespace gc3::test
