// SPDX-License-Identifier: Apache-2.0
// Support for tests with all ranks of a communicator over the fakes. One thread makes all calls.
#pragma once

#include "FakeNccl.h"
#include "LoopbackSupport.h"
#include "Programs.h"
#include "comm/CallGroup.h"
#include "comm/Registry.h"

namespace gc3::test {

/// Returns a program in which ranks 2n and 2n + 1 exchange a chunk. These ranks form a node if a node has two ranks.
inline ProgramSpec pairs(uint32_t ranks) {
  ProgramSpec spec = shiftReversed(ranks, 1);
  spec.name = "pairs";
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const auto peer = static_cast<int32_t>(rank ^ 1);
    spec.ranks[rank].blocks = {{peer, peer, 0, {{Opcode::Send, in(0), {}, 1, {}}, {Opcode::Recv, {}, out(0), 1, {}}}}};
    spec.outputs[rank] = {{{rank ^ 1, 0}}};
  }
  return spec;
}

/// Returns `spec` with the given protocol, and with a name that contains the protocol's number.
inline ProgramSpec under(kernel::Protocol protocol, ProgramSpec spec) {
  spec.protocol = static_cast<uint8_t>(protocol);
  spec.name += "_" + std::to_string(spec.protocol);
  return spec;
}

/// Returns a new setup for one rank: the fakes, the bundles and the options.
inline std::shared_ptr<comm::Setup> setupOf(FakeNccl &nccl, const comm::ProgramTable::Files &files,
                                            const cuda::Options &options = smallOptions()) {
  // Never destroyed: communicators refer to the tables until the process ends.
  static auto &tables = *new std::deque<ncclapi::Nccl>;
  tables.push_back(nccl.table());
  const core::Outcome none;
  return std::make_shared<comm::Setup>(
      comm::Setup{{FakeCuda::table(), tables.back(), nccl.hasPart ? &FakeNccl::part : nullptr}, files, none, options});
}

inline bool isRunByNccl(const comm::CallGroup::Call &call) {
  return call.state == comm::CallGroup::Call::State::Nccl;
}

/// Aborts a communicator as ncclCommAbort of its parent does. `parent` may be null after the communicator has joined.
inline void abort(const std::shared_ptr<comm::Communicator> &communicator, ncclapi::Comm parent = nullptr) {
  if (communicator->abort()) {
    reinterpret_cast<ncclapi::signature::CommRevoke *>(FakeNccl::applicationFunction("CommRevoke"))(parent, 0);
    communicator->awaitSplit();
  }
  communicator->release();
}
/// Ends all ranks of a communicator, and waits until the registry has released them.
inline void endAll(std::vector<std::shared_ptr<comm::Communicator>> &ranks) {
  for (const auto &rank : ranks)
    rank->finalize(false); // a rank can wait for the others, so all ranks begin to shut down before the first wait
  for (const auto &rank : ranks) {
    rank->finalize(true);
    rank->release();
  }
  for (const auto &rank : ranks) {
    while (!rank->isClosed())
      std::this_thread::yield();
  }
  ranks.clear();
  comm::Registry::ofProcess().sweep();
}

/// Has all ranks join, and waits until they have joined.
inline void joinAll(const std::vector<std::shared_ptr<comm::Communicator>> &ranks) {
  for (const auto &rank : ranks)
    rank->beginJoin();
  for (const auto &rank : ranks)
    rank->awaitJoin();
}

/// Has ranks join, each with its own setup, and ends them. Returns for each rank why it can't run programs, or success
/// if it can.
inline std::vector<core::Outcome> joinOutcomes(const std::vector<ncclapi::Comm> &comms,
                                               const std::vector<std::shared_ptr<comm::Setup>> &setups) {
  std::vector<std::shared_ptr<comm::Communicator>> ranks;
  for (size_t rank = 0; rank < setups.size(); ++rank) {
    ranks.push_back(std::make_shared<comm::Communicator>(setups[rank], comms[rank], comm::WaitLimits{0, 60'000}));
    comm::Registry::ofProcess().add(ranks.back());
  }
  joinAll(ranks);
  std::vector<core::Outcome> outcomes;
  for (const auto &rank : ranks) {
    const core::Outcome error = rank->status().error;
    outcomes.push_back(error.ok() ? rank->refusal() : error);
  }
  endAll(ranks);
  return outcomes;
}

/// Calls `condition` until it is true.
template <typename Condition>
void awaitThat(Condition condition) {
  while (!condition())
    std::this_thread::yield();
}

/// Waits until gc3 has stopped a kernel of the rank and read its report. Returns the rank's error.
inline std::string awaitStopReport(const comm::Communicator &rank) {
  std::string text;
  awaitThat([&] {
    text = rank.status().error.text;
    return text.find("was stopped") != std::string::npos;
  });
  return text;
}

class CommWorld {
public:
  CommWorld(FakeCuda &cuda, FakeNccl &fakeNccl, const std::vector<ProgramSpec> &specs,
            const cuda::Options &options = smallOptions())
      : CommWorld(cuda, fakeNccl, open(specs), options) {}
  /// All programs of `bundle` have the same number of ranks.
  CommWorld(FakeCuda &cuda, FakeNccl &fakeNccl, std::shared_ptr<const bundle::BundleFile> bundle,
            const cuda::Options &options)
      : cuda(cuda), nccl(fakeNccl), file(std::move(bundle)),
        comms(nccl.make(static_cast<int>(file->program(0).ranks()))),
        selection(*file, static_cast<uint32_t>(comms.size()), options.allowUnproven) {
    for (uint32_t program = 0; program < file->programCount(); ++program) {
      names.push_back(file->program(program).name()->str());
      loaded.push_back(nullptr);
      core::Request request;
      request.kind = core::CallKind::Program;
      request.name = names.back();
      EXPECT_TRUE(selection.select(request).moveTo(loaded.back()).ok());
    }
    for (size_t rank = 0; rank < comms.size(); ++rank)
      streams.push_back(cuda.stream(static_cast<int>(rank) / nccl.ranksPerGpu));
    for (ncclapi::Comm handle : comms) {
      const comm::WaitLimits limits{0, std::max(options.timeoutMs, options.joiningMs)};
      ranks.push_back(std::make_shared<comm::Communicator>(setupOf(nccl, {file}, options), handle, limits));
      comm::Registry::ofProcess().add(ranks.back());
    }
    joinAll(ranks);
  }
  ~CommWorld() {
    endAll(ranks);
    for (cuda::Stream stream : streams)
      FakeCuda::table().destroyStream(stream);
  }
  CommWorld(const CommWorld &) = delete;
  CommWorld &operator=(const CommWorld &) = delete;

  /// Returns why a rank can't run programs, or success if it can.
  static core::Outcome problemOf(const comm::Communicator &rank) {
    const core::Outcome error = rank.status().error;
    return error.ok() ? rank.refusal() : error;
  }

  /// Returns why the ranks can't run programs; empty if they can. If the ranks give different reasons, returns both.
  std::string joinProblem() const {
    const std::string first = problemOf(*ranks[0]).text;
    for (const auto &rank : ranks)
      if (const std::string text = problemOf(*rank).text; text != first)
        return "differ: " + first + "; " + text;
    return first;
  }

  Trial trial(size_t program, const TrialOptions &options) {
    Trial trial(*file, static_cast<uint32_t>(program), *loaded[program], options);
    EXPECT_EQ(trial.prepare(), "");
    return trial;
  }

  /// Returns a rank's part of a call.
  comm::CallGroup::Call part(size_t rank, const core::Request &request) {
    comm::CallGroup::Call call{ranks[rank], request, comm::CallGroup::Call::State::Program};
    call.request.stream = streams[rank];
    const core::Result<uint32_t> chosen = ranks[rank]->programs()->choose(request);
    call.outcome = chosen.outcome();
    call.program = chosen.ok() ? *chosen : 0;
    return call;
  }

  /// Makes a call on all ranks. Returns an error message, or an empty string if all results are right.
  std::string run(size_t program, const TrialOptions &options) {
    const Trial wanted = trial(program, options);
    return run(wanted, Loopback::Buffers(cuda, wanted));
  }
  std::string run(const Trial &wanted, const Loopback::Buffers &buffers) {
    std::vector<comm::CallGroup::Call> calls;
    for (size_t rank = 0; rank < comms.size(); ++rank) {
      calls.push_back(part(rank, buffers.requests[rank]));
      if (!calls.back().outcome.ok())
        return calls.back().outcome.text;
    }
    comm::CallGroup::run(calls);
    for (const comm::CallGroup::Call &call : calls)
      if (!call.outcome.ok())
        return call.outcome.text;
    return finish(wanted, buffers);
  }

  std::string finish(const Trial &wanted, const Loopback::Buffers &buffers) {
    for (cuda::Stream stream : streams)
      if (!cuda.isIdle(stream))
        return "a rank is stuck";
    const std::string problem = buffers.compare();
    return problem.empty() ? "" : wanted.describe() + ": " + problem;
  }

  /// Makes eight calls on all ranks. A rank can be any number of calls ahead of another rank. So at one time ranks run
  /// different programs, protocols and types on the same connections. Returns the first error; empty if there is none.
  std::string runOutOfStep(uint64_t seed) {
    return runOutOfStep(seed,
                        [&](const Trial &trial, size_t) { return std::make_unique<Loopback::Buffers>(cuda, trial); });
  }
  static constexpr size_t callCount = 8;
  /// `makeBuffers` returns the buffers of a call. Its second argument is the number of the call.
  template <typename MakeBuffers>
  std::string runOutOfStep(uint64_t seed, const MakeBuffers &makeBuffers) {
    host::Random random(seed);
    std::vector<std::unique_ptr<Trial>> trials;
    std::vector<std::unique_ptr<Loopback::Buffers>> buffers;
    for (size_t call = 0; call < callCount; ++call) {
      const TrialOptions options{random.below(200),
                                 static_cast<core::ElementType>(random.below(core::elementTypeCount)),
                                 static_cast<core::ReduceOp>(random.below(4)),
                                 random.below(2) == 0,
                                 static_cast<uint32_t>(random.below(3)),
                                 random.next()};
      trials.push_back(std::make_unique<Trial>(trial(random.below(names.size()), options)));
      buffers.push_back(makeBuffers(*trials.back(), call));
    }
    std::vector<comm::CallGroup::Call> calls;
    std::vector<size_t> made(comms.size());
    while (calls.size() < callCount * made.size()) {
      const size_t rank = random.below(made.size());
      for (uint64_t some = random.below(callCount); some > 0 && made[rank] < callCount; --some)
        calls.push_back(part(rank, buffers[made[rank]++]->requests[rank]));
    }
    comm::CallGroup::run(calls);
    for (const comm::CallGroup::Call &call : calls)
      if (!call.outcome.ok())
        return call.outcome.text;
    for (size_t call = 0; call < callCount; ++call)
      if (std::string problem = finish(*trials[call], *buffers[call]); !problem.empty())
        return problem;
    return {};
  }

  FakeCuda &cuda;
  FakeNccl &nccl;
  std::shared_ptr<const bundle::BundleFile> file;
  std::vector<ncclapi::Comm> comms;
  core::Selection selection;
  std::vector<std::string> names;
  std::vector<const core::LoadedProgram *> loaded;
  std::vector<std::shared_ptr<comm::Communicator>> ranks;
  std::vector<cuda::Stream> streams;
};

} // namespace gc3::test
