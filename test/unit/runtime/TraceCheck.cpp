// SPDX-License-Identifier: Apache-2.0
#include "TraceCheck.h"

#include "core/HappensBefore.h"
#include "gc3/Common/Opcode.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace gc3::test {

namespace {

uint64_t nanoseconds(const Json &time) {
  return static_cast<uint64_t>(std::llround(std::stod(time.text) * 1000));
}

/// Returns nothing if the object is not an event.
std::optional<TraceEvent> eventOf(const Json &object) {
  TraceEvent event;
  const Json *arguments = object.find("args"), *begin = object.find("ts"), *duration = object.find("dur");
  for (const char *key : {"ph", "name", "pid", "tid"})
    if (!object.find(key))
      return std::nullopt;
  event.phase = object.find("ph")->text, event.name = object.find("name")->text;
  event.process = std::stoull(object.find("pid")->text), event.thread = std::stoull(object.find("tid")->text);
  const bool isArrow = event.phase == "s" || event.phase == "f";
  if ((event.phase != "M" && !begin) || (event.phase == "X" && !duration) || !(isArrow ? object.find("id") : arguments))
    return std::nullopt;
  if (isArrow)
    event.id = object.find("id")->text;
  event.begin = event.end = begin ? nanoseconds(*begin) : 0;
  event.end += duration ? nanoseconds(*duration) : 0;
  for (size_t i = 0; arguments && i < arguments->keys.size(); ++i)
    event.arguments[arguments->keys[i]] = arguments->items[i].text;
  return event;
}

/// The events of one rank in a call.
class Part {
public:
  Part(const core::Program &program, uint32_t rank, const TraceEvent &call)
      : program(program), rank(rank), call(call), tiles(std::stoull(call.arguments.at("tiles"))),
        steps(program.rank(rank).instructions.size()), found(steps * tiles) {}

  /// Adds an event. Returns an error message, or an empty string.
  std::string take(const TraceEvent &event) {
    const bundle::RankView &view = program.rank(rank);
    if (event.thread >= view.threadBlocks.size())
      return "no such thread block";
    const auto &block = view.threadBlocks[event.thread];
    const uint64_t step = std::stoull(event.arguments.at("step")), tile = std::stoull(event.arguments.at("tile"));
    if (step >= block.instruction_count() || tile >= tiles)
      return "no such step or tile";
    const TraceEvent *&place = found[tile * steps + block.first_instruction() + step];
    if (std::exchange(place, &event))
      return "comes twice";
    if (event.begin < call.begin || event.end > call.end)
      return "is not within its call";
    return compare(event, block, view.instructions[block.first_instruction() + step]);
  }

  /// Returns the event of an instruction of the rank, or null if it is missing.
  const TraceEvent *at(uint64_t tile, size_t instruction) const { return found[tile * steps + instruction]; }
  bool complete() const { return std::count(found.begin(), found.end(), nullptr) == 0; }
  uint64_t tileCount() const { return tiles; }

private:
  std::string compare(const TraceEvent &event, const bundle::fbs::ThreadBlock &block,
                      const bundle::fbs::Instruction &instruction) const {
    const auto &does = common::traits(static_cast<common::Opcode>(instruction.opcode()));
    std::map<std::string, std::string> expected = {{"step", event.arguments.at("step")},
                                                   {"tile", event.arguments.at("tile")},
                                                   {"call", call.arguments.at("call")},
                                                   {"program", program.info().name()->str()},
                                                   {"slots", std::to_string(instruction.count())}};
    if (does.receives)
      expected["recv"] = std::to_string(block.recv_peer());
    if (does.sends)
      expected["send"] = std::to_string(block.send_peer());
    if (does.receives || does.sends)
      expected["channel"] = std::to_string(block.channel());
    return event.name == does.name && event.arguments == expected ? "" : "is another instruction";
  }

  const core::Program &program;
  const uint32_t rank;
  const TraceEvent &call;
  const uint64_t tiles;
  const size_t steps;
  std::vector<const TraceEvent *> found; ///< by tile and instruction
};

/// Checks that the events of all ranks in a call are in the order of the program.
std::string checkOrder(const TracedGroup &group, const std::vector<Part> &parts) {
  const core::Program &program = *group.program;
  const core::HappensBefore order(program);
  if (!order.known())
    return "the program has no order";
  const uint32_t steps = program.firstStep(program.ranks());
  auto eventOf = [&](uint32_t step, uint64_t tile) -> const TraceEvent & {
    const uint32_t rank = program.rankOfStep(step);
    return *parts[rank].at(tile, step - program.firstStep(rank));
  };
  for (uint64_t tile = 0; tile < parts[0].tileCount(); ++tile)
    for (uint32_t b = 0; b < steps; ++b)
      for (uint32_t a = 0; a < steps; ++a) {
        if (!group.oneClock && program.rankOfStep(a) != program.rankOfStep(b))
          continue;
        const TraceEvent &first = eventOf(a, tile), &second = eventOf(b, tile);
        if (order.before(a, b) && (group.arrivesWhole ? first.end > second.begin : first.begin > second.end))
          return "tile " + std::to_string(tile) + ": step " + std::to_string(a) + " is not before step " +
                 std::to_string(b);
      }
  return {};
}

std::string checkCall(const Trace &trace, const TracedGroup &group, uint64_t number) {
  const core::Program &program = *group.program;
  std::vector<Part> parts;
  for (uint32_t rank = 0; rank < program.ranks(); ++rank) {
    const TraceEvent *call = nullptr;
    for (const TraceEvent &event : trace.events)
      if (event.phase == "X" && event.name == program.info().name()->str() &&
          event.process == group.firstProcess + rank && event.arguments.at("call") == std::to_string(number)) {
        if (call)
          return "rank " + std::to_string(rank) + " has it twice";
        call = &event;
      }
    if (!call)
      return "rank " + std::to_string(rank) + " does not have it";
    parts.emplace_back(program, rank, *call);
    for (const TraceEvent &event : trace.events)
      if (event.phase == "X" && event.process == call->process && event.thread != call->thread &&
          event.arguments.at("call") == call->arguments.at("call"))
        if (std::string problem = parts.back().take(event); !problem.empty())
          return "rank " + std::to_string(rank) + ": " + event.name + " in thread block " +
                 std::to_string(event.thread) + ": " + problem;
    if (!parts.back().complete())
      return "rank " + std::to_string(rank) + " lacks instructions";
  }
  return checkOrder(group, parts);
}

/// Returns the instruction whose span has the end of an arrow, or null.
const TraceEvent *instructionAt(const Trace &trace, const TraceEvent &end) {
  const auto found = std::find_if(trace.events.begin(), trace.events.end(), [&](const TraceEvent &event) {
    return event.phase == "X" && event.process == end.process && event.thread == end.thread &&
           event.begin <= end.begin && end.begin <= event.end &&
           event.arguments.count(end.phase == "s" ? "send" : "recv");
  });
  return found == trace.events.end() ? nullptr : &*found;
}

/// Checks that each arrow has two ends, in instructions of one call and channel that name each other's rank. Each
/// instruction must have the arrows of its messages. `first` is the process number of rank 0.
std::string checkArrows(const Trace &trace, uint64_t first, uint64_t ranks) {
  std::map<std::string, std::pair<const TraceEvent *, const TraceEvent *>> arrows;
  std::map<std::string, size_t> ends, messages;
  for (const TraceEvent &event : trace.events) {
    if (event.process < first || event.process >= first + ranks)
      continue;
    messages["s"] += event.arguments.count("send"), messages["f"] += event.arguments.count("recv");
    if (event.phase != "s" && event.phase != "f")
      continue;
    ++ends[event.phase];
    if (std::exchange(event.phase == "s" ? arrows[event.id].first : arrows[event.id].second, &event))
      return "arrow " + event.id + " has two equal ends";
  }
  if (ends["s"] != messages["s"] || ends["f"] != messages["f"])
    return "there is not one arrow for each message";
  for (const auto &[id, both] : arrows) {
    const TraceEvent *send = both.first ? instructionAt(trace, *both.first) : nullptr;
    const TraceEvent *receive = both.second ? instructionAt(trace, *both.second) : nullptr;
    if (!send || !receive)
      return "arrow " + id + " lacks an end, or an end is outside its instruction";
    for (const char *key : {"call", "channel", "tile"})
      if (send->arguments.at(key) != receive->arguments.at(key))
        return "arrow " + id + " joins instructions of different " + key;
    if (std::stoull(send->arguments.at("send")) + first != receive->process ||
        std::stoull(receive->arguments.at("recv")) + first != send->process)
      return "arrow " + id + " joins other ranks";
  }
  return {};
}

/// Checks that the events of a row (one process and one thread) do not overlap.
std::string checkRows(const Trace &trace) {
  std::map<std::pair<uint64_t, uint64_t>, std::vector<const TraceEvent *>> rows;
  for (const TraceEvent &event : trace.events)
    if (event.phase == "X")
      rows[{event.process, event.thread}].push_back(&event);
  for (auto &[row, events] : rows) {
    std::stable_sort(events.begin(), events.end(),
                     [](const TraceEvent *a, const TraceEvent *b) { return a->begin < b->begin; });
    for (size_t i = 1; i < events.size(); ++i)
      if (events[i]->begin < events[i - 1]->end)
        return "process " + std::to_string(row.first) + " thread " + std::to_string(row.second) + " overlaps itself";
  }
  return {};
}

} // namespace

Trace::Trace(const std::string &path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::optional<Json> whole = parseJson(text);
  const Json *list = whole ? whole->find("traceEvents") : nullptr;
  if (!list) {
    problem = "no trace: " + text.substr(0, 200);
    return;
  }
  for (const Json &object : list->items) {
    std::optional<TraceEvent> event = eventOf(object);
    if (!event)
      problem = "not an event";
    else
      events.push_back(std::move(*event));
  }
}

std::vector<TraceEvent> Trace::find(const std::string &phase, const std::string &name) const {
  std::vector<TraceEvent> matching;
  std::copy_if(events.begin(), events.end(), std::back_inserter(matching),
               [&](const TraceEvent &event) { return event.phase == phase && event.name == name; });
  return matching;
}

std::string checkTrace(const Trace &trace, const TracedGroup &group) {
  if (!trace.problem.empty())
    return trace.problem;
  for (uint64_t number : group.calls)
    if (std::string problem = checkCall(trace, group, number); !problem.empty())
      return "call " + std::to_string(number) + ": " + problem;
  const auto isOther = [&](const TraceEvent &event) {
    return event.phase == "X" && event.process >= group.firstProcess &&
           event.process < group.firstProcess + group.program->ranks() &&
           std::none_of(group.calls.begin(), group.calls.end(),
                        [&](uint64_t number) { return event.arguments.at("call") == std::to_string(number); });
  };
  if (std::any_of(trace.events.begin(), trace.events.end(), isOther))
    return "there is another call";
  if (std::string problem = checkArrows(trace, group.firstProcess, group.program->ranks()); !problem.empty())
    return problem;
  return checkRows(trace);
}

} // namespace gc3::test
