// SPDX-License-Identifier: Apache-2.0
// Writes events in the format of gc3-run's --trace: each rank is a process, each thread block a thread.
#include "Report.h"
#include "gc3/Common/Opcode.h"
#include "trace/Events.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::sim {

using trace::Arguments;
using trace::jsonString;

namespace {

class Writer {
public:
  Writer(llvm::raw_ostream &out, const Recorded &call) : out(out), call(call), program(call.program) {}

  void write() {
    out << "{\"traceEvents\":[";
    for (uint32_t rank = 0; rank < program.ranks(); ++rank)
      nameRows(rank);
    for (uint32_t rank = 0; rank < program.ranks(); ++rank) {
      uint32_t step = program.firstStep(rank), row = 0;
      for (const bundle::fbs::ThreadBlock &block : program.rank(rank).threadBlocks) {
        for (uint32_t i = 0; i < block.instruction_count(); ++i, ++step)
          for (uint64_t tile = 0; tile < call.prediction.tiles; ++tile)
            writeStep({rank, row}, block, step, i, tile);
        ++row;
      }
    }
    out << "\n]}\n";
  }

private:
  void begin(char phase, const trace::Row &row, std::string_view name) {
    out << separator << "{\"ph\":\"" << phase << "\",\"pid\":" << row.process << ",\"tid\":" << row.thread
        << ",\"name\":" << jsonString(name);
    separator = ",\n";
  }
  void name(const trace::Row &row, const char *kind, const std::string &text) {
    begin('M', row, kind);
    out << ",\"args\":{\"name\":" << jsonString(text) << "}}";
  }
  void nameRows(uint32_t rank) {
    name({rank, 0}, "process_name", "rank " + std::to_string(rank));
    for (uint32_t block = 0; block < program.rank(rank).threadBlocks.size(); ++block)
      name({rank, block}, "thread_name", "tb " + std::to_string(block));
  }

  void writeStep(const trace::Row &row, const bundle::fbs::ThreadBlock &block, uint32_t step, uint32_t inBlock,
                 uint64_t tile) {
    const simulate::Events &events = call.prediction.events;
    const uint64_t number = tile * events.steps + step;
    const simulate::Event &event = events.all[number];
    const auto opcode = static_cast<common::Opcode>(program.instruction(step).opcode());
    begin('X', row, common::name(opcode));
    out << llvm::format(",\"ts\":%.3f,\"dur\":%.3f", event.ready, event.end - event.ready);
    Arguments arguments;
    arguments.add("step", inBlock).add("tile", tile).add("program", call.row.program);
    if (receives(opcode))
      arguments.add("recv", static_cast<uint64_t>(block.recv_peer()));
    if (sends(opcode))
      arguments.add("send", static_cast<uint64_t>(block.send_peer()));
    arguments.add("channel", block.channel()).add("slots", program.instruction(step).count());
    if (const std::string source = call.input.placeOf(call.index, step); !source.empty())
      arguments.add("source", source);
    out << ",\"args\":{" << arguments.text() << "}}";
    if (receives(opcode) && event.sentBy != simulate::Event::NoEvent)
      writeArrow(event.sentBy, number, row, event);
  }

  /// Writes an arrow from the middle of the step that sends to the middle of the step that receives.
  void writeArrow(uint64_t from, uint64_t to, const trace::Row &receiver, const simulate::Event &arrival) {
    const simulate::Events &events = call.prediction.events;
    const simulate::Event &departure = events.all[from];
    const Place sender = placeOf(program, static_cast<uint32_t>(from % events.steps));
    writeEnd({{sender.rank, sender.block}, to, false}, departure);
    writeEnd({receiver, to, true}, arrival);
  }
  void writeEnd(const trace::ArrowEnd &end, const simulate::Event &event) {
    std::string time;
    llvm::raw_string_ostream(time) << llvm::format("%.3f", (event.ready + event.end) / 2);
    out << separator << arrowText(end, time);
  }

  llvm::raw_ostream &out;
  const Recorded &call;
  const core::Program &program;
  const char *separator = "\n";
};

} // namespace

std::string traceOf(const Recorded &call) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Writer(out, call).write();
  return out.str();
}

} // namespace gc3::sim
