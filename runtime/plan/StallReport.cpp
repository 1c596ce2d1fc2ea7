// SPDX-License-Identifier: Apache-2.0
// A block has no report if it ended, or was stopped between two steps.
#include "plan/StallReport.h"

#include "core/WaitingText.h"

namespace gc3::plan {

using namespace kernel;

namespace {

/// Returns the awaited steps of all waits of a step, because the report does not state which wait is unmet.
std::string awaitedSteps(const core::Program &program, uint32_t rank, uint32_t block, uint32_t step) {
  const bundle::RankView &view = program.rank(rank);
  const auto &instruction = view.instructions[view.threadBlocks[block].first_instruction() + step];
  std::string text;
  for (uint32_t i = 0; i < instruction.wait_count(); ++i)
    text += (i == 0 ? "" : " or ") + core::awaitedStep(view.waits[instruction.wait_begin() + i]);
  return text;
}

} // namespace

std::string stallReport(const core::Program &program, core::RankRange ranks, std::span<const Report> reports) {
  constexpr uint32_t mostLines = 16;
  std::string text;
  uint32_t waiting = 0;
  for (uint32_t rank = ranks.first; rank < ranks.end; ++rank)
    for (uint32_t index = program.firstThreadBlock(rank); index < program.firstThreadBlock(rank + 1); ++index) {
      const Report &report = reports[index - program.firstThreadBlock(ranks.first)];
      if (report.what == Waiting::Nothing || ++waiting > mostLines)
        continue;
      text += "\n  " + core::describeWaiter(program, index, report.step, report.tile);
      switch (report.what) {
      case Waiting::Step:
        text += awaitedSteps(program, rank, index - program.firstThreadBlock(rank), report.step);
        break;
      case Waiting::Slot: text += core::awaitedSlot(program, index); break;
      case Waiting::Message: text += core::awaitedMessage(program, index); break;
      case Waiting::Data: text += "the data of " + core::awaitedMessage(program, index); break;
      case Waiting::Receiver: text += core::awaitedReceiver(program, index); break;
      case Waiting::Sender: text += core::awaitedSender(program, index); break;
      case Waiting::Place: text += "its peers to use the same place of their windows in a call over the switch"; break;
      case Waiting::Nothing: break;
      }
    }
  if (waiting > mostLines)
    text += "\n  and " + std::to_string(waiting - mostLines) + " more";
  return waiting == 0 ? "; no thread block waited for anything" : ":" + text;
}

} // namespace gc3::plan
