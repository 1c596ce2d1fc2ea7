// SPDX-License-Identifier: Apache-2.0
// A call of all ranks of a program with random data, in place or out of place. Compares the results with those of the
// same call on the host. Checks that no other memory has changed.
#pragma once

#include "Oracle.h"
#include "core/Selection.h"
#include "host/Random.h"

#include <vector>

namespace gc3::test {

/// Scalars by which ranks multiply their inputs before a sum: no scalars, values in the request, or pointers to memory.
enum class Scalars : uint8_t { None, Immediate, InMemory };

struct TrialOptions {
  uint64_t count = 1; ///< elements per block
  core::ElementType type = core::ElementType::Float;
  core::ReduceOp op = core::ReduceOp::Sum;
  bool inPlace = false;
  uint32_t misalignment = 0; ///< distance of each buffer from an aligned address, in elements
  uint64_t seed = 1;
  Scalars scalars = Scalars::None;
};

class Trial {
public:
  /// All arguments except the options must outlive this object.
  Trial(const bundle::BundleFile &file, uint32_t index, const core::LoadedProgram &program, const TrialOptions &options)
      : file(file), index(index), loaded(program), program(*program.program), options(options) {}

  /// Creates the data. Returns an error message, or an empty string.
  std::string prepare();
  /// Replaces the scalars in initial() by random ones.
  void drawScalars(uint64_t seed);
  /// Returns false if the options ask for an average and the program does not support averages.
  bool exists() const;

  /// Memory of a rank: both buffers, the bytes around them, and the scalar.
  struct Memory {
    std::vector<std::byte> bytes;
    size_t send, recv; ///< offsets of the buffers
    size_t scalar;     ///< offset of the scalar
  };
  const std::vector<Memory> &initial() const { return memory; }
  /// Returns the call of a rank whose memory begins at `base`.
  core::Request request(uint32_t rank, std::byte *base) const;

  /// Makes the call on the host, and sets `after` to the memory of all ranks after it. Returns an error message, or an
  /// empty string.
  std::string runOnHost(std::vector<std::vector<std::byte>> &after) const;
  /// Returns a hash of the outputs of all ranks, where `after` is their memory after the call.
  uint64_t hash(const std::vector<std::vector<std::byte>> &after) const;
  /// Returns a message if the call has changed memory that it must not change, otherwise an empty string.
  std::string compareRest(const std::vector<std::vector<std::byte>> &after) const;
  /// Compares the memory of all ranks after the call with that after the same call on the host. Returns a message about
  /// the first error, or an empty string.
  std::string compare(const std::vector<std::vector<std::byte>> &after) const;

  std::string describe() const;

private:
  void place(uint32_t rank, Memory &rankMemory) const;
  std::string compareRest(uint32_t rank, const std::vector<std::byte> &after) const;

  const bundle::BundleFile &file;
  const uint32_t index; ///< number of the program in the bundle
  const core::LoadedProgram &loaded;
  const core::Program &program;
  const TrialOptions options;
  bundle::CheckView check;
  core::Layout layout;
  std::vector<Memory> memory;
};

} // namespace gc3::test
