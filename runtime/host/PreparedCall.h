// SPDX-License-Identifier: Apache-2.0
// A prepared call: program, layout, FIFOs, scratch and what else the calls of one kind (collective, count, type, ...)
// reuse, so that a repeated one allocates and computes nothing. Ranks enter it one by one, each on its own thread, and
// leave it when their own part is done: a rank may be in the next call while another is still in this one.
//
// Calls are numbered from 1, alike on all ranks. A rank's part in a call is stepped by whoever holds the rank, which
// may be any thread that knows that all ranks have entered.
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
  /// What a caller's bytes per rank have to be so that messages skip their slots: below, waiting until they have been
  /// fetched costs more than copying them.
  static constexpr uint64_t bytesWorthSharing = 4096;

  /// For calls like `request`, with a run as `options` say. gc3InvalidArgument, gc3SystemError.
  static core::Result<std::unique_ptr<PreparedCall>> prepare(const core::LoadedProgram &loaded,
                                                             const core::Request &request,
                                                             const core::LayoutOptions &options, uint64_t sharingFrom);

  /// Whether it serves the request, buffers aside.
  bool serves(const core::Request &request) const { return key.matches(request); }

  /// How a rank's buffers lie; gc3InvalidArgument where they can't.
  core::Result<core::Placement> place(uint32_t rank, const core::Request &request) const;
  /// Sets `placement`, and returns false where the buffers can't lie so. Repeated calls use this: it makes no text.
  bool places(uint32_t rank, const core::Request &request, core::Placement &placement) const {
    return !placer().findPlacement(rank, request, placement);
  }
  /// Whether enter() has the memory that such a placement needs; reserve() gets it.
  bool hasMemoryFor(uint32_t rank, core::Placement placement) const;
  core::Outcome reserve() { return staging.reserve(); }

  /// Before any rank enters: nothing is to be sent ahead, and memory that a program must write before it reads it holds
  /// what shows. For adversarial orders, which neither may narrow.
  void expectAdversary();
  /// From now on calls are noted in `calls`, which has to stay.
  void record(core::Timeline &calls) { timeline = &calls; }
  /// Rank `rank` begins call `number`, having ended its last one here, and does what it may do before it knows that the
  /// others have entered as well. A request that place() has taken.
  void enter(uint32_t rank, uint64_t number, const core::Request &request, core::Placement placement);
  /// What the rank's placement allows; the call may do what all ranks allow.
  Sharing sharing(uint32_t rank, core::Placement placement) const;

  /// Holds the rank, if nobody else does, and runs as much of its part in call `number` as can be run. All ranks have
  /// entered; `sharing` is what all of them allow. Returns whether anything moved.
  bool sweep(uint32_t rank, uint64_t number, Sharing sharing);
  /// Whether the part of a rank is done but for leave(). What others wrote for the rank is visible then.
  bool finished(uint32_t rank, uint64_t number) const {
    return parts[rank].finished.load(std::memory_order_acquire) >= number;
  }
  /// The last copies, on the rank's own thread, after finished().
  void leave(uint32_t rank);

  /// Holds all ranks and, if none of them can move, stops the call for good: nothing is ever finished any more.
  void diagnose(uint64_t number, Sharing sharing);
  bool stopped() const { return isStopped.load(std::memory_order_acquire); }
  /// After stopped(): who waits for whom.
  const std::string &deadlock() const { return explanation; }

  /// The whole call at once on this thread, in an order that the seed chooses. All ranks have entered.
  core::Outcome runAdversarial(uint64_t number, Sharing sharing, uint64_t seed);

  uint32_t ranks() const { return program.ranks(); }
  /// Bytes of the inputs or outputs of all ranks, whichever are larger.
  uint64_t dataBytes() const;
  /// Memory that it keeps.
  uint64_t memoryBytes() const;

  /// Where threads without work doze; woken when a rank is finished by another's thread.
  Parking dozing;

private:
  struct alignas(linePair) RankPart {
    uint64_t number = 0; ///< the last call entered; guarded by holding the rank, as is all of this
    bool open = false;   ///< the copies that precede the run are made
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
  std::string name; ///< what key.name views
  core::Request key;
  /// For programs that need whole slots, where the count does not give them: the caller's side.
  struct Padded {
    core::Layout layout;
    core::Placer placer;
    Padding padding;
  };
  std::unique_ptr<Padded> padded;
  core::Layout layout; ///< of the run
  Staging staging;
  Memory fifoMemory, scratchMemory;
  std::unique_ptr<RankPart[]> parts;
  std::optional<Run> run;
  bool worthSharing = false; ///< that messages skip their slots
  bool streams = false, sendsAhead = true;
  core::Timeline *timeline = nullptr;
  std::atomic<bool> diagnosing{false};
  std::atomic<bool> isStopped{false};
  std::string explanation; ///< written before isStopped
};

} // namespace gc3::host
