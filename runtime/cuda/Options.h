// SPDX-License-Identifier: Apache-2.0
// What callers may choose of communicators on GPUs, and the FIFO slots that follow from it.
#pragma once

#include "core/Choice.h"
#include "core/Settings.h"
#include "plan/Geometry.h"
#include "trace/TraceFile.h"

#include <array>

namespace gc3::cuda {

/// What may be chosen for each protocol. 0 stands for the default.
struct Tuning {
  uint32_t slots = 0;     ///< of each connection; default the program's
  uint64_t slotBytes = 0; ///< of a FIFO slot; default 512 KiB, 64 KiB under LL and 600 KiB under LL128, less where
                          ///< connections are many
  uint32_t threads = 0;   ///< of a block, a multiple of 32; default 512, fewer where that many blocks would not fit
};

struct Options {
  std::array<Tuning, kernel::protocolCount> tuning{}; ///< by protocol
  bool simple = false;                                ///< Simple, whatever a program was proven for
  bool strictLL128 = false;          ///< no program for LL128 runs under Simple where a link tears lines
  uint32_t timeoutMs = 0;            ///< how long a kernel may run; 0: for ever
  uint32_t joiningMs = 60'000;       ///< how long ranks wait, or for timeoutMs if that is longer, until all have joined
  bool mixesGraphs = true;           ///< replays of graphs keep an order with each other and with other calls
  bool allowUnproven = false;        ///< programs serve calls of standard collectives whatever they promise
  trace::TraceFile *trace = nullptr; ///< where calls of ranks that share a GPU are recorded; null: they are not
  std::string traceName{};           ///< of the files of ranks that have a GPU each (trace/RankFiles.h); empty: none
  core::ChoiceOptions choice{};      ///< of programs
  core::Outcome problem{};           ///< of where they come from: what can't be read there

  const Tuning &tuned(kernel::Protocol protocol) const { return tuning[static_cast<size_t>(protocol)]; }
};

/// Returns the options of a config, and of the settings where the config leaves a choice. Leaves out traces.
Options optionsOf(const gc3GpuConfig_t &config, const core::Settings &settings);
/// Returns the options of the process's settings. Leaves out traces.
Options environmentOptions(const core::Settings &settings = core::settings());

/// gc3InvalidArgument: out of range, or not readable.
core::Outcome check(const Options &options);

/// What programs of one protocol need of connections that share a piece of memory.
struct SlotNeeds {
  uint32_t slots = 1;       ///< of a connection
  uint32_t maxCount = 1;    ///< slots of the largest message
  uint64_t connections = 0; ///< whose slots lie in the piece

  void add(const core::Program &program);
};

/// Their slots; 1 GiB in all, unless asked for or a slot could not hold a line of each slot of its message then.
plan::SlotSizes chooseSlots(kernel::Protocol protocol, const SlotNeeds &needs, const Options &options);

/// False where the slots take more than 1 TiB.
bool isPossible(const plan::SlotSizes &sizes, uint64_t connections);

} // namespace gc3::cuda
