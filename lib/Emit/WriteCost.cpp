// SPDX-License-Identifier: Apache-2.0
// Writes costs as text and as JSON. In the text, bytes are multiples of the size of a call, and ranks with equal counts
// that follow each other share a row.
#include "gc3/Emit/Cost.h"
#include "gc3/Support/JsonWriter.h"
#include "gc3/Support/Quantity.h"
#include "llvm/Support/Format.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::emit;

/// Returns slots, or a mean of slots, as a multiple of the size of a call.
static std::string sizes(double slots, const Cost &cost) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::format("%.6g", cost.slotsOfCall == 0 ? 0 : slots / double(cost.slotsOfCall));
  return out.str();
}

static uint64_t largest(const std::vector<uint64_t> &numbers) {
  return *std::max_element(numbers.begin(), numbers.end());
}

static void writeSummary(llvm::raw_ostream &out, const Cost &cost) {
  auto row = [&](const char *what, const std::string &number, const std::string &bound) {
    out << llvm::format("  %-32s %12s", what, number.c_str());
    if (!bound.empty())
      out << llvm::format(" %12s", bound.c_str());
    out << '\n';
  };
  auto bound = [&](auto valueOf) { return cost.bounds ? valueOf(*cost.bounds) : std::string("-"); };
  std::vector<uint64_t> slotsOut, slotsIn;
  for (const RankCost &rank : cost.ranks)
    slotsOut.push_back(rank.slotsOut), slotsIn.push_back(rank.slotsIn);
  // Some rank sends and receives at least the mean.
  const auto ranks = double(cost.ranks.size());
  auto atLeast = [&](const CostBounds &bounds, const std::vector<uint64_t> &byRank) {
    return sizes(std::max(double(largest(byRank)), double(bounds.slotsSent) / ranks), cost);
  };
  row("", "program", "lower bound");
  row("messages on the longest path", std::to_string(cost.pathMessages),
      bound([](const CostBounds &bounds) { return std::to_string(bounds.messages); }));
  row("steps on the longest path", std::to_string(cost.pathSteps), "");
  row("bytes sent by all ranks", sizes(double(cost.slotsSent()), cost),
      bound([&](const CostBounds &bounds) { return sizes(double(bounds.slotsSent), cost); }));
  row("bytes out, at most by a rank", sizes(double(largest(slotsOut)), cost),
      bound([&](const CostBounds &bounds) { return atLeast(bounds, bounds.slotsOut); }));
  row("bytes in, at most by a rank", sizes(double(largest(slotsIn)), cost),
      bound([&](const CostBounds &bounds) { return atLeast(bounds, bounds.slotsIn); }));
  row("channels", std::to_string(cost.channels), "");
}

static std::string figure(std::optional<double> number) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (number)
    out << llvm::format("%.6g", *number);
  return number ? out.str() : "-";
}

static void writeMachine(llvm::raw_ostream &out, const MachineCost &cost) {
  auto row = [&](const char *what, double program, std::optional<double> least) {
    out << llvm::format("  %-32s %12s %12s\n", what, figure(program).c_str(), figure(least).c_str());
  };
  out << "\n  on " << cost.machine << (cost.whySimple.empty() ? "" : ", under Simple: " + cost.whySimple) << '\n';
  row("us of the longest path", cost.latency, cost.leastLatency);
  row("us per MB of the call", cost.perMegabyte, cost.leastPerMegabyte);
  if (!cost.busiest.empty())
    out << "  busiest: " << cost.busiest << '\n';
}

static void writeRanks(llvm::raw_ostream &out, const Cost &cost) {
  auto row = [&](const std::string &ranks, auto... cells) {
    out << llvm::format("  %-14s", ranks.c_str());
    for (const std::string &cell : {std::string(cells)...})
      out << llvm::format(" %13s", cell.c_str());
    out << '\n';
  };
  row("rank", "thread blocks", "steps", "messages out", "bytes out", "messages in", "bytes in");
  for (size_t first = 0; first != cost.ranks.size();) {
    const RankCost &rank = cost.ranks[first];
    size_t end = first + 1;
    while (end != cost.ranks.size() && cost.ranks[end] == rank)
      ++end;
    row(std::to_string(first) + (end == first + 1 ? "" : " to " + std::to_string(end - 1)),
        std::to_string(rank.threadBlocks), std::to_string(rank.steps), std::to_string(rank.messagesOut),
        sizes(double(rank.slotsOut), cost), std::to_string(rank.messagesIn), sizes(double(rank.slotsIn), cost));
    first = end;
  }
}

void gc3::emit::writeCosts(llvm::raw_ostream &out, const std::vector<Program> &programs, MachineCosts onMachine) {
  for (const Program &program : programs) {
    const ProgramInfo &info = *program.info;
    const Cost cost = costOf(program);
    out << (&program == programs.data() ? "" : "\n") << info.name << ": " << info.collective.form() << " on "
        << quantity(info.collective.ranks, "rank") << ", " << name(info.protocol)
        << "; bytes are multiples of the size of a call\n";
    writeSummary(out, cost);
    if (onMachine)
      writeMachine(out, onMachine(program, cost));
    out << '\n';
    writeRanks(out, cost);
  }
}

static void writeMachine(JsonWriter &json, const MachineCost &cost) {
  auto number = [&](const char *key, std::optional<double> value) {
    json.key(key);
    value ? json.real(*value) : json.null();
  };
  json.key("topology");
  json.object([&] {
    json.key("name");
    json.value(llvm::StringRef(cost.machine));
    json.key("protocol");
    json.value(llvm::StringRef(name(cost.protocol)));
    number("latency", cost.latency);
    number("per_megabyte", cost.perMegabyte);
    json.key("busiest");
    json.value(llvm::StringRef(cost.busiest));
    number("least_latency", cost.leastLatency);
    number("least_per_megabyte", cost.leastPerMegabyte);
  });
}

static void writeObject(JsonWriter &json, const Program &program, MachineCosts onMachine) {
  const ProgramInfo &info = *program.info;
  const Cost cost = costOf(program);
  auto number = [&](const char *key, uint64_t value) {
    json.key(key);
    json.value(static_cast<int64_t>(value));
  };
  auto text = [&](const char *key, llvm::StringRef value) {
    json.key(key);
    json.value(value);
  };
  auto array = [&](const char *key, const auto &items, auto valueOf) {
    json.key(key);
    json.array([&] {
      for (const auto &item : items)
        json.value(static_cast<int64_t>(valueOf(item)));
    });
  };
  json.object([&] {
    text("name", info.name);
    text("collective", info.collective.form());
    number("ranks", info.collective.ranks);
    text("protocol", name(info.protocol));
    number("slots_of_call", cost.slotsOfCall);
    number("channels", cost.channels);
    number("path_messages", cost.pathMessages);
    number("path_steps", cost.pathSteps);
    number("slots_sent", cost.slotsSent());
    array("thread_blocks", cost.ranks, [](const RankCost &rank) { return rank.threadBlocks; });
    array("steps", cost.ranks, [](const RankCost &rank) { return rank.steps; });
    array("messages_out", cost.ranks, [](const RankCost &rank) { return rank.messagesOut; });
    array("slots_out", cost.ranks, [](const RankCost &rank) { return rank.slotsOut; });
    array("messages_in", cost.ranks, [](const RankCost &rank) { return rank.messagesIn; });
    array("slots_in", cost.ranks, [](const RankCost &rank) { return rank.slotsIn; });
    if (onMachine)
      writeMachine(json, onMachine(program, cost));
    json.key("bounds");
    if (!cost.bounds) {
      json.null();
      return;
    }
    json.object([&] {
      auto same = [](uint64_t slots) { return slots; };
      number("path_messages", cost.bounds->messages);
      number("slots_sent", cost.bounds->slotsSent);
      array("slots_out", cost.bounds->slotsOut, same);
      array("slots_in", cost.bounds->slotsIn, same);
    });
  });
}

void gc3::emit::writeCostsAsJson(llvm::raw_ostream &out, const std::vector<Program> &programs, MachineCosts onMachine) {
  JsonWriter json(out);
  json.object([&] {
    json.key("version");
    json.value(1);
    json.key("programs");
    json.array([&] {
      for (const Program &program : programs)
        writeObject(json, program, onMachine);
    });
  });
  out << '\n';
}
