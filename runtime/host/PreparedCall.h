// SPDX-License-Identifier: Apache-2.0
// A prepared call holds the program, layout, FIFOs, scratch and other state that all calls of one kind (collective,
// count, type, ...) reuse. So a repeated call allocates and computes nothing. Ranks enter the call one by one, each on
// its own thread, and leave it when their own part is done. So a rank can be in the next call while another rank is
// still in this one.
//
// Calls are numbered from 1, identically on all ranks. The thread that holds a rank runs the steps of the rank's part.
// Any thread that knows that all ranks have entered may hold any rank.
#pragma once

#include "core/Selection.h"
#include "host/Mirror.h"
#include "host/Padding.h"
#include "host/Parking.h"
#include "host/Run.h"
#include "host/SiteMemory.h"
#include "host/Staging.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace gc3::host {

class PreparedCall {
public:
  /// The smallest number of bytes per rank for which messages skip their slots. For fewer bytes, waiting until messages
  /// have been fetched costs more than copying them.
  static constexpr uint64_t bytesWorthSharing = 4096;

  struct Options {
    core::LayoutOptions layout;
    uint64_t sharingFrom = 0; ///< messages can skip their slots if a rank has this number of bytes or more
    uint64_t id = 0;          ///< not 0; equal in all processes of the communicator
    bool isMapped = false;    ///< calls usually have all buffers in arenas, see Sharing::Mapped
  };
  /// Returns whether messages of calls can skip their slots. `bytes` are those of a rank.
  static bool isWorthSharing(const core::LoadedProgram &loaded, const Site &site, uint64_t bytes,
                             uint64_t sharingFrom) {
    return site.sharesBuffers() && (loaded.asWritten->any() || loaded.inPlace->any()) && bytes >= sharingFrom;
  }
  /// Returns the options of calls whose messages can skip their slots: their slots have another size by default.
  static core::LayoutOptions sharingLayout(core::LayoutOptions options, const Site &site, bool isMapped);

  /// Prepares calls like `request`. `loaded` and `site` must outlive the result. Returns gc3InvalidArgument or
  /// gc3SystemError.
  static core::Result<std::unique_ptr<PreparedCall>> prepare(const core::LoadedProgram &loaded, const Site &site,
                                                             const core::Request &request, const Options &options);

  ~PreparedCall();

  uint64_t id() const { return ownId; }
  /// Returns the request for which this call was prepared. It has no buffers.
  const core::Request &request() const { return key; }

  /// Returns whether this call serves the request, ignoring its buffers.
  bool serves(const core::Request &request) const { return key.matches(request); }

  /// Determines how a rank's buffers overlap. Returns gc3InvalidArgument if the overlap is invalid.
  core::Result<core::Placement> place(uint32_t rank, const core::Request &request) const;
  /// Sets `placement`, or returns false if the overlap is invalid. Repeated calls use this function, because it builds
  /// no text.
  bool tryPlace(uint32_t rank, const core::Request &request, core::Placement &placement) const {
    return !placer().findPlacement(rank, request, placement);
  }
  /// Returns whether the memory that enter() needs for this placement is allocated. reserve() allocates it.
  bool hasMemoryFor(uint32_t rank, core::Placement placement) const;
  core::Outcome reserve() { return staging.reserve(home); }

  /// Prepares for adversarial orders; call it before any rank enters. Ranks then do not send ahead, because that would
  /// restrict the orders. Fills FIFOs and scratch with conspicuous bytes, because a program must write there before it
  /// reads.
  void expectAdversary();
  /// Records all later calls in `calls`, which must outlive this object.
  void record(core::Timeline &calls) { timeline = &calls; }
  /// Begins call `number` on rank `rank`, which must have ended its previous call here. Does the work that is allowed
  /// before the other ranks are known to have entered. place() must have accepted the request.
  void enter(uint32_t rank, uint64_t number, const core::Request &request, core::Placement placement);
  /// Returns the number of the last call that a rank of this process has entered; 0 if there is none.
  uint64_t lastEntered(uint32_t rank) const { return parts[rank].number; }
  /// Notes the buffers of a rank of another process in the call that all ranks have entered. No rank of this process
  /// may be running. `request` has the addresses of the rank's buffers in process `process`; 0: in this process.
  void meet(uint32_t rank, core::Placement placement, const core::Request &request, int process, Sharing sharing);
  /// Returns the sharing that the rank's placement allows. A call can use the sharing that all ranks allow.
  Sharing sharing(uint32_t rank, core::Placement placement) const;

  /// Runs as much as possible of the rank's part in call `number`, if no other thread holds the rank. All ranks must
  /// have entered. `sharing` is the sharing that all ranks allow. Returns whether the rank made progress.
  bool sweep(uint32_t rank, uint64_t number, Sharing sharing);
  /// Returns whether a rank's part is done, except leave(). Data that other ranks wrote for this rank is then visible.
  bool finished(uint32_t rank, uint64_t number) const {
    return parts[rank].finished.load(std::memory_order_acquire) >= number;
  }
  /// Makes the copies after the run. Call it on the rank's own thread, after finished() returns true.
  void leave(uint32_t rank);

  /// How long a thread has waited for other processes.
  struct Patience {
    std::optional<std::chrono::steady_clock::time_point> since; ///< no value: the thread has just made progress
    uint64_t messages = 0;                                      ///< that all ranks had moved at that time
  };
  /// Holds all ranks of this process. If none of them can make progress, stops the call permanently, so that no rank of
  /// the process finishes it: if the site is whole, at once; else if a rank is lost, or if no rank of any process has
  /// moved a message within the site's time limit.
  void diagnose(uint64_t number, Sharing sharing, Patience &patience);
  /// Sends and receives messages of other hosts, if there are any. Returns whether any has arrived.
  bool exchange() const;
  /// Lets a thread without work sleep until another host or thread may have work for it, or until the deadline. It must
  /// not hold a rank. `over` returns whether there is work.
  template <typename Over>
  void rest(std::chrono::steady_clock::time_point deadline, Over over) {
    if (!sleepForHosts(deadline))
      idleThreads.sleepUntil(deadline, over);
  }
  bool stopped() const { return isStopped.load(std::memory_order_acquire); }
  /// Returns the reason; valid after stopped().
  const core::Outcome &failure() const { return reason; }

  /// Runs this process's part of the call on this thread, in an order that the seed determines. All ranks must have
  /// entered.
  core::Outcome runAdversarial(uint64_t number, Sharing sharing, uint64_t seed);

  /// Releases the memory that processes share. No rank of any process may enter the call again.
  void discard();

  const Site &site() const { return home; }
  const core::LoadedProgram &loadedProgram() const { return loaded; }
  int8_t tile() const { return layout.options.tile; }
  /// Returns the sum over all ranks of the bytes of the rank's input or output, whichever is larger.
  uint64_t dataBytes() const;
  /// Returns the bytes of memory that this object keeps.
  uint64_t memoryBytes() const;

  /// Threads without work sleep here. A thread that finishes another thread's rank wakes them.
  Parking idleThreads;

private:
  struct alignas(linePair) RankPart {
    uint64_t number = 0; ///< the last call entered; only the holder accesses the fields, except `finished`
    uint64_t calls = 0;  ///< that all ranks are known to have entered
    bool open = false;   ///< the copies before the run have been made
    core::Placement placement = core::Placement::Apart;
    core::Request request;
    core::Recording *recording = nullptr;
    std::atomic<uint64_t> finished{0};
  };

  const core::Placer &placer() const { return padded ? padded->placer : staging.placer(); }
  PreparedCall(const core::LoadedProgram &chosen, const Site &ranks, uint64_t id)
      : loaded(chosen), program(*chosen.program), home(ranks), ownId(id) {}
  core::Outcome build(const core::Request &request, const Options &options);
  void open(uint32_t rank, Sharing sharing);
  void connectHosts();
  bool sleepForHosts(std::chrono::steady_clock::time_point deadline) const;
  bool sweepHeld(uint32_t rank, uint64_t number, Sharing sharing);
  void hold(uint32_t rank);
  void stop(core::Outcome why);
  core::Outcome findFailure(Patience &patience) const;

  const core::LoadedProgram &loaded;
  const core::Program &program;
  const Site &home;
  const uint64_t ownId;
  std::string name; ///< storage of key.name
  core::Request key;
  /// The caller's buffers in a padded call. A call is padded if the program needs whole slots, but some slots of these
  /// buffers are short.
  struct Padded {
    core::Layout layout;
    core::Placer placer;
    Padding padding;
  };
  std::unique_ptr<Padded> padded;
  core::Layout layout; ///< layout of the run
  Staging staging;
  SiteMemory fifos, scratchMemory;
  std::unique_ptr<RankPart[]> parts;
  std::optional<Run> run;
  std::unique_ptr<Mirror> mirror; ///< null if all ranks are on this host
  bool worthSharing = false;      ///< messages can skip their slots
  bool streams = false, sendsAhead = true;
  core::Timeline *timeline = nullptr;
  std::atomic<bool> diagnosing{false};
  std::atomic<bool> isStopped{false};
  core::Outcome reason; ///< written before isStopped is set
};

} // namespace gc3::host
