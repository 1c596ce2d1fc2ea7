// SPDX-License-Identifier: Apache-2.0
// The caller's choices for communicators on GPUs, and the sizes of FIFO slots that follow from them.
#pragma once

#include "core/Arm.h"
#include "core/Choice.h"
#include "core/Settings.h"
#include "core/TuneOptions.h"
#include "plan/Geometry.h"
#include "trace/TraceFile.h"

#include <array>

namespace gc3::cuda {

/// The choices for one protocol; 0 means the default.
struct Tuning {
  uint32_t slots = 0;     ///< FIFO slots per connection; default: the number that the program states
  uint64_t slotBytes = 0; ///< bytes of a FIFO slot; default 512 KiB, 64 KiB under LL, 600 KiB under LL128, less if
                          ///< there are many connections
  uint32_t threads = 0;   ///< threads per block, a multiple of 32; default 512, fewer if not all blocks would fit
};

struct Options {
  std::array<Tuning, kernel::protocolCount> tuning{}; ///< indexed by protocol
  bool simple = false;      ///< run all programs under Simple, also those proven for LL or LL128
  bool strictLL128 = false; ///< refuse a program for LL128 if a link tears lines, instead of running it under Simple
  bool direct = true;       ///< ranks store messages into each other's buffers where they can
  bool overSwitch = false;  ///< ranks use the switch of their node where they can
  /// Smallest call in which ranks compare the places of their receive buffers, in bytes of a rank's larger buffer.
  /// Comparing takes two messages between the ranks.
  uint64_t leastPlacedBytes = 1 << 20;
  uint32_t timeoutMs = 0;      ///< time limit for a kernel; 0: none
  uint32_t joiningMs = 60'000; ///< time limit for the joining of all ranks; timeoutMs applies if it is longer
  bool mixesGraphs = true;     ///< order replays of graphs with each other and with other calls
  bool allowUnproven = false;  ///< accept programs that lack proofs or do not promise what their collective promises
  trace::TraceFile *trace = nullptr; ///< file for the times of ranks that share a GPU; null: none
  std::string traceName{}; ///< name of the trace files of ranks that have a GPU each (trace/RankFiles.h); empty: none
  core::ChoiceOptions choice{}; ///< the application's choice of programs
  core::TuneOptions tune{};     ///< online selection
  std::string secret{};         ///< of all ranks, for connections over TCP; empty: none
  std::string interfaces{};     ///< the network interfaces for the times of online selection; empty: all
  bool fallsBack = false;       ///< the application calls NCCL's functions; NCCL runs the calls that no program runs
  core::Outcome problem{};      ///< the first error in the choices, or Success

  const Tuning &tuned(kernel::Protocol protocol) const { return tuning[static_cast<size_t>(protocol)]; }
};

/// Returns the options for a config. If the config leaves a choice open, takes it from the settings. Does not set
/// `trace` and `traceName`.
Options optionsOf(const gc3GpuConfig_t &config, const core::Settings &settings);
/// Returns the options for `settings`. Does not set `trace` and `traceName`.
Options environmentOptions(const core::Settings &settings = core::settings());

/// Returns gc3InvalidArgument if an option is out of range or could not be read.
core::Outcome check(const Options &options);

/// The requirements of one protocol's programs. The slots of all their connections lie in one memory segment.
struct SlotNeeds {
  uint32_t slots = 1;       ///< FIFO slots per connection
  uint32_t maxCount = 1;    ///< buffer slots of the largest message
  uint64_t connections = 0; ///< number of connections with slots in the segment

  void add(const core::Program &program);
};

/// Chooses the number and size of FIFO slots. All FIFO slots together take at most 1 GiB, with two exceptions: the
/// options state a slot size, or a FIFO slot must be larger to hold one line for each buffer slot of the largest
/// message.
plan::SlotSizes chooseSlots(kernel::Protocol protocol, const SlotNeeds &needs, const Options &options);

/// Returns the shapes that calls on GPUs can have. Tiles can't be larger, because programs share the FIFO slots. The
/// GPU can hold all blocks with fewer threads if it can with more.
std::vector<core::Shape> gpuShapes();
/// Returns whether a call of about `bytes` bytes runs differently in a shape than in the default shape.
/// `hasChosenThreads`: the user has chosen the number of threads, which takes precedence.
bool shapeDiffers(const core::Program &program, const plan::SlotSizes &sizes, bool hasChosenThreads,
                  const core::Shape &shape, uint32_t elementBytes, uint64_t bytes);

/// Returns false if the slots of all connections take more than 1 TiB.
bool isPossible(const plan::SlotSizes &sizes, uint64_t connections);

} // namespace gc3::cuda
