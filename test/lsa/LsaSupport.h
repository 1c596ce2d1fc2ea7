// SPDX-License-Identifier: Apache-2.0
// All ranks of a communicator in one thread, over the fakes, and calls of them.
#pragma once

#include "FakeWindows.h"
#include "LoopbackSupport.h"
#include "Programs.h"
#include "lsa/World.h"

namespace gc3::test {

/// A rank that has no problem. (Written out, since gcc 12 warns of braces here.)
inline lsa::Applicant applicant(ncclapi::Comm comm, lsa::Catalog::Files files, const cuda::Options &options = {}) {
  lsa::Applicant made;
  made.comm = comm;
  made.files = std::move(files);
  made.options = options;
  return made;
}

/// Each two neighbours exchange a chunk: within nodes of two.
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

/// The same program under another protocol.
inline ProgramSpec under(kernel::Protocol protocol, ProgramSpec spec) {
  spec.protocol = static_cast<uint8_t>(protocol);
  spec.name += "_" + std::to_string(spec.protocol);
  return spec;
}

class LsaWorld {
public:
  LsaWorld(FakeCuda &cuda, FakeWindows &windows, const std::vector<ProgramSpec> &specs,
           const cuda::Options &options = smallOptions(), lsa::Aside aside = lsa::atOnce)
      : cuda(cuda), windows(windows), nccl(windows.table()), file(open(specs)),
        comms(windows.make(static_cast<int>(specs[0].ranks.size()))),
        selection(*file, static_cast<uint32_t>(comms.size()), options.allowUnproven) {
    for (const ProgramSpec &spec : specs) {
      names.push_back(spec.name);
      loaded.push_back(nullptr);
      core::Request request;
      request.kind = core::CallKind::Program;
      request.name = names.back();
      EXPECT_TRUE(selection.select(request, loaded.back()).ok());
    }
    makeStreams();
    std::vector<lsa::Applicant> applicants;
    for (ncclapi::Comm comm : comms) {
      applicants.push_back(applicant(comm, {file}, options));
      areAborted.push_back(std::make_shared<std::atomic<bool>>(false));
      applicants.back().isAborted = areAborted.back();
    }
    joined = lsa::join({FakeCuda::table(), nccl, windows.hasPart ? &FakeWindows::part : nullptr, aside}, applicants);
  }
  ~LsaWorld() {
    joined.clear();
    for (cuda::Stream stream : streams)
      FakeCuda::table().destroyStream(stream);
  }
  LsaWorld(const LsaWorld &) = delete;
  LsaWorld &operator=(const LsaWorld &) = delete;

  /// What all ranks came to together.
  std::string made() const {
    for (const lsa::Joined &rank : joined)
      if (rank.outcome.text != joined[0].outcome.text || (rank.rank == nullptr) != (joined[0].rank == nullptr))
        return "differ: " + joined[0].outcome.text + "; " + rank.outcome.text;
    return joined[0].outcome.text;
  }

  Trial trial(size_t program, const TrialOptions &options) {
    Trial trial(*file, static_cast<uint32_t>(program), *loaded[program], options);
    EXPECT_EQ(trial.prepare(), "");
    return trial;
  }

  /// A rank's part of a call.
  lsa::RankCall part(size_t rank, const core::Request &request) {
    lsa::RankCall call{};
    call.rank = joined[rank].rank.get();
    call.outcome = call.rank->programs()->choose(request, call.program);
    call.request = request;
    call.stream = streams[rank];
    return call;
  }

  /// The call of a trial by all ranks, and what is wrong after it, or an empty string.
  std::string run(size_t program, const TrialOptions &options) {
    const Trial wanted = trial(program, options);
    Loopback::Buffers buffers(cuda, wanted);
    std::vector<lsa::RankCall> calls;
    for (size_t rank = 0; rank < comms.size(); ++rank) {
      calls.push_back(part(rank, buffers.requests[rank]));
      if (!calls.back().outcome.ok())
        return calls.back().outcome.text;
    }
    lsa::run(calls, nccl);
    for (const lsa::RankCall &call : calls)
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

  /// Several calls, of which each rank makes all, in an order in which ranks are ahead of others by any number of
  /// calls: in other programs, protocols and types at a time, on the same connections. The first that is wrong.
  std::string runOutOfStep(uint64_t seed) {
    host::Random random(seed);
    std::vector<std::unique_ptr<Trial>> trials;
    std::vector<std::unique_ptr<Loopback::Buffers>> buffers;
    constexpr size_t callCount = 8;
    for (size_t call = 0; call < callCount; ++call) {
      const TrialOptions options{random.below(200),
                                 static_cast<core::ElementType>(random.below(core::elementTypeCount)),
                                 static_cast<core::ReduceOp>(random.below(4)),
                                 random.below(2) == 0,
                                 static_cast<uint32_t>(random.below(3)),
                                 random.next()};
      trials.push_back(std::make_unique<Trial>(trial(random.below(names.size()), options)));
      buffers.push_back(std::make_unique<Loopback::Buffers>(cuda, *trials.back()));
    }
    std::vector<lsa::RankCall> calls;
    std::vector<size_t> made(comms.size());
    while (calls.size() < callCount * made.size()) {
      const size_t rank = random.below(made.size());
      for (uint64_t some = random.below(callCount); some > 0 && made[rank] < callCount; --some)
        calls.push_back(part(rank, buffers[made[rank]++]->requests[rank]));
    }
    lsa::run(calls, nccl);
    for (const lsa::RankCall &call : calls)
      if (!call.outcome.ok())
        return call.outcome.text;
    for (size_t call = 0; call < callCount; ++call)
      if (std::string problem = finish(*trials[call], *buffers[call]); !problem.empty())
        return problem;
    return {};
  }

  /// The application's own.
  void makeStreams() {
    for (int rank = 0; rank < static_cast<int>(comms.size()); ++rank)
      streams.push_back(cuda.stream(rank / windows.ranksPerGpu));
  }

  FakeCuda &cuda;
  FakeWindows &windows;
  ncclapi::Nccl nccl;
  std::shared_ptr<const bundle::BundleFile> file;
  std::vector<ncclapi::Comm> comms;
  std::vector<nccl::AbortFlag> areAborted; ///< by rank
  core::Selection selection;
  std::vector<std::string> names;
  std::vector<const core::LoadedProgram *> loaded;
  std::vector<lsa::Joined> joined;
  std::vector<cuda::Stream> streams;
};

/// As where the application gives up: what hangs ends.
inline void abortAll(LsaWorld &world) {
  for (const lsa::Joined &rank : world.joined)
    if (rank.rank)
      rank.rank->abort();
}

} // namespace gc3::test
