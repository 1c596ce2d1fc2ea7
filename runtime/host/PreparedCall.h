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
#include "host/Padding.h"
#include "host/Parking.h"
#include "host/Run.h"
#include "host/Staging.h"

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

  /// Returns whether messages of calls can skip their slots. `bytes` are those of a rank.
  static bool isWorthSharing(const core::LoadedProgram &loaded, uint64_t bytes, uint64_t sharingFrom) {
    return (loaded.asWritten->any() || loaded.inPlace->any()) && bytes >= sharingFrom;
  }
  /// Returns the options of calls whose messages can skip their slots: their slots have another size by default.
  static core::LayoutOptions sharingLayout(core::LayoutOptions options, uint32_t ranks);

  /// Prepares calls like `request`, with the layout of `options`. Messages can skip their slots if a rank has
  /// `sharingFrom` bytes or more. Returns gc3InvalidArgument or gc3SystemError.
  static core::Result<std::unique_ptr<PreparedCall>> prepare(const core::LoadedProgram &loaded,
                                                             const core::Request &request,
                                                             const core::LayoutOptions &options, uint64_t sharingFrom);

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
  core::Outcome reserve() { return staging.reserve(); }

  /// Prepares for adversarial orders; call it before any rank enters. Ranks then do not send ahead, because that would
  /// restrict the orders. Fills FIFOs and scratch with conspicuous bytes, because a program must write there before it
  /// reads.
  void expectAdversary();
  /// Records all later calls in `calls`, which must outlive this object.
  void record(core::Timeline &calls) { timeline = &calls; }
  /// Begins call `number` on rank `rank`, which must have ended its previous call here. Does the work that is allowed
  /// before the other ranks are known to have entered. place() must have accepted the request.
  void enter(uint32_t rank, uint64_t number, const core::Request &request, core::Placement placement);
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

  /// Holds all ranks. If none of them can make progress, stops the call permanently: no rank finishes it.
  void diagnose(uint64_t number, Sharing sharing);
  bool stopped() const { return isStopped.load(std::memory_order_acquire); }
  /// Returns the explanation of the deadlock; valid after stopped().
  const std::string &deadlock() const { return explanation; }

  /// Runs the whole call on this thread, in an order that the seed determines. All ranks must have entered.
  core::Outcome runAdversarial(uint64_t number, Sharing sharing, uint64_t seed);

  uint32_t ranks() const { return program.ranks(); }
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
    bool open = false;   ///< the copies before the run have been made
    core::Placement placement = core::Placement::Apart;
    core::Request request;
    core::Recording *recording = nullptr;
    std::atomic<uint64_t> finished{0};
  };

  const core::Placer &placer() const { return padded ? padded->placer : staging.placer(); }
  explicit PreparedCall(const core::LoadedProgram &chosen) : loaded(chosen), program(*chosen.program) {}
  core::Outcome build(const core::Request &request, const core::LayoutOptions &options, uint64_t sharingFrom);
  void open(uint32_t rank, Sharing sharing);
  bool sweepHeld(uint32_t rank, uint64_t number, Sharing sharing);
  void hold(uint32_t rank);

  const core::LoadedProgram &loaded;
  const core::Program &program;
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
  Memory fifoMemory, scratchMemory;
  std::unique_ptr<RankPart[]> parts;
  std::optional<Run> run;
  bool worthSharing = false; ///< messages can skip their slots
  bool streams = false, sendsAhead = true;
  core::Timeline *timeline = nullptr;
  std::atomic<bool> diagnosing{false};
  std::atomic<bool> isStopped{false};
  std::string explanation; ///< written before isStopped is set
};

} // namespace gc3::host
