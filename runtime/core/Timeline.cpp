// SPDX-License-Identifier: Apache-2.0
// The events in the file are sorted by rank, call, thread block, tile and step, not by time.
#include "core/Timeline.h"

#include "core/Identity.h"
#include "core/Log.h"
#include "gc3/Common/Opcode.h"

#include <algorithm>
#include <new>

namespace gc3::core {

using namespace bundle;
using namespace common;
using trace::Arguments;
using trace::Events;
using trace::Span;

namespace {

/// The number of the row that shows a rank's calls. A thread block's row has the thread block's number.
constexpr uint32_t callsRow = INT32_MAX;

/// Returns the trace arguments of a step that are the same in all tiles.
std::string argumentsOf(const Recorded &call, const fbs::ThreadBlock &block, const fbs::Instruction &instruction) {
  const OpcodeTraits &does = traits(static_cast<Opcode>(instruction.opcode()));
  Arguments arguments;
  arguments.add("call", call.number).add("program", call.program->info().name()->string_view());
  if (does.receives)
    arguments.add("recv", static_cast<uint64_t>(block.recv_peer()));
  if (does.sends)
    arguments.add("send", static_cast<uint64_t>(block.send_peer()));
  if (does.receives || does.sends)
    arguments.add("channel", block.channel());
  return arguments.add("slots", instruction.count()).text();
}

/// A message of a call: the n-th one of its connection. Files of several processes agree on these numbers.
struct Message {
  uint64_t call;
  uint32_t from, to; ///< process numbers in the trace
  uint32_t channel;
  uint64_t number;
};

/// Returns a hash of 64 bits.
uint64_t idOf(const Message &message) {
  uint64_t hash = 0;
  for (const uint64_t each :
       {message.call, uint64_t{message.from}, uint64_t{message.to}, uint64_t{message.channel}, message.number}) {
    hash = (hash ^ each) + 0x9e3779b97f4a7c15; // SplitMix64 (Steele, Lea, Flood 2014)
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
    hash ^= hash >> 31;
  }
  return hash;
}

} // namespace

Recording::Recording(uint32_t ofRank, const Recorded &ofCall, uint64_t when)
    : rank(ofRank), call(ofCall), size(call.program->rank(rank).instructions.size() * call.tiles),
      stamps(new Stamp[size]), begin(when) {}

Span Recording::span(uint32_t threadBlock, uint32_t step, uint64_t tile) const {
  const Stamp &stamp = stamps[index(threadBlock, step, tile)];
  const uint64_t ended = stamp.end.load(std::memory_order_acquire); // loads `end` first, because note() stores it last
  return {stamp.begin.load(std::memory_order_relaxed), ended};
}

uint64_t Recording::missing() const {
  return static_cast<uint64_t>(std::count_if(stamps.get(), stamps.get() + size, [](const Stamp &stamp) {
    return stamp.end.load(std::memory_order_relaxed) == 0;
  }));
}

uint64_t Recording::lastEnd() const {
  uint64_t last = begin.load(std::memory_order_relaxed);
  for (size_t i = 0; i < size; ++i)
    last = std::max(last, stamps[i].end.load(std::memory_order_relaxed));
  return last;
}

Timeline::Timeline(trace::TraceFile &written, std::vector<uint32_t> ofRanks, uint64_t mostKept)
    : file(written), ranks(std::move(ofRanks)), most(mostKept), processes(file.allocateProcesses(spread())),
      lanes(spread()) {
  file.add(*this);
}

Timeline::~Timeline() {
  file.remove(*this);
  write();
}

/// Returns the number of instructions that the timeline's ranks run in a call, or UINT64_MAX if the number is larger.
uint64_t Timeline::instructions(const Recorded &call) const {
  uint64_t steps = 0;
  for (const uint32_t rank : ranks)
    steps += call.program->rank(rank).instructions.size();
  return steps != 0 && call.tiles > UINT64_MAX / steps ? UINT64_MAX : steps * call.tiles;
}

void Timeline::discard(Lane &lane, uint64_t number) {
  if (lane.recordings.empty() || lane.recordings.back()->call.number != number)
    return;
  lane.instructions -= instructions(lane.recordings.back()->call);
  lane.recordings.pop_back();
}

Recording *Timeline::begin(uint32_t rank, const Recorded &call) noexcept {
  const uint64_t needed = instructions(call);
  std::lock_guard lock(mutex);
  Lane &own = lane(rank);
  discard(own, call.number);
  if (needed <= most - own.instructions)
    try {
      const auto place =
          std::upper_bound(own.recordings.begin(), own.recordings.end(), call.number,
                           [](uint64_t number, const auto &recording) { return number < recording->call.number; });
      const auto made = own.recordings.insert(place, std::make_unique<Recording>(rank, call, trace::now()));
      own.instructions += needed;
      return made->get();
    } catch (const std::bad_alloc &) {
      // The call is not recorded, as if there were no space.
    }
  ++own.droppedCalls;
  return nullptr;
}

void Timeline::countDropped(uint32_t rank) noexcept {
  std::lock_guard lock(mutex);
  ++lane(rank).droppedCalls;
}

void Timeline::nameRows(Events &events) const {
  for (const uint32_t rank : ranks) {
    size_t blocks = 0;
    for (const auto &recording : lanes[rank - ranks.front()].recordings)
      blocks = std::max(blocks, recording->call.program->rank(rank).threadBlocks.size());
    const uint32_t process = processOf(rank);
    const std::string group = processes.group == 0 ? "" : " of group " + std::to_string(processes.group);
    events.nameProcess(process, "rank " + std::to_string(rank) + group);
    events.nameThread({process, callsRow}, "calls", 0);
    for (uint32_t tb = 0; tb < blocks; ++tb)
      events.nameThread({process, tb}, "tb " + std::to_string(tb), tb + 1);
  }
}

/// Writes the instructions of a thread block. Each instruction that sends has the tail of an arrow at its beginning,
/// and each one that receives has the head at its end, because a message can arrive before the sender notes its end.
/// Counts the messages of unrecorded instructions, too.
void Timeline::writeBlock(Events &events, const Recording &recording, uint32_t threadBlock) const {
  const Recorded &call = recording.call;
  const RankView &view = call.program->rank(recording.rank);
  const fbs::ThreadBlock &block = view.threadBlocks[threadBlock];
  const auto steps = view.instructions.subspan(block.first_instruction(), block.instruction_count());
  std::vector<std::string> common;
  for (const fbs::Instruction &step : steps)
    common.push_back(argumentsOf(call, block, step));
  const uint32_t process = processOf(recording.rank);
  Message sent{call.number, process, processOf(block.send_peer()), block.channel(), 0};
  Message received{call.number, processOf(block.recv_peer()), process, block.channel(), 0};
  for (uint64_t tile = 0; tile < call.tiles; ++tile)
    for (uint32_t step = 0; step < steps.size(); ++step) {
      const OpcodeTraits &does = traits(static_cast<Opcode>(steps[step].opcode()));
      if (const Span span = recording.span(threadBlock, step, tile); span.end != 0) {
        const trace::Row row{process, threadBlock};
        events.addSpan(row, span, does.name,
                       Arguments().add("step", step).add("tile", tile).text() + "," + common[step]);
        if (does.sends)
          events.addArrow({row, idOf(sent), false}, span.begin);
        if (does.receives)
          events.addArrow({row, idOf(received), true}, std::max(span.begin, span.end - 1)); // still inside the span
      }
      sent.number += does.sends ? 1 : 0;
      received.number += does.receives ? 1 : 0;
    }
}

/// Writes one rank's part of a call. Returns how many instructions of a completed call have no times, and 0 for an
/// unfinished call.
uint64_t Timeline::writeRecording(Events &events, const Recording &recording) const {
  const Recorded &call = recording.call;
  const uint32_t process = processOf(recording.rank);
  const uint64_t ended = recording.end.load(std::memory_order_acquire), missing = recording.missing();
  Arguments ofCall;
  ofCall.add("call", call.number).add("collective", formOf(call.program->info()).string_view());
  ofCall.add("count", call.count).add("tiles", call.tiles);
  if (ended == 0)
    ofCall.add("unfinished", 1);
  if (missing != 0)
    ofCall.add("missing", missing);
  events.addSpan({process, callsRow}, {recording.begin, ended == 0 ? recording.lastEnd() : ended},
                 call.program->info().name()->string_view(), ofCall.text());
  for (uint32_t tb = 0; tb < call.program->rank(recording.rank).threadBlocks.size(); ++tb)
    writeBlock(events, recording, tb);
  return ended == 0 ? 0 : missing;
}

void Timeline::writeDropped(Events &events, uint64_t missingInstructions) {
  uint64_t droppedCalls = 0;
  for (Lane &lane : lanes)
    droppedCalls = std::max(droppedCalls, std::exchange(lane.droppedCalls, 0));
  if (droppedCalls == 0 && missingInstructions == 0)
    return;
  events.addNote({processes.first, callsRow}, trace::now(), "not recorded",
                 Arguments().add("calls", droppedCalls).add("instructions", missingInstructions).text());
  log("the trace '" + file.path() + "' lacks " + std::to_string(droppedCalls) + " calls, and " +
      std::to_string(missingInstructions) + " instructions of other calls: the limit is " + std::to_string(most) +
      " instructions of a group of communicators");
}

void Timeline::write() noexcept {
  std::lock_guard lock(mutex);
  try {
    Events events(file);
    nameRows(events);
    uint64_t missingInstructions = 0;
    for (const Lane &lane : lanes)
      for (const auto &recording : lane.recordings)
        if (!std::exchange(recording->written, true))
          missingInstructions += writeRecording(events, *recording);
    writeDropped(events, missingInstructions);
  } catch (const std::bad_alloc &) {
    log("no memory to write the trace '" + file.path() + "'");
  }
}

} // namespace gc3::core
