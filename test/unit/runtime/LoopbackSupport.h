// SPDX-License-Identifier: Apache-2.0
// Loopback worlds on the fake CUDA: all ranks of a program share one emulated GPU.
#pragma once

#include "BundleBuilder.h"
#include "FakeCuda.h"
#include "Programs.h"
#include "Trial.h"
#include "cuda/LoopbackWorld.h"

#include <gtest/gtest.h>

namespace gc3::test {

inline std::unique_ptr<bundle::BundleFile> open(const std::vector<ProgramSpec> &programs) {
  const std::string bytes = buildBundle(programs);
  std::unique_ptr<bundle::BundleFile> file;
  const bundle::BundleStatus status = bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file);
  EXPECT_TRUE(status.ok()) << status.message;
  return file;
}

/// Returns options with the same tuning for all protocols.
inline cuda::Options tuned(const cuda::Tuning &tuning) {
  return {.tuning = {tuning, tuning, tuning}};
}

/// Returns options with few threads, because emulated GPUs are slow, and with small slots, so that calls have several
/// tiles.
inline cuda::Options smallOptions() {
  cuda::Options options = tuned({.slotBytes = 256, .threads = 32});
  options.tuning[static_cast<uint32_t>(kernel::Protocol::LL128)].slotBytes =
      512; // a message has up to two chunk slots, and each needs two lines of 128 bytes
  return options;
}

/// A loopback world that runs the programs of a bundle. Calls use the first program by default.
class Loopback {
public:
  explicit Loopback(const ProgramSpec &spec, const cuda::Options &options = smallOptions())
      : Loopback(std::vector{spec}, options) {}
  explicit Loopback(const std::vector<ProgramSpec> &specs, const cuda::Options &options = smallOptions())
      : file(open(specs)), ranks(static_cast<uint32_t>(specs[0].ranks.size())),
        selection(*file, ranks, options.allowUnproven), name(specs[0].name),
        made(cuda::LoopbackWorld::make(FakeCuda::table(), *file, ranks, options).moveTo(world)) {
    for (const ProgramSpec &spec : specs) {
      core::Request request;
      request.kind = core::CallKind::Program;
      request.name = spec.name;
      loaded.push_back(nullptr);
      EXPECT_TRUE(selection.select(request).moveTo(loaded.back()).ok());
    }
  }

  Trial trial(const TrialOptions &options, uint32_t program = 0) {
    Trial trial(*file, program, *loaded[program], options);
    EXPECT_EQ(trial.prepare(), "");
    return trial;
  }

  /// The buffers of all ranks for one trial, in memory of the fake GPU.
  class Buffers {
  public:
    /// Places the buffers of rank r at `off` * r bytes after the beginning of an allocation.
    Buffers(FakeCuda &fake, const Trial &trial, size_t off = 0) : Buffers(trial, allocate(fake, trial, off)) {
      owner = &fake, this->off = off;
    }
    /// Places the buffers of rank r at `places[r]`, in memory of the caller.
    Buffers(const Trial &trial, std::vector<std::byte *> places) : trial(trial), memory(std::move(places)) {
      fill();
      for (uint32_t rank = 0; rank < memory.size(); ++rank)
        requests.push_back(trial.request(rank, memory[rank]));
    }
    ~Buffers() {
      for (size_t rank = 0; owner && rank < memory.size(); ++rank)
        owner->release(memory[rank] - off * rank);
    }
    Buffers(const Buffers &) = delete;
    Buffers &operator=(const Buffers &) = delete;

    void fill() {
      for (size_t rank = 0; rank < memory.size(); ++rank)
        std::copy(trial.initial()[rank].bytes.begin(), trial.initial()[rank].bytes.end(), memory[rank]);
    }
    std::string compare() const {
      std::vector<std::vector<std::byte>> after;
      for (size_t rank = 0; rank < memory.size(); ++rank)
        after.emplace_back(memory[rank], memory[rank] + trial.initial()[rank].bytes.size());
      return trial.compare(after);
    }
    std::vector<core::Request> requests;

  private:
    static std::vector<std::byte *> allocate(FakeCuda &fake, const Trial &trial, size_t off) {
      std::vector<std::byte *> places;
      for (const Trial::Memory &rank : trial.initial())
        places.push_back(fake.allocate(rank.bytes.size() + off * places.size()) + off * places.size());
      return places;
    }

    FakeCuda *owner = nullptr; ///< null: the caller owns the memory
    const Trial &trial;
    size_t off = 0;
    std::vector<std::byte *> memory;
  };

  /// Makes the call that `options` describe, and compares its results with those of the host. Returns an error message,
  /// or an empty string.
  std::string run(FakeCuda &fake, const TrialOptions &options, size_t off = 0, uint32_t program = 0) {
    const Trial wanted = trial(options, program);
    Buffers buffers(fake, wanted, off);
    if (core::Outcome outcome = world->call(buffers.requests, nullptr); !outcome.ok())
      return outcome.text;
    std::string problem = buffers.compare();
    return problem.empty() ? "" : wanted.describe() + ": " + problem;
  }

  std::unique_ptr<bundle::BundleFile> file;
  const uint32_t ranks;
  core::Selection selection;
  std::vector<const core::LoadedProgram *> loaded;
  const std::string name; ///< name of the first program
  std::unique_ptr<cuda::LoopbackWorld> world;
  core::Outcome made;
};

/// Returns a program in which each of two ranks receives from the other before it sends, so both wait indefinitely.
inline ProgramSpec deadlock() {
  ProgramSpec spec = shiftReversed(2, 1);
  spec.name = "deadlock";
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const auto peer = static_cast<int32_t>(1 - rank);
    spec.ranks[rank].blocks = {{peer, peer, 0, {{Opcode::Recv, {}, out(0), 1, {}}, {Opcode::Send, in(0), {}, 1, {}}}}};
  }
  return spec;
}

} // namespace gc3::test
