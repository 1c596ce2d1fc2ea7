// SPDX-License-Identifier: Apache-2.0
// A program on one GPU, for the ranks that run there: its image in device memory, made once, and how many threads its
// blocks have.
#pragma once

#include "core/Selection.h"
#include "cuda/Resources.h"
#include "plan/ProgramImage.h"

#include <array>
#include <span>
#include <utility>

namespace gc3::cuda {

/// What the GPU has room for.
struct Room {
  int device = 0;
  uint32_t multiprocessors = 0;
  uint32_t architecture = 0; ///< 90: sm_90

  static core::Result<Room> find(const Cuda &cuda);
};

inline constexpr uint32_t fewestThreads = 32;
inline constexpr uint32_t threadsOfMoves = 256; ///< of the kernels around the interpreter

class GpuProgram {
public:
  /// The references have to stay, but for the last two. `threads` of a block, or 0: as many as leave room for all
  /// blocks, those of other launches that have to run at the same time included.
  GpuProgram(const Cuda &cuda, const Room &room, const core::LoadedProgram &program, core::RankRange ranks,
             const plan::SlotSizes &sizes, const Interpreters &interpreters, uint32_t threads, uint32_t ofOthers = 0);

  /// Takes memory, and has the GPU know all kernels that calls may launch: a driver that loads one later may wait for
  /// what runs, which may wait for what comes behind.
  /// `watched`: its blocks say whether they run.
  core::Outcome reserve(bool watched);
  /// Writes the image over `stream`, which is idle after that.
  core::Outcome write(const plan::ConnectionEnds &ends, Stream stream);

  /// Fills in all of a call but its memory and the stop word, and chooses the kernel. Works in place, since a call
  /// takes kilobytes. gc3InvalidArgument: too large, or not for this GPU.
  core::Outcome prepare(const core::Request &request, uint64_t count, kernel::KernelArgs &call, Launch &launch) const;

  /// A launch that prepare() began.
  Result start(const Launch &launch) const { return interpreters.launch(launch); }

  /// What the blocks of a stopped kernel waited for; empty where they waited for nothing.
  core::Result<std::string> stallReport(Stream stream) const;

  /// By block: what it says (kernel::KernelArgs::running), if somebody watches.
  std::span<const uint64_t> running() const;

  const core::LoadedProgram &loaded() const { return program; }
  const plan::SlotSizes &slotSizes() const { return sizes; }
  core::RankRange ranks() const { return image.ranks(); }
  /// What it runs with, for the log.
  std::string conditions() const;

private:
  /// Threads of the blocks of a kernel, or 0 and for how many blocks there is room.
  struct Fit {
    uint32_t threads = 0;
    uint64_t room = 0;
  };
  std::pair<uint32_t, uint32_t> threads() const; ///< of a block, over all types: the fewest and the most
  core::Result<Fit> fit(const void *kernel) const;
  core::Outcome reserveRunning();
  core::Outcome knowMoves(core::ElementType type) const;
  const void *kernelOf(core::ElementType type) const;
  std::string name() const { return "program '" + program.program->info().name()->str() + "'"; }

  const Cuda &cuda;
  const Room &room;
  const core::LoadedProgram &program;
  const plan::SlotSizes sizes;
  const Interpreters interpreters;
  const uint32_t first, last; ///< threads of a block: the most and the fewest
  const uint32_t blocksOfOthers;
  const plan::ProgramImage image;
  const bool reduces;
  DeviceMemory memory;
  PinnedMemory runningWords;
  kernel::KernelArgs loadedCall{};                ///< where the image lies
  std::array<Fit, core::elementTypeCount> fits{}; ///< by type
};

/// gc3InvalidArgument: a GPU of that architecture can't reduce the type, and the program does.
core::Outcome checkType(const core::Program &program, core::ElementType type, uint32_t architecture);

/// How many blocks of so many threads of one of these kernels the GPU can hold at once.
core::Result<uint64_t> blocksThatFit(const Cuda &cuda, const Interpreters &interpreters, const Room &room,
                                     const void *kernel, uint32_t threads);

} // namespace gc3::cuda
