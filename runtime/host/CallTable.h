// SPDX-License-Identifier: Apache-2.0
// Maps the requests of all ranks to the prepared call that serves them. Keeps prepared calls for repeated requests.
// Destroys a call that is no longer needed as soon as no rank can be in it.
#pragma once

#include "core/LearnedTimes.h"
#include "core/OnlineSelection.h"
#include "host/PreparedCall.h"
#include "host/Random.h"
#include "host/WorkerPool.h"

namespace gc3::host {

struct CallOptions {
  core::LayoutOptions layout;
  uint32_t workers = 0; ///< 0: as many as the machine has threads
  bool adversarial = false;
  uint64_t seed = 0;
  bool allowUnproven = false;        ///< see Selection
  trace::TraceFile *trace = nullptr; ///< file for the times of calls; null: none
  core::Choice choice;               ///< the application's choice of programs
  core::TuneOptions tune;            ///< online selection
  select::TuneFile earlier;          ///< what earlier jobs have learned
  core::ChoiceOptions reports;       ///< how the application gets times
  core::Wiring wiring;               ///< of all ranks
};

/// The prepared call that all ranks have entered.
struct Entered {
  PreparedCall *call = nullptr; ///< null: nothing is left to do
  Sharing sharing{};            ///< argument of PreparedCall::sweep
};

class CallTable {
public:
  /// All arguments must outlive the table.
  CallTable(const bundle::BundleFile &bundleFile, const Site &ranks, const CallOptions &chosen);

  /// Finds or prepares the call for `requests`, which are indexed by rank, and lets the ranks of this process enter it
  /// as call `number`. All ranks must have ended their previous calls, in this table and others. Drops the calls in
  /// `entered`, which only some ranks have entered; these calls stay in memory until the next begin(). `arm` runs the
  /// call if it is set; it must be an arm of the requests. If all processes make the same calls of this function,
  /// and none returns gc3SystemError, they prepare the same calls, with the same ids. `isMapped`: the buffers of all
  /// ranks are in arenas.
  core::Result<Entered> begin(std::span<const core::Request> requests, uint64_t number,
                              std::span<const PreparedCall *const> entered, std::optional<core::Arm> arm = {},
                              bool isMapped = false);

  /// Returns the online selection for this table's programs. This table must outlive it.
  core::OnlineSelection makeOnline() {
    return {selection, options.tune, {site.ranks(), std::max(options.wiring.nodes, 1U)}, options.earlier, shapes()};
  }

  /// Returns a counter that increases each time that calls are dropped.
  uint64_t retirements() const { return retired.load(std::memory_order_acquire); }

  uint32_t rankCount() const { return site.ranks(); }
  /// Returns the prepared call with this id; null if there is none.
  const PreparedCall *withId(uint64_t id) const;
  /// Returns the program that would serve the request, or the error that a call with this request would return.
  core::Result<const core::LoadedProgram *> select(const core::Request &request) { return selection.select(request); }

  /// Returns the number of pool threads that speed the call up if one thread runs all ranks.
  uint32_t helpers(const PreparedCall &call) const;

private:
  core::ShapeRule shapes();
  bool differs(const core::Arm &arm, uint32_t elementBytes, uint64_t bytes);
  core::Result<PreparedCall *> find(const core::Request &request, std::optional<core::Arm> arm, bool isMapped);
  core::Result<const core::LoadedProgram *> programFor(const core::Request &request, std::optional<core::Arm> arm);
  core::Result<Sharing> enter(std::span<const core::Request> requests, uint64_t number, PreparedCall &call);
  uint64_t sharingFrom();
  core::LayoutOptions layoutFor(const core::LoadedProgram &program, const core::Request &request, int8_t tile);
  void retire(std::span<const PreparedCall *const> entered);
  void evict();
  uint64_t nextId(const core::LoadedProgram &program, int8_t tile);
  void drop(std::vector<std::unique_ptr<PreparedCall>> &unneeded);

  const bundle::BundleFile &file;
  const Site &site;
  const CallOptions options;
  core::Selection selection;
  Random random;
  std::vector<std::unique_ptr<PreparedCall>> calls;
  std::vector<std::unique_ptr<PreparedCall>> dropped; ///< dropped since the last begin()
  std::atomic<uint64_t> retired{0};
  uint64_t lastId = 0;                    ///< of the calls prepared so far
  std::optional<core::Timeline> timeline; ///< declared last, so that it is destroyed first, while its programs exist
};

} // namespace gc3::host
