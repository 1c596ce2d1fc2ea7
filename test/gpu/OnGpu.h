// SPDX-License-Identifier: Apache-2.0
// Calls on a real GPU, whose outcome a trial knows.
#pragma once

#include "Trial.h"
#include "cuda/LoopbackWorld.h"

#include <string>

namespace gc3::test {

/// One program of a bundle, ready to be called.
struct Subject {
  const bundle::BundleFile &file;
  uint32_t index; ///< of the program
  const core::LoadedProgram &loaded;
  cuda::LoopbackWorld &world;
  cuda::Stream stream;
};

/// The buffers of a trial in device memory.
class DeviceBuffers {
public:
  explicit DeviceBuffers(const Trial &trial) : trial(trial) {}
  /// Takes memory and fills it. What went wrong, or an empty string, as of the others.
  std::string make();
  std::string fill();
  std::string compare() const;
  const std::vector<core::Request> &requests() const { return calls; }

private:
  const Trial &trial;
  std::vector<cuda::DeviceMemory> memory;
  std::vector<core::Request> calls;
};

/// Waits for the stream, under the eyes of the world's watchdog.
std::string finish(const Subject &subject);

/// A refusal that is none of gc3's faults: the GPU has no room for so many blocks.
inline constexpr const char *noRoom = "no room";

/// One call, compared. What is wrong, or an empty string, or noRoom.
std::string callOnce(const Subject &subject, const TrialOptions &options);

/// The largest count for which the host still repeats a call quickly.
uint64_t mostCount(const Subject &subject);

/// Every type and operation with an odd count, and many counts with one of each, in place and not.
std::string callAll(const Subject &subject, uint64_t &calls);
/// `repeats` calls one after the other, of random sizes, types and placements.
std::string callOften(const Subject &subject, uint64_t repeats);
struct Totals {
  uint64_t programs = 0, calls = 0, withoutRoom = 0;
};
/// All of these for one program of a bundle, whose world is over `cuda`. What is wrong, or an empty string.
std::string testProgram(const cuda::Cuda &cuda, const bundle::BundleFile &file, uint32_t index,
                        const cuda::Options &options, uint64_t repeats, cuda::Stream stream, Totals &totals);

/// Captures a call and replays it, with other calls in between.
std::string replayGraph(const Subject &subject);

} // namespace gc3::test
