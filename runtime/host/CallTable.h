// SPDX-License-Identifier: Apache-2.0
// From the requests of all ranks to the prepared call that serves them. Keeps prepared calls, so that a repeated one is
// found; those that are no longer wanted go when no rank can be in them.
#pragma once

#include "host/PreparedCall.h"
#include "host/Random.h"
#include "host/WorkerPool.h"

namespace gc3::host {

struct CallOptions {
  core::LayoutOptions layout;
  uint32_t workers = 0; ///< 0: the machine's
  bool adversarial = false;
  uint64_t seed = 0;
  bool allowUnproven = false;        ///< see Selection
  trace::TraceFile *trace = nullptr; ///< where calls are recorded; null: they are not
  core::Choice choice;               ///< of programs
};

/// A prepared call that all ranks have entered.
struct Entered {
  PreparedCall *call = nullptr; ///< null: there is nothing left to do
  Sharing sharing{};            ///< what PreparedCall::sweep wants to know
};

class CallTable {
public:
  CallTable(const bundle::BundleFile &file, uint32_t rankCount, const CallOptions &chosen);

  /// Finds or prepares the call that `requests` make together, one by rank, and has all ranks enter it as call
  /// `number`. All ranks have ended their last calls, here and elsewhere. Drops the calls that only some ranks have
  /// `entered`; these calls stay in memory until the next begin().
  core::Result<Entered> begin(std::span<const core::Request> requests, uint64_t number,
                              std::span<const PreparedCall *const> entered);

  /// Rises with each call that is given up.
  uint64_t retirements() const { return retired.load(std::memory_order_acquire); }

  /// The program that such a call would run; errors as for the call.
  core::Result<const core::LoadedProgram *> select(const core::Request &request) { return selection.select(request); }

  /// Pool threads that such a call is worth where one thread brings all ranks.
  uint32_t helpers(const PreparedCall &call) const;

private:
  core::Result<PreparedCall *> find(const core::Request &request);
  core::Result<Sharing> enter(std::span<const core::Request> requests, uint64_t number, PreparedCall &call);
  uint64_t sharingFrom();
  core::LayoutOptions layoutFor(const core::LoadedProgram &program, const core::Request &request);
  void retire(std::span<const PreparedCall *const> entered);
  void makeRoom();

  const uint32_t ranks;
  const CallOptions options;
  core::Selection selection;
  Random random;
  std::vector<std::unique_ptr<PreparedCall>> calls;
  std::vector<std::unique_ptr<PreparedCall>> leaving; ///< given up since the last begin()
  std::atomic<uint64_t> retired{0};
  std::optional<core::Timeline> timeline; ///< goes first, while its programs are there
};

} // namespace gc3::host
