// SPDX-License-Identifier: Apache-2.0
// A call of all ranks of a program with random data, in place or not, and what it should leave: the host makes the same
// call, and what may not change is compared as well.
#pragma once

#include "Oracle.h"
#include "core/Selection.h"
#include "host/Random.h"

#include <vector>

namespace gc3::test {

/// Whether ranks multiply their inputs before a sum, each by a scalar of its own, and where that is.
enum class Scalars : uint8_t { None, Immediate, InMemory };

struct TrialOptions {
  uint64_t count = 1; ///< elements per block
  core::ElementType type = core::ElementType::Float;
  core::ReduceOp op = core::ReduceOp::Sum;
  bool inPlace = false;
  uint32_t misalignment = 0; ///< elements by which buffers are off
  uint64_t seed = 1;
  Scalars scalars = Scalars::None;
};

class Trial {
public:
  /// All but the options have to stay.
  Trial(const bundle::BundleFile &file, uint32_t index, const core::LoadedProgram &program, const TrialOptions &options)
      : file(file), index(index), loaded(program), program(*program.program), options(options) {}

  /// Makes the data. What is wrong, or an empty string.
  std::string prepare();
  /// Other scalars in initial(), for calls that find them in memory.
  void drawScalars(uint64_t seed);
  /// Whether the program has such a call at all.
  bool exists() const;

  /// One rank's memory: both buffers, and what lies around them.
  struct Memory {
    std::vector<std::byte> bytes;
    size_t send, recv; ///< where the buffers begin
    size_t scalar;     ///< where that of its own is
  };
  const std::vector<Memory> &initial() const { return memory; }
  /// The call of a rank whose memory lies at `base`.
  core::Request request(uint32_t rank, std::byte *base) const;

  /// What is wrong with the memory of all ranks after the call, or an empty string.
  std::string compare(const std::vector<std::vector<std::byte>> &after) const;

  std::string describe() const;

private:
  void place(uint32_t rank, Memory &rankMemory) const;
  std::string compareRest(uint32_t rank, const std::vector<std::byte> &after) const;

  const bundle::BundleFile &file;
  const uint32_t index; ///< of the program in the bundle
  const core::LoadedProgram &loaded;
  const core::Program &program;
  const TrialOptions options;
  bundle::CheckView check;
  core::Layout layout;
  std::vector<Memory> memory;
};

} // namespace gc3::test
