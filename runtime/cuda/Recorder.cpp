// SPDX-License-Identifier: Apache-2.0
// Calls on a GPU end in the order of their launches, so all calls share one ring of records. The records of each call
// are contiguous.
#include "cuda/Recorder.h"

#include "core/Log.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gc3::cuda {

using core::Outcome;
using kernel::StepTimes;

/// Determines the offset between the GPU's and the host's clock. The kernel runs between two readings of the host's
/// clock. Measures twice and keeps the second result, because the first launch takes longer.
Outcome Recorder::readClock(Stream stream) {
  PinnedMemory owned;
  if (Outcome outcome = allocatePinned(cuda, sizeof(uint64_t), "a clock").moveTo(owned); !outcome.ok())
    return outcome;
  void *word = owned.get();
  void *arguments[] = {&word};
  for (int round = 0; round < 2; ++round) {
    const uint64_t before = trace::now();
    if (Outcome outcome =
            outcomeOf(cuda, cuda.launch({cuda.clock(), 1, 1, arguments, stream, false}), "launching a kernel");
        !outcome.ok())
      return outcome;
    if (Outcome outcome = outcomeOf(cuda, cuda.synchronize(stream), "reading the GPU's clock"); !outcome.ok())
      return outcome;
    shift = before + (trace::now() - before) / 2 - *static_cast<const uint64_t *>(word);
  }
  return {};
}

uint32_t Recorder::blocks(const core::Program &program) const {
  return program.firstThreadBlock(ranks.end) - program.firstThreadBlock(ranks.first);
}

/// Returns the records per block for a ring that holds all steps of a call, or as many of the last steps as `space`
/// allows.
uint32_t Recorder::ringFor(const core::Program &program, uint64_t tiles, uint64_t space) const {
  uint64_t longest = 1;
  for (uint32_t rank = ranks.first; rank < ranks.end; ++rank)
    for (const bundle::fbs::ThreadBlock &block : program.rank(rank).threadBlocks)
      longest = std::max(longest, block.instruction_count() * std::min(tiles, most));
  const uint64_t share = std::bit_floor(std::max<uint64_t>(1, space / blocks(program)));
  return static_cast<uint32_t>(std::min(std::bit_ceil(longest), share));
}

/// Ensures that there is memory for `records` records. Returns false if there is none. Calls do not fail then, but are
/// no longer recorded.
bool Recorder::reserve(size_t records) {
  if (records <= reserved || hasAllocationFailed)
    return !hasAllocationFailed;
  rings = {};
  copies = {};
  reserved = 0;
  Outcome outcome = allocate(cuda, records * sizeof(StepTimes), "a trace").moveTo(rings);
  if (outcome.ok())
    outcome = allocatePinned(cuda, records * sizeof(StepTimes), "a trace").moveTo(copies);
  if (outcome.ok()) {
    reserved = records;
  } else {
    core::log("later calls are not recorded: " + outcome.text);
    hasAllocationFailed = true;
  }
  return outcome.ok();
}

/// Returns the position of `records` contiguous records that no unfinished call uses, or nothing.
std::optional<size_t> Recorder::findSpace(size_t records) {
  if (flights.empty())
    return reserve(records) ? std::optional<size_t>(0) : std::nullopt;
  const size_t oldest = flights.front().first, next = flights.back().first + flights.back().notes.records.size();
  const bool goesRound = next <= oldest;
  if (next + records <= (goesRound ? oldest : reserved))
    return next;
  return !goesRound && records <= oldest ? std::optional<size_t>(0) : std::nullopt;
}

Outcome Recorder::begin(const core::Program &program, uint64_t count, kernel::KernelArgs &call, Stream stream) {
  collect();
  ++calls;
  if (blocks(program) == 0)
    return {};
  Notes notes{&program, {}, {}, ringFor(program, call.tiles, most)};
  const size_t records = size_t{notes.ringRecords} * blocks(program);
  const std::optional<size_t> space = findSpace(records);
  for (uint32_t rank = ranks.first; rank < ranks.end; ++rank)
    if (space)
      notes.recordings.push_back(timeline.begin(rank, {calls, &program, count, call.tiles}));
    else if (!hasAllocationFailed)
      timeline.countDropped(rank);
  if (!space || std::count(notes.recordings.begin(), notes.recordings.end(), nullptr) != 0)
    return {};
  notes.records = {static_cast<const StepTimes *>(copies.get()) + *space, records};
  Flight flight{std::move(notes), *space, {}};
  if (Outcome outcome = createEvent(cuda).moveTo(flight.done); !outcome.ok())
    return outcome;
  call.records = static_cast<StepTimes *>(rings.get()) + flight.first;
  call.ringRecords = flight.notes.ringRecords;
  Outcome outcome = outcomeOf(cuda, cuda.clear(call.records, records * sizeof(StepTimes), stream), "clearing a trace");
  isRecording = outcome.ok();
  if (isRecording)
    flights.push_back(std::move(flight));
  return outcome;
}

Outcome Recorder::end(Stream stream) {
  if (!isRecording)
    return {};
  isRecording = false;
  const Flight &flight = flights.back();
  Outcome outcome = outcomeOf(cuda,
                              cuda.copy(static_cast<StepTimes *>(copies.get()) + flight.first,
                                        static_cast<StepTimes *>(rings.get()) + flight.first,
                                        flight.notes.records.size() * sizeof(StepTimes), stream),
                              "copying a trace");
  if (outcome.ok())
    outcome = outcomeOf(cuda, cuda.record(flight.done.get(), stream), "recording an event");
  if (!outcome.ok())
    flights.pop_back();
  return outcome;
}

/// The copies of records are part of the call, so a thread that has waited for the call can read its records.
Outcome Recorder::enqueue(Runner &runner, Runner::Plan &plan, Stream stream) {
  return runner.enqueueWith(
      plan, stream, [&] { return plan.capture != 0 ? capture(runner, plan, stream) : record(runner, plan, stream); });
}

Outcome Recorder::record(Runner &runner, Runner::Plan &plan, Stream stream) {
  if (Outcome outcome = begin(*plan.prepared->program.loaded().program, plan.prepared->count, plan.call, stream);
      !outcome.ok())
    return outcome;
  Outcome outcome = runner.put(plan, stream);
  if (outcome.ok())
    return end(stream);
  if (isRecording)
    flights.pop_back();
  isRecording = false;
  return outcome;
}

/// Allocates memory for one captured call only, because the call's graph keeps the addresses. Returns false if the call
/// cannot be recorded.
bool Recorder::reserveCaptured(Captured &made) {
  if (made.records > most - ofCaptured) {
    for (uint32_t rank = ranks.first; rank < ranks.end; ++rank)
      timeline.countDropped(rank);
    return false;
  }
  const size_t bytes = made.records * sizeof(StepTimes);
  Outcome outcome = allocate(cuda, bytes, "a trace").moveTo(made.ring);
  if (outcome.ok())
    outcome = allocatePinned(cuda, bytes, "a trace").moveTo(made.copy);
  if (!outcome.ok()) {
    core::log("a captured call is not recorded: " + outcome.text);
    return false;
  }
  std::memset(made.copy.get(), 0, bytes); // no records yet: the graph may never be replayed
  ofCaptured += made.records;
  return true;
}

void Recorder::planCapture(Runner::Plan &plan) {
  const core::Program &program = *plan.prepared->program.loaded().program;
  if (blocks(program) == 0)
    return;
  const uint32_t ringRecords = ringFor(program, plan.call.tiles, most / capturedShare);
  Captured made{{0, &program, plan.prepared->count, plan.call.tiles}, ringRecords, 0, {}, {}};
  made.records = size_t{ringRecords} * blocks(program);
  if (!reserveCaptured(made))
    return;
  plan.call.records = static_cast<StepTimes *>(made.ring.get());
  plan.call.ringRecords = ringRecords;
  captured.push_back(std::move(made));
}

Outcome Recorder::capture(Runner &runner, Runner::Plan &plan, Stream stream) {
  ++calls;
  const auto planned = std::find_if(captured.rbegin(), captured.rend(),
                                    [&](const Captured &call) { return call.ring.get() == plan.call.records; });
  if (planned == captured.rend())
    return runner.put(plan, stream);
  planned->call.number = calls;
  const size_t bytes = planned->records * sizeof(StepTimes);
  Outcome outcome = outcomeOf(cuda, cuda.clear(planned->ring.get(), bytes, stream), "clearing a trace");
  if (outcome.ok())
    outcome = runner.put(plan, stream);
  return outcome.ok()
             ? outcomeOf(cuda, cuda.copy(planned->copy.get(), planned->ring.get(), bytes, stream), "copying a trace")
             : outcome;
}

/// Adds the last replay of the call to the timeline, if the graph was replayed.
void Recorder::noteCaptured(const Captured &call) {
  Notes notes{call.call.program, {}, {static_cast<const StepTimes *>(call.copy.get()), call.records}, call.ringRecords};
  if (std::all_of(notes.records.begin(), notes.records.end(), [](const StepTimes &record) { return record.end == 0; }))
    return;
  for (uint32_t rank = ranks.first; rank < ranks.end; ++rank)
    notes.recordings.push_back(timeline.begin(rank, call.call));
  if (std::count(notes.recordings.begin(), notes.recordings.end(), nullptr) == 0)
    for (uint32_t rank = ranks.first; rank < ranks.end; ++rank)
      noteRank(notes, rank);
}

Recorder::~Recorder() {
  for (const Captured &call : captured)
    noteCaptured(call);
}

void Recorder::collect() {
  while (!flights.empty() && cuda.query(flights.front().done.get()) == 0)
    noteOldest();
}

Outcome Recorder::finish(Stream stream) {
  if (flights.empty())
    return {};
  Outcome outcome = outcomeOf(cuda, cuda.synchronize(stream), "waiting for a recorded call");
  while (outcome.ok() && !flights.empty())
    noteOldest();
  return outcome;
}

void Recorder::noteOldest() {
  for (uint32_t rank = ranks.first; rank < ranks.end; ++rank)
    noteRank(flights.front().notes, rank);
  flights.pop_front();
}

/// A rank's part lasts from the begin of its first step to the end of its last step. If a thread block has not
/// completed its last step, the kernel was stopped, and the part has no end.
void Recorder::noteRank(const Notes &notes, uint32_t rank) const {
  const core::Program &program = *notes.program;
  core::Recording &recording = *notes.recordings[rank - ranks.first];
  const uint32_t firstBlock = program.firstThreadBlock(rank) - program.firstThreadBlock(ranks.first);
  uint64_t begin = UINT64_MAX, end = 0;
  bool hasEnded = true;
  for (uint32_t tb = 0; tb < program.rank(rank).threadBlocks.size(); ++tb) {
    uint64_t noted = 0;
    for (const StepTimes &record :
         notes.records.subspan(size_t{firstBlock + tb} * notes.ringRecords, notes.ringRecords)) {
      if (record.end == 0)
        continue;
      recording.note(tb, static_cast<uint32_t>(record.step), record.tile, {record.begin + shift, record.end + shift});
      begin = std::min(begin, record.begin + shift);
      end = std::max(end, record.end + shift);
      ++noted;
    }
    hasEnded &= noted == std::min<uint64_t>(notes.ringRecords, recording.instructions(tb));
  }
  if (end != 0)
    recording.setBegin(begin);
  if (hasEnded)
    recording.setEnd(std::max(end, recording.beginning()));
}

} // namespace gc3::cuda
