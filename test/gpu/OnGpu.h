// SPDX-License-Identifier: Apache-2.0
// Makes the calls of trials on a real GPU and compares their results.
#pragma once

#include "Trial.h"
#include "cuda/LoopbackWorld.h"

#include <string>

namespace gc3::test {

/// A program of a bundle and everything that a call of it needs.
struct Subject {
  const bundle::BundleFile &file;
  uint32_t index; ///< number of the program
  const core::LoadedProgram &loaded;
  cuda::LoopbackWorld &world;
  cuda::Stream stream;
};

/// The buffers of a trial in device memory.
class DeviceBuffers {
public:
  explicit DeviceBuffers(const Trial &trial) : trial(trial) {}
  /// Allocates and fills the buffers. Like the following functions, returns an error message or an empty string.
  std::string make();
  std::string fill();
  std::string compare() const;
  const std::vector<core::Request> &requests() const { return calls; }

private:
  const Trial &trial;
  std::vector<cuda::DeviceMemory> memory;
  std::vector<core::Request> calls;
};

/// Waits for the stream and runs the world's watchdog meanwhile.
std::string finish(const Subject &subject);

/// Result if the GPU can't run all thread blocks at once. This is not an error of gc3.
inline constexpr const char *doesNotFit = "does not fit";

/// Makes a call and compares its results. Returns an error message, an empty string, or doesNotFit.
std::string callOnce(const Subject &subject, const TrialOptions &options);

/// Returns the largest count with which the host repeats a call in about a second.
uint64_t mostCount(const Subject &subject);

/// Makes calls in place and out of place: with every type and operation for an odd count, and with many counts for one
/// type and operation.
std::string callAll(const Subject &subject, uint64_t &calls);
/// Makes `repeats` consecutive calls of random sizes, types and placements.
std::string callOften(const Subject &subject, uint64_t repeats);
struct Totals {
  uint64_t programs = 0, calls = 0, tooLarge = 0;
};
/// Tests a program of a bundle in a world that uses `cuda`: callAll(), replayGraph() and callOften(). Returns an error
/// message, or an empty string.
std::string testProgram(const cuda::Cuda &cuda, const bundle::BundleFile &file, uint32_t index,
                        const cuda::Options &options, uint64_t repeats, cuda::Stream stream, Totals &totals);

/// Captures a call and replays it, with other calls between replays.
std::string replayGraph(const Subject &subject);

} // namespace gc3::test
