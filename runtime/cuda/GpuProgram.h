// SPDX-License-Identifier: Apache-2.0
// A program on one GPU, for the ranks that run there. Holds the program's image in device memory, which is written
// once, and chooses the number of threads per block.
#pragma once

#include "core/Arm.h"
#include "core/Selection.h"
#include "cuda/Resources.h"
#include "plan/ProgramImage.h"

#include <array>
#include <span>
#include <utility>

namespace gc3::cuda {

/// The GPU's properties that limit launches.
struct DeviceLimits {
  int device = 0;
  uint32_t multiprocessors = 0;
  uint32_t architecture = 0; ///< 90 means sm_90

  static core::Result<DeviceLimits> find(const Cuda &cuda);
  /// Describes the GPU for the file of learned times.
  std::string machine() const {
    return "sm_" + std::to_string(architecture) + ", " + std::to_string(multiprocessors) + " multiprocessors";
  }
};

inline constexpr uint32_t fewestThreads = 32;
inline constexpr uint32_t threadsPerMoveBlock = 256; ///< for kernels that multiply or divide elements

class GpuProgram {
public:
  /// How a program runs on a GPU.
  struct Terms {
    core::RankRange ranks; ///< the ranks on this GPU, which share a launch
    plan::SlotSizes sizes;
    /// Threads per block. 0: the largest number with which all blocks can run at the same time, together with
    /// `blocksOfOthers` blocks of concurrent launches.
    uint32_t threads = 0;
    uint32_t blocksOfOthers = 0;
    plan::DirectMessages direct{}; ///< empty under LL and LL128, like `switchSteps`
    plan::SwitchSteps switchSteps{};
  };

  /// `cuda`, `limits` and `program` must outlive this object.
  GpuProgram(const Cuda &cuda, const DeviceLimits &limits, const core::LoadedProgram &program, const Terms &terms,
             const Interpreters &interpreters);

  /// Allocates memory, and makes CUDA load all kernels that calls can launch. If the driver loaded a kernel at the
  /// kernel's first launch, the driver could wait for running kernels, which can wait for that launch. If `watched` is
  /// true, blocks publish whether they run.
  core::Outcome reserve(bool watched);
  /// Copies the image to the GPU on `stream`, and waits for the stream.
  core::Outcome write(const plan::ConnectionEnds &ends, Stream stream);

  /// Sets all fields of `call` except `memory`, `place` and `stop`, and chooses the kernel. Uses output parameters,
  /// because KernelArgs has kilobytes. Returns gc3InvalidArgument if the call is too large or the GPU does not support
  /// its type. Returns gc3InvalidUsage if the GPU cannot hold all blocks at once.
  core::Outcome prepare(const core::Request &request, uint64_t count, const core::Shape &shape,
                        kernel::KernelArgs &call, Launch &launch) const;

  /// Launches a kernel that prepare() has chosen.
  Result start(const Launch &launch) const { return interpreters.launch(launch); }

  /// Describes what the blocks of a stopped kernel waited for. Returns an empty text if they waited for nothing.
  core::Result<std::string> stallReport(Stream stream) const;

  /// Returns one word for each block, in which the block publishes whether it runs (kernel::KernelArgs::running).
  /// Returns an empty span if there is no watchdog.
  std::span<const uint64_t> running() const;

  const core::LoadedProgram &loaded() const { return program; }
  const plan::SlotSizes &slotSizes() const { return sizes; }
  core::RankRange ranks() const { return image.ranks(); }
  const plan::DirectMessages &directMessages() const { return image.directMessages(); }
  /// Returns true if there are versions of the steps for calls in which ranks compare places.
  bool dependsOnPlaces() const { return image.mayUseSwitch() || image.directMessages().dependOnCall(); }
  /// Returns the kernel for calls over the switch; null if there is none for the program, the type or the operation, or
  /// the GPU has no such instructions.
  const void *switchKernel(core::ElementType type, kernel::Operation op) const;
  /// Describes the protocol, slots, threads and memory, for the log.
  std::string conditions() const;

private:
  /// `threads` is the number of threads per block of a kernel, or 0 if the blocks do not fit. `capacity` is the number
  /// of blocks that fit with the last number of threads that was tried.
  struct Fit {
    uint32_t threads = 0;
    uint64_t capacity = 0;
  };
  std::pair<uint32_t, uint32_t> threads() const; ///< fewest and most threads per block, over all types
  core::Result<Fit> fit(const void *kernel, uint32_t most) const;
  core::Outcome fitKernels(core::ElementType type);
  core::Outcome reserveRunning();
  core::Outcome loadMoveKernels(core::ElementType type) const;
  const void *kernelOf(core::ElementType type) const;
  std::string name() const { return "program '" + program.program->info().name()->str() + "'"; }

  const Cuda &cuda;
  const DeviceLimits &limits;
  const core::LoadedProgram &program;
  const plan::SlotSizes sizes;
  const Interpreters interpreters;
  const uint32_t first, last; ///< largest and smallest number of threads per block to try
  const uint32_t blocksOfOthers;
  plan::ProgramImage image;
  const bool reduces;
  DeviceMemory memory;
  PinnedMemory runningWords;
  kernel::KernelArgs loadedCall{};                ///< has the addresses of the image
  std::array<Fit, core::elementTypeCount> fits{}; ///< indexed by type
};

/// Returns gc3InvalidArgument if the program reduces, and a GPU of this architecture cannot reduce the type.
core::Outcome checkType(const core::Program &program, core::ElementType type, uint32_t architecture);

/// Returns how many blocks of `kernel` the GPU can hold at the same time. Each block has `threads` threads.
core::Result<uint64_t> blocksThatFit(const Cuda &cuda, const Interpreters &interpreters, const DeviceLimits &limits,
                                     const void *kernel, uint32_t threads);

} // namespace gc3::cuda
