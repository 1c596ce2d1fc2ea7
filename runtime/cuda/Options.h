// SPDX-License-Identifier: Apache-2.0
// The caller's choices for communicators on GPUs, and the FIFO slots that follow from them.
#pragma once

#include "core/Choice.h"
#include "core/Settings.h"
#include "plan/Geometry.h"
#include "trace/TraceFile.h"

#include <array>

namespace gc3::cuda {

/// The choices for one protocol; 0 means the default.
struct Tuning {
  uint32_t slots = 0;     ///< per connection; default: the program's
  uint64_t slotBytes = 0; ///< bytes of a FIFO slot; default 512 KiB, 64 KiB under LL, 600 KiB under LL128, less if
                          ///< there are many connections
  uint32_t threads = 0;   ///< per block, a multiple of 32; default 512, fewer if not all blocks would fit
};

struct Options {
  std::array<Tuning, kernel::protocolCount> tuning{}; ///< by protocol
  bool simple = false;                                ///< run all programs under Simple, whatever they were proven for
  bool strictLL128 = false;    ///< refuse a program for LL128 if a link tears lines, instead of running it under Simple
  uint32_t timeoutMs = 0;      ///< time limit for a kernel; 0: none
  uint32_t joiningMs = 60'000; ///< time limit for ranks that wait until all have joined; timeoutMs if that is longer
  bool mixesGraphs = true;     ///< order replays of graphs with each other and with other calls
  bool allowUnproven = false;  ///< programs serve calls of standard collectives whatever they promise
  trace::TraceFile *trace = nullptr; ///< records calls of ranks that share a GPU there; null: does not record
  std::string traceName{}; ///< name of the trace files of ranks that have a GPU each (trace/RankFiles.h); empty: none
  core::ChoiceOptions choice{}; ///< of programs
  core::Outcome problem{};      ///< error while reading the choices, or success

  const Tuning &tuned(kernel::Protocol protocol) const { return tuning[static_cast<size_t>(protocol)]; }
};

/// Returns the options of a config, and of the settings if the config leaves a choice open. Does not set traces.
Options optionsOf(const gc3GpuConfig_t &config, const core::Settings &settings);
/// Returns the options of the process's settings. Does not set traces.
Options environmentOptions(const core::Settings &settings = core::settings());

/// Returns gc3InvalidArgument if an option is out of range or was not readable.
core::Outcome check(const Options &options);

/// The requirements of a protocol's programs for connections that share one memory segment.
struct SlotNeeds {
  uint32_t slots = 1;       ///< per connection
  uint32_t maxCount = 1;    ///< slots of the largest message
  uint64_t connections = 0; ///< number of connections with slots in the segment

  void add(const core::Program &program);
};

/// Chooses the slot sizes. The slots take at most 1 GiB in all, unless the options have a slot size, or a slot could
/// otherwise not hold a line for each slot of its largest message.
plan::SlotSizes chooseSlots(kernel::Protocol protocol, const SlotNeeds &needs, const Options &options);

/// Returns false if the slots take more than 1 TiB.
bool isPossible(const plan::SlotSizes &sizes, uint64_t connections);

} // namespace gc3::cuda
