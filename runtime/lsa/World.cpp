// SPDX-License-Identifier: Apache-2.0
// Calls, and the programs that they need. Whatever can fail on one rank alone while a program is loaded is followed by
// a gather, behind which all ranks know of it. Only what a gather itself needs can't be told: then the rank is broken,
// and so are the thread's other ranks.
#include "lsa/World.h"
#include "lsa/Gather.h"

#include <algorithm>
#include <map>

namespace gc3::lsa {

using core::Outcome;

namespace {

/// What a step came to on a rank.
struct Verdict {
  uint32_t code;
  uint32_t windowless; ///< its communicator has no windows
  uint32_t program;    ///< that it loads
};

/// A program that some of the thread's ranks load together.
struct Job {
  Rank *rank;
  Rank::Loading loading;
  Outcome outcome;
  bool windowless = false;

  std::string name(uint32_t program) const { return "program '" + rank->programs()->entry(program).name() + "'"; }

  /// Nobody can tell then which rank would go on with which program.
  Outcome findOther(std::span<const Verdict> all) const {
    for (size_t r = 0; r < all.size(); ++r)
      if (all[r].program != loading.program)
        return {gc3InvalidUsage, "rank " + std::to_string(r) + " loads " + name(all[r].program) + ", and rank " +
                                     std::to_string(rank->rank()) + " " + name(loading.program) +
                                     ": they make different calls, or their tuners choose differently"};
    return {};
  }

  /// As others say; of those in `reasons` it is known why.
  void hear(std::span<const Verdict> all, const std::map<size_t, std::string> &reasons) {
    for (size_t r = 0; r < all.size(); ++r) {
      windowless |= all[r].windowless != 0;
      if (!outcome.ok() || all[r].code == gc3Success)
        continue;
      const auto reason = reasons.find(r);
      outcome = {static_cast<gc3Result_t>(all[r].code),
                 "rank " + std::to_string(r) + " could not load it" + (reason == reasons.end() ? "" : reason->second)};
    }
  }
};
using Jobs = std::vector<Job *>; ///< of one communicator

/// Behind it either all ranks of the jobs' communicator have gone on, or none.
Outcome agree(const ncclapi::Nccl &nccl, const Jobs &jobs) {
  std::vector<Verdict> own;
  std::vector<std::vector<Verdict>> all;
  std::vector<Rank *> ranks;
  std::map<size_t, std::string> reasons; // of the thread's own ranks
  for (const Job *job : jobs) {
    ranks.push_back(job->rank);
    own.push_back({static_cast<uint32_t>(job->outcome.code), job->windowless, job->loading.program});
    if (!job->outcome.ok())
      reasons[job->rank->rank()] = ": " + job->outcome.text;
  }
  std::vector<Outcome> outcomes = gatherEach<Verdict>(nccl, ranks, own, all);
  for (size_t i = 0; i < jobs.size(); ++i)
    if (outcomes[i].ok())
      if (outcomes[i] = jobs[i]->findOther(all[i]); !outcomes[i].ok())
        ranks[i]->giveUp(outcomes[i]);
  if (Outcome outcome = breakTogether(outcomes, ranks); !outcome.ok())
    return outcome;
  for (size_t i = 0; i < jobs.size(); ++i)
    jobs[i]->hear(all[i], reasons);
  return {};
}

/// Of jobs that are alike on all ranks, something in a group of NCCL's; `finish` gets to know how it went.
template <typename Begin, typename Finish>
void groupedOver(const ncclapi::Nccl &nccl, const Jobs &jobs, Begin begin, Finish finish) {
  if (jobs.empty())
    return;
  std::vector<Outcome> begun;
  const Outcome group = grouped(nccl, [&]() -> Outcome {
    for (Job *job : jobs)
      begun.push_back(begin(*job));
    return {};
  });
  begun.resize(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i)
    jobs[i]->outcome = finish(*jobs[i], begun[i].ok() ? group : begun[i]);
}

void enroll(const ncclapi::Nccl &nccl, const Jobs &jobs) {
  groupedOver(
      nccl, jobs, [](Job &job) { return job.rank->enroll(job.loading); },
      [](Job &, const Outcome &outcome) { return outcome; });
}

/// Where a communicator of several LSA teams turns out to have no windows, each team has them in one of its own. The
/// jobs are those that might: all ranks of a communicator, or none.
Outcome splitWindowless(const ncclapi::Nccl &nccl, Jobs jobs) {
  if (jobs.empty())
    return {};
  for (Job *job : jobs)
    if (job->outcome.ok())
      job->outcome = job->rank->lacksWindow(job->loading, job->windowless);
  if (Outcome outcome = agree(nccl, jobs); !outcome.ok())
    return outcome;
  std::erase_if(jobs, [](const Job *job) { return !job->outcome.ok() || !job->windowless; });
  if (jobs.empty())
    return {};
  groupedOver(
      nccl, jobs, [](Job &job) { return job.rank->split(job.loading); },
      [](Job &job, const Outcome &outcome) { return job.rank->completeSplit(outcome, job.loading); });
  if (Outcome outcome = agree(nccl, jobs); !outcome.ok())
    return outcome;
  std::erase_if(jobs, [](const Job *job) { return !job->outcome.ok(); });
  for (Job *job : jobs)
    job->outcome = job->rank->keepSplit(job->loading);
  std::erase_if(jobs, [](const Job *job) { return !job->outcome.ok(); });
  enroll(nccl, jobs);
  return {};
}

/// Registers new windows, all ranks of a communicator or none. An error: the ranks are broken.
Outcome enrollAll(const ncclapi::Nccl &nccl, std::span<Job> jobs) {
  Jobs withWindow, maySplit;
  for (Job &job : jobs)
    if (job.outcome.ok() && job.loading.windowBytes != 0) {
      withWindow.push_back(&job);
      if (job.rank->maySplit())
        maySplit.push_back(&job);
    }
  enroll(nccl, withWindow);
  return splitWindowless(nccl, std::move(maySplit));
}

/// The jobs are of different ranks of one communicator. Behind it either all of its ranks have the program, or none, or
/// these are broken.
Outcome loadTogether(const ncclapi::Nccl &nccl, std::span<Job> jobs) {
  Jobs all;
  for (Job &job : jobs) {
    all.push_back(&job);
    if (job.outcome.ok())
      job.outcome = job.rank->reserve(job.loading.program, job.loading);
  }
  Outcome outcome = agree(nccl, all);
  // Once more: who has waited for too long has given up behind the first, and who comes later than that must find out
  // here, where it can stop waiting, and not in what follows, where it can't.
  if (outcome.ok())
    outcome = agree(nccl, all);
  if (outcome.ok())
    outcome = enrollAll(nccl, jobs);
  if (!outcome.ok())
    return outcome;
  for (Job &job : jobs)
    if (job.outcome.ok())
      job.outcome = job.rank->connect(job.loading);
  if (outcome = agree(nccl, all); !outcome.ok())
    return outcome;
  for (Job &job : jobs)
    if (job.outcome.ok())
      job.rank->keep(std::move(job.loading));
    else
      job.rank->refuse(job.loading.program,
                       job.name(job.loading.program) + " could not be loaded: " + job.outcome.text);
  return {};
}

/// Whether a call still waits for its program.
bool needsLoad(const RankCall &call) {
  return call.plan.capture == 0 && !call.rank->loaded(call.program) && call.rank->refusal(call.program).empty() &&
         call.rank->broken().ok();
}

/// The program of calls that are made together, where it is not loaded. A rank on which a call has failed already tells
/// the others, who wait for it.
void loadFor(const Turn &calls, const ncclapi::Nccl &nccl) {
  std::vector<Job> jobs;
  for (const RankCall *call : calls)
    if (needsLoad(*call)) {
      jobs.emplace_back();
      jobs.back().rank = call->rank;
      jobs.back().loading.program = call->program;
      jobs.back().outcome = call->outcome;
    }
  if (!jobs.empty())
    loadTogether(nccl, jobs);
  for (Job &job : jobs)
    job.rank->discard(job.loading);
}

/// A communicator's ranks make a call in a capture, or none does: who could not find out goes by the thread's others,
/// lest it load a program alone.
void lookForCapture(const Turn &calls) {
  uint64_t ofOthers = 0;
  for (RankCall *call : calls) {
    call->outcome = call->rank->findCapture(call->stream, call->plan.capture);
    if (call->outcome.ok())
      ofOthers = std::max(ofOthers, call->plan.capture);
  }
  for (RankCall *call : calls)
    if (!call->outcome.ok())
      call->plan.capture = ofOthers;
}

void plan(RankCall &call) {
  if (Outcome broken = call.rank->broken(); !broken.ok()) {
    call.outcome = broken;
    return;
  }
  if (call.rank->loaded(call.program)) {
    if (call.outcome.ok())
      call.outcome = call.rank->plan(call.program, call.request, call.plan.capture, call.plan);
    return;
  }
  call.declined = true;
  const std::string refusal = call.rank->refusal(call.program);
  call.outcome = {gc3InvalidUsage, !refusal.empty() ? refusal
                                                    : "program '" + call.rank->programs()->entry(call.program).name() +
                                                          "' can't be loaded while the stream is captured: make such "
                                                          "a call once before"};
}

} // namespace

std::vector<Turn> turnsOf(std::span<RankCall> calls) {
  std::map<const Rank *, uint32_t> made;
  std::map<std::pair<uint64_t, uint32_t>, size_t> places; // by communicator and number
  std::vector<Turn> turns;
  for (RankCall &call : calls) {
    const auto [place, isNew] = places.try_emplace({call.rank->communicator(), made[call.rank]++}, turns.size());
    if (isNew)
      turns.emplace_back();
    turns[place->second].push_back(&call);
  }
  return turns;
}

void load(const Turn &calls, const ncclapi::Nccl &nccl) {
  lookForCapture(calls);
  loadFor(calls, nccl);
}

void prepare(const Turn &calls, const ncclapi::Nccl &nccl) {
  load(calls, nccl);
  for (RankCall *call : calls) { // before any is enqueued: memory may have to be taken, which may wait for kernels
    plan(*call);
    if (!call->outcome.ok() && !call->declined)
      call->rank->fail(call->outcome);
  }
}

void enqueue(const Turn &calls) {
  for (RankCall *call : calls)
    if (call->outcome.ok() && call->request.count != 0)
      call->outcome = call->rank->enqueue(call->plan, call->stream);
}

void run(std::span<RankCall> calls, const ncclapi::Nccl &nccl) {
  for (const Turn &turn : turnsOf(calls)) {
    prepare(turn, nccl);
    enqueue(turn);
  }
}

} // namespace gc3::lsa
