// SPDX-License-Identifier: Apache-2.0
// Makes the calls that trials (Trial.h) describe on a real GPU, and compares their results with the host's.
#pragma once

#include "Trial.h"
#include "cuda/LoopbackWorld.h"

#include <string>

namespace gc3::test {

/// A program of a bundle, and the objects that a call of the program needs.
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
  /// Allocates and fills the buffers. This and the next functions return an error message, or an empty string.
  std::string make();
  std::string fill();
  std::string compare() const;
  /// Sets `after` to the contents of the buffers of all ranks.
  std::string read(std::vector<std::vector<std::byte>> &after) const;
  const std::vector<core::Request> &requests() const { return calls; }

private:
  const Trial &trial;
  std::vector<cuda::DeviceMemory> memory;
  std::vector<core::Request> calls;
};

/// Waits until the stream is idle. Meanwhile runs the world's watchdog. Returns an error message, or an empty string.
std::string finish(const Subject &subject);

/// Result of callOnce() if the GPU can't hold all thread blocks of a program at once. This is not an error of gc3.
inline constexpr const char *doesNotFit = "does not fit";

/// Makes the call that the trial describes, in `buffers`, and waits for its end. Returns an error message, an empty
/// string, or doesNotFit.
std::string run(const Subject &subject, Trial &trial, DeviceBuffers &buffers);
/// Makes a call and compares its results. Returns an error message, an empty string, or doesNotFit.
std::string callOnce(const Subject &subject, const TrialOptions &options);

/// Returns the largest count for which the host can repeat a call in about a second.
uint64_t mostCount(const Subject &subject);

/// Makes calls in place and out of place. Uses an odd count with every type and operation, and many counts with one
/// type and operation. Adds their number to `calls`. Returns an error message, an empty string, or doesNotFit.
std::string callAll(const Subject &subject, uint64_t &calls);
/// Makes `repeats` calls, one after the other, with random counts, types, operations and alignments. Returns an error
/// message, or an empty string.
std::string callOften(const Subject &subject, uint64_t repeats);
struct Totals {
  uint64_t programs = 0, calls = 0, tooLarge = 0;
};
/// Tests program `index` of a bundle, with all ranks in a LoopbackWorld that uses `cuda`: runs callAll(), replayGraph()
/// and callOften(), and adds to `totals`. Returns an error message, or an empty string.
std::string testProgram(const cuda::Cuda &cuda, const bundle::BundleFile &file, uint32_t index,
                        const cuda::Options &options, uint64_t repeats, cuda::Stream stream, Totals &totals);

/// Captures a call and replays it, with other calls between the replays. Returns an error message, or an empty string.
std::string replayGraph(const Subject &subject);

} // namespace gc3::test
