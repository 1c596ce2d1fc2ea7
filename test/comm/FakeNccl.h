// SPDX-License-Identifier: Apache-2.0
// A fake NCCL whose ranks are in this process, over the fake CUDA. Each rank can have its own thread. Collective calls
// block where NCCL blocks: until all ranks of the communicator have called, or the caller's handle is revoked or
// aborted. Gathers run on streams, and wait there for the other ranks. A window maps each rank's memory at a second
// address; the addresses of consecutive ranks are 4 GiB apart. part() replaces libgc3gin.so; its kernels use an
// emulated network. Tests make calls fail through the fake CUDA.
//
// Misuse ends the process with a message. Misuse is a call on a freed handle, freeing a handle that another thread
// uses, and freeing handles in the wrong order. Two threads must not set up one communicator at once, or query its
// state at once. Thread-safe. A test that accesses a data member while other threads call the fake must hold the
// Monitor.
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

  /// Returns the functions for gc3's own calls. A communicator that they split off is a child of gc3.
  ncclapi::Nccl table() const;
  /// Returns one of these functions by its name in Abi.h, without `nccl`; null if there is none.
  static void *function(const std::string &name);
  /// Returns the function to which the interposer forwards the application's calls. A communicator that it splits off
  /// belongs to the application. Each of its calls on a communicator of the application is an event.
  static void *applicationFunction(const std::string &name);
  /// Returns the replacement of libgc3gin.so, for NCCL version `partFor`.
  static const gin::Plugin *part();
  /// The result of a failing call.
  static constexpr ncclapi::Result failure = ncclapi::Result::SystemError;

  // Settings of tests:
  int version = 22809;
  enum class Windows : uint8_t {
    Real,
    Null,    ///< no windows: registrations return a null handle, as in NCCL 2.29
    Other,   ///< no windows: handles are not device memory, as in NCCL 2.28
    OneTeam, ///< Real if all ranks are in one LSA team, else Null
  } windows = Windows::Real;
  int ranksPerGpu = 1;               ///< number of consecutive ranks that share a GPU
  int teamSize = 0;                  ///< ranks in an LSA team; 0: all ranks, also if larger than the communicator
  int teamStride = 1;                ///< distance from one rank of a team to the next
  bool hasSwitch = true;             ///< whether teams have a switch, from version 2.29.2 on
  bool hasPart = true;               ///< whether ranks find part(), which connects different teams
  int partFor = 22809;               ///< NCCL version for which part() is built
  std::map<int, uint32_t> contexts;  ///< number of network contexts by rank; others have 4
  std::optional<int> alwaysBlocking; ///< value of NCCL_COMM_BLOCKING, which overrides each ncclConfig_t
  bool connects = false;             ///< the first gather of a communicator blocks until all ranks have called it
  bool deregisterWaits = false;      ///< CommWindowDeregister blocks until all ranks have called it for the window
  bool destroyWaits = false;         ///< CommDestroy blocks until all ranks have destroyed or aborted theirs
  bool abortWaits = false;           ///< CommAbort and CommRevoke block until the rank's gathers have left all streams
  bool failsLate = false;            ///< a failing collective call first takes part, so the others complete
  bool inBackground = false;         ///< non-blocking operations complete without a query of the state
  bool completesAlone = false;       ///< collective calls do not wait for ranks that no test has created

  /// Makes a communicator of the application, with `ranks` ranks on devices 0, 1, ... Returns the handles by rank.
  std::vector<ncclapi::Comm> make(int ranks, bool blocking = true);
  /// Frees a handle of a communicator of the application. No call may use the handle from now on.
  void free(ncclapi::Comm comm);
  /// Makes the next call of nccl<function> return `result`. If `result` is an error, the call does nothing else.
  void fail(const std::string &function, ncclapi::Result result);
  /// Sets the state that CommGetAsyncError reports until the next call of asyncError().
  void asyncError(ncclapi::Comm comm, ncclapi::Result result);
  /// Makes the next communicator of the application reuse this freed handle.
  void reuse(ncclapi::Comm comm);

  // Results for tests:
  uint64_t used = 0;                  ///< calls that name a communicator
  uint64_t gathersBegun = 0;          ///< ranks' parts of gathers that a stream has started
  uint64_t registrations = 0;         ///< calls of CommWindowRegister, on all ranks
  uint64_t windowsMade = 0;           ///< number on all ranks
  uint64_t networksMade = 0;          ///< number on all ranks
  uint64_t partCalls = 0;             ///< device communicators that gc3 requests through part()
  uint64_t splits = 0;                ///< handles of gc3's children that were made
  uint64_t abortedSplits = 0;         ///< handles of gc3's children that were aborted
  std::vector<ncclapi::Comm> revoked; ///< revoked handles, in order of revocation
  /// Returns the number of signals that each rank of the last communicator with a network has.
  uint32_t signals() const;
  /// Returns the number of messages that had not landed when their sender's kernel ended.
  uint64_t messagesInFlight() const;
  /// Returns the number of signals with which receivers returned slots.
  uint64_t slotsReturned() const;
  /// Returns a text with the numbers of objects that are allocated and not freed: CUDA's resources, symmetric memory,
  /// windows, device communicators and gc3's children. Returns an empty string if there are none.
  std::string leaks() const;
  /// Returns true if the calling thread has an open group.
  static bool isGroupOpen();
  /// Returns gc3's children that are not freed, in order of creation.
  std::vector<ncclapi::Comm> children() const;
  /// Returns "c0" for the application's first handle, and "child of c0" for gc3's child of it.
  std::string name(ncclapi::Comm comm) const;

  /// Returns the application's calls since the last takeEvents(), such as "AllReduce(0x10, 0x20, 4, 7, 0, c0, 0x1)".
  std::vector<std::string> takeEvents();
  /// Returns the names of gc3's calls on communicators of the application, since the last takeProbes().
  std::vector<std::string> takeProbes();
  /// Hook that runs on the calling thread, without the monitor. It runs after the fake has recorded an event, before
  /// the call has an effect.
  std::function<void(const std::string &event)> onEvent;

  struct World;
  struct Member;
  struct State;

private:
  std::unique_ptr<State> state;
};

} // namespace gc3::test
