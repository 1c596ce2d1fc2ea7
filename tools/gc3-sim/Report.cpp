// SPDX-License-Identifier: Apache-2.0
#include "Report.h"
#include "gc3/Common/Opcode.h"
#include "gc3/Simulate/CriticalPath.h"
#include "trace/Events.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <numeric>

namespace gc3::sim {

using simulate::Cause;
using simulate::PartKind;
using trace::jsonString;

namespace {

const char *nameOf(Cause cause) {
  switch (cause) {
  case Cause::Launch: return "the launch";
  case Cause::Order: return "its thread block";
  case Cause::Wait: return "another thread block";
  case Cause::Message: return "a message";
  case Cause::Slot: return "a free slot";
  }
  return "";
}

const char *opcodeOf(const core::Program &program, uint32_t step) {
  return common::name(static_cast<common::Opcode>(program.instruction(step).opcode()));
}

} // namespace

std::string nameOf(const simulate::PathPart &part, const simulate::Fabric &fabric) {
  switch (part.kind) {
  case PartKind::Launch: return "launch";
  case PartKind::Step: return "steps";
  case PartKind::Prepare: return "preparation of steps";
  case PartKind::Wait: return "waits between thread blocks";
  case PartKind::Latency: return "latency of messages";
  case PartKind::Slot: return "notice of free slots";
  case PartKind::Queue: return "earlier messages of a connection";
  case PartKind::Block: return "speed of thread blocks";
  case PartKind::Resource: return fabric.nameOf(part.resource);
  case PartKind::End: return "return of slots over the network";
  }
  return "";
}

Place placeOf(const core::Program &program, uint32_t step) {
  Place place{program.rankOfStep(step), 0, step - program.firstStep(program.rankOfStep(step))};
  for (const bundle::fbs::ThreadBlock &block : program.rank(place.rank).threadBlocks) {
    if (place.step < block.instruction_count())
      break;
    place.step -= block.instruction_count();
    ++place.block;
  }
  return place;
}

void printCriticalPath(llvm::raw_ostream &out, const Recorded &call) {
  const simulate::CriticalPath path = criticalPath(call.prediction);
  out << "# critical path of " << call.row.program << ", " << call.row.bytes
      << " bytes: " << llvm::format("%.2f us", call.prediction.time) << " in " << path.steps.size() << " steps\n";
  for (const simulate::PathPart &part : path.parts)
    out << llvm::format("#   %6.2f %% %10.2f us  ", 100 * part.time / call.prediction.time, part.time)
        << nameOf(part, call.fabric) << '\n';
  out << "#   begin (us)   end (us)  step\n";
  for (const simulate::PathStep &step : path.steps) {
    const Place place = placeOf(call.program, step.step);
    out << llvm::format("#   %10.2f %10.2f  ", step.begin, step.end) << opcodeOf(call.program, step.step) << ", rank "
        << place.rank << ", thread block " << place.block << ", step " << place.step << ", tile " << step.tile
        << ", after " << nameOf(step.cause);
    if (const std::string source = call.input.placeOf(call.index, step.step); !source.empty())
      out << " (" << source << ")";
    out << '\n';
  }
}

void printResources(llvm::raw_ostream &out, const Recorded &call) {
  const std::vector<simulate::Resource> &all = call.fabric.resources();
  std::vector<uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  const auto use = [&](uint32_t i) { return call.prediction.bytesMoved[i] / (all[i].capacity * call.prediction.time); };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return use(a) > use(b); });
  out << "# use of resources by " << call.row.program << ", " << call.row.bytes << " bytes\n";
  out << "#       use        bytes  resource\n";
  for (uint32_t i : order)
    if (call.prediction.bytesMoved[i] > 0)
      out << llvm::format("#  %6.2f %% %12.0f  ", 100 * use(i), call.prediction.bytesMoved[i]) << call.fabric.nameOf(i)
          << '\n';
}

/// Writes `baseline` and `speedup`: numbers, or null.
static void writeBaseline(llvm::raw_ostream &out, const Simulated &row) {
  out << ", \"baseline\": ";
  if (row.baseline)
    out << llvm::format("%.15g", row.baseline->time) << ", \"baseline_program\": " << jsonString(row.baseline->name);
  else
    out << "null, \"baseline_program\": null";
  out << ", \"speedup\": ";
  if (const std::optional<double> speedup = row.speedup())
    out << llvm::format("%.15g", *speedup);
  else
    out << "null";
}

std::string jsonOf(const CommandLine &line, const std::vector<Simulated> &rows) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "{\n  \"tool\": \"gc3-sim " GC3_SIM_VERSION "\",\n  \"file\": " << jsonString(line.inputs.front())
      << ",\n  \"topology\": " << jsonString(line.topology) << ",\n  \"rows\": [";
  const char *separator = "\n    ";
  for (const Simulated &each : rows) {
    const run::Row &row = each.row;
    out << separator << "{\"size\": " << row.bytes << ", \"time\": " << llvm::format("%.15g", each.time)
        << ", \"program\": " << jsonString(row.program) << ", \"collective\": " << jsonString(row.collective)
        << ", \"ranks\": " << row.ranks << ", \"count\": " << row.count << ", \"type\": " << jsonString(row.type)
        << ", \"protocol\": " << jsonString(EnumNameProtocol(static_cast<bundle::fbs::Protocol>(each.protocol)))
        << ", \"root\": " << row.root << ", \"instructions\": " << each.instructions
        << ", \"thread_blocks\": " << each.threadBlocks << ", \"simulated_blocks\": " << each.simulatedBlocks;
    if (!line.baseline.empty())
      writeBaseline(out, each);
    out << "}";
    separator = ",\n    ";
  }
  out << "\n  ]\n}\n";
  return out.str();
}

} // namespace gc3::sim
