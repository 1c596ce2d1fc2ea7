// SPDX-License-Identifier: Apache-2.0
// Calls as NCCL has them -> requests -> programs. What all ranks decline together goes to NCCL after all.
#include "lsa/Engine.h"

#include "core/Log.h"
#include "cuda/PeriodicThread.h"
#include "nccl/NoEngine.h"

#include <algorithm>
#include <set>

namespace gc3::lsa {

using core::Outcome;
using nccl::Attached;
using nccl::Decision;
using nccl::Member;
using nccl::Work;
using ncclapi::Collective;
using ncclapi::Result;
using shim::CollectiveCall;

namespace {

/// Our name of it, and its root if it has one.
core::Request requestOf(const CollectiveCall &call) {
  const auto name = [&]() -> const char * {
    switch (call.collective) {
    case Collective::AllGather: return "allgather";
    case Collective::AllReduce: return "allreduce";
    case Collective::AlltoAll: return "alltoall";
    case Collective::Bcast:
    case Collective::Broadcast: return "broadcast";
    case Collective::Gather: return "gather";
    case Collective::Reduce: return "reduce";
    case Collective::ReduceScatter: return "reduce_scatter";
    case Collective::Scatter: return "scatter";
    }
    __builtin_unreachable();
  };
  return {core::CallKind::Standard,
          name(),
          call.send,
          call.recv,
          call.count,
          static_cast<gc3DataType_t>(call.type),
          call.preMulSum ? gc3Sum : static_cast<gc3RedOp_t>(call.op),
          call.root,
          nullptr,
          call.preMulSum};
}

/// What NCCL's callers know; a number of a newer NCCL may mean nothing to them.
Result resultOf(const Outcome &outcome) {
  switch (outcome.code) {
  case gc3Success: return Result::Success;
  case gc3UnhandledCudaError: return Result::UnhandledCudaError;
  case gc3SystemError: return Result::SystemError;
  case gc3InvalidArgument: return Result::InvalidArgument;
  case gc3InvalidUsage: return Result::InvalidUsage;
  case gc3Timeout: return Result::RemoteError;
  default: return Result::InternalError;
  }
}

/// The first error.
void note(Result &first, Result result) {
  if (first == Result::Success && result != Result::InProgress)
    first = result;
}

/// Errors are told, as NCCL's result says little.
Result tell(const Rank &rank, const Outcome &outcome) {
  if (!outcome.ok())
    core::tellOnce("rank " + std::to_string(rank.rank()) + ": " + outcome.text);
  return resultOf(outcome);
}

/// A rank whose calls would meet those that other ranks have made before.
Outcome lost(Rank &rank, const std::string &why) {
  rank.breakDown({gc3Timeout, why});
  return rank.broken();
}

class RankAttachment final : public nccl::Attachment {
public:
  RankAttachment(std::shared_ptr<Rank> ofRank, const Outcome &outcome)
      : own(std::move(ofRank)), hasJoined(outcome.ok()) {
    if (own->timeoutMs() != 0)
      watcher.start(own->timeoutMs(), [this] {
        own->patrol();
        tell(*own, own->broken());
      });
  }

  Decision serves(const CollectiveCall &call) const override {
    if (!hasJoined)
      return {0, "gc3 is broken"}; // others may run programs, so NCCL can't take over
    uint32_t program = 0;
    const core::Request request = requestOf(call);
    Outcome outcome = own->programs()->choose(request, program);
    if (outcome.code == gc3NoProgram)
      return {-1, own->programs()->choice().lists(request.name) ? "GC3_PROGRAM has no program for it"
                                                                : "no program for it"};
    std::string refused = outcome.ok() ? own->refusal(program) : outcome.text;
    if (!refused.empty())
      return {-1, keep(std::move(refused))};
    const auto &info = own->programs()->entry(program).loaded->program->info();
    if (own->programs()->choice().lists(info.collective()->string_view()))
      return {static_cast<int32_t>(program), keep(info.name()->str() + ", as GC3_PROGRAM has it")};
    return {static_cast<int32_t>(program), info.name()->string_view()};
  }

  void drain() override { own->drain(); }
  void giveBack() override { own->giveBack(); }

  bool abort() override {
    own->abort();
    return own->hasRevoked();
  }

  void breakDown(const std::string &why) override { tell(*own, lost(*own, why)); }

  Result asyncError() const override { return tell(*own, own->glance(cuda::Watchdog::Clock::now())); }

  Rank &rank() const { return *own; }
  bool joined() const { return hasJoined; }

private:
  /// A text that lives on.
  std::string_view keep(std::string text) const {
    std::lock_guard lock(keeping);
    return *texts.insert(std::move(text)).first;
  }

  const std::shared_ptr<Rank> own;
  const bool hasJoined;
  mutable std::mutex keeping;
  mutable std::set<std::string> texts;
  cuda::PeriodicThread watcher; ///< ends first
};

class LsaEngine final : public nccl::Engine {
public:
  LsaEngine(const Drivers &chosen, shim::Bundles &&bundles, const cuda::Options &chosenOptions,
            const Forwarding &toNccl)
      : drivers(chosen), options(chosenOptions), forwarding(toNccl) {
    for (auto &file : bundles)
      files.push_back(std::move(file));
  }

  std::vector<Attached> attach(std::span<const Member> members) override {
    const Outcome problem =
        files.empty() ? Outcome{gc3InvalidUsage, "GC3_BUNDLES names no bundle that can be used"} : Outcome{};
    std::vector<Applicant> applicants;
    for (const Member &member : members)
      applicants.push_back({member.comm, files, problem, options, member.isAborted});
    std::vector<Attached> attached;
    for (Joined &joined : join(drivers, applicants)) {
      attached.push_back({nullptr, joined.outcome.text});
      if (!joined.rank) {
        core::tellOnce("communicators are left to NCCL: " + joined.outcome.text);
        continue;
      }
      auto made = std::make_shared<RankAttachment>(std::move(joined.rank), joined.outcome);
      tell(made->rank(), joined.outcome);
      attached.back().attachment = std::move(made);
    }
    return attached;
  }

  void load(const Work &work) override {
    const auto &attachment = static_cast<const RankAttachment &>(*work.attachment);
    if (!attachment.joined())
      return;
    RankCall call = rankCall(attachment.rank(), work);
    lsa::load({&call}, drivers.nccl);
  }

  Result run(std::span<const Work> works) override {
    std::vector<RankCall> calls;
    std::vector<const CollectiveCall *> made; // by the application, of each of these
    Result first = Result::Success;
    for (const Work &work : works) {
      const auto &attachment = static_cast<const RankAttachment &>(*work.attachment);
      if (!attachment.joined()) {
        note(first, tell(attachment.rank(), attachment.rank().broken()));
        continue;
      }
      calls.push_back(rankCall(attachment.rank(), work));
      made.push_back(&work.call);
    }
    for (const Turn &turn : turnsOf(calls)) {
      prepare(turn, drivers.nccl);
      std::vector<const CollectiveCall *> declined;
      for (const RankCall *call : turn)
        if (call->declined)
          declined.push_back(made[static_cast<size_t>(call - calls.data())]);
      const Result handedOver = handOver(declined);
      note(first, handedOver);
      if (handedOver == Result::RemoteError) // what comes next would come before it
        for (const RankCall &call : calls)
          lost(*call.rank, "a call that NCCL got came too late");
      enqueue(turn);
      for (const RankCall *call : turn)
        if (!call->declined)
          note(first, tell(*call->rank, call->outcome));
    }
    return first;
  }

  bool isCaptured(ncclapi::Stream stream) const override {
    uint64_t capture = 0;
    return drivers.cuda.capture(&capture, reinterpret_cast<cuda::Stream>(stream)) == 0 && capture != 0;
  }

  std::function<void()> elsewhere(std::function<void()> work) const override {
    int device = 0;
    return drivers.cuda.getDevice(&device) == 0 ? onGpu(drivers.cuda, device, std::move(work)) : work;
  }

  void aside(const nccl::Attachment *of, const std::function<void()> &work) const override {
    drivers.aside(of ? onGpu(drivers.cuda, static_cast<const RankAttachment *>(of)->rank().device(), work) : work);
  }

  nccl::Patience patience() const override { return {options.joiningMs, options.timeoutMs}; }

private:
  static RankCall rankCall(Rank &rank, const Work &work) {
    RankCall call{};
    call.rank = &rank;
    call.program = static_cast<uint32_t>(work.program);
    call.request = requestOf(work.call);
    call.stream = reinterpret_cast<cuda::Stream>(work.call.stream);
    return call;
  }

  /// To NCCL, which all of their communicator's ranks leave them to: in a group, as one by one they could wait for each
  /// other. What comes next is to come behind them on all ranks, also where the communicator does not block.
  Result handOver(std::span<const CollectiveCall *const> calls) const {
    if (calls.empty())
      return Result::Success;
    if (const Result opened = drivers.nccl.GroupStart(); opened != Result::Success)
      return opened;
    Result result = Result::Success;
    for (const CollectiveCall *call : calls)
      note(result, forwarding.make(*call));
    note(result, drivers.nccl.GroupEnd());
    for (const CollectiveCall *call : calls)
      note(result, forwarding.settle(call->comm));
    return result;
  }

  const Drivers drivers;
  const cuda::Options options;
  const Forwarding forwarding;
  Catalog::Files files;
};

} // namespace

std::unique_ptr<nccl::Engine> makeEngine(const Drivers &drivers, shim::Bundles &&bundles, const cuda::Options &options,
                                         const Forwarding &forwarding) {
  int device = 0;
  const cuda::Result asked = drivers.cuda.getDevice(&device);
  if (Outcome outcome = outcomeOf(drivers.cuda, asked, "asking for the current device"); !outcome.ok())
    return std::make_unique<nccl::NoEngine>(outcome.text);
  return std::make_unique<LsaEngine>(drivers, std::move(bundles), options, forwarding);
}

} // namespace gc3::lsa
