// SPDX-License-Identifier: Apache-2.0
// Reads the table that `nvidia-smi topo -m` prints: a row and a column for each GPU and network card. The columns of
// CPUs, and all text after the rows, have no links.
#include "Machine.h"
#include "gc3/Topology/Import.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace gc3::topology {

namespace {

using llvm::StringRef;
using Words = llvm::SmallVector<StringRef, 24>;

/// The most NVLinks that a GPU of any generation has.
constexpr uint32_t mostNvlinks = 18;

/// Returns the text without the escape sequences of colored and underlined output: ESC, [, digits, a letter.
std::string withoutEscapes(StringRef text) {
  std::string stripped;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      stripped += text[i];
      continue;
    }
    while (i < text.size() && text[i] != '\n' && !llvm::isAlpha(text[i]))
      ++i;
    if (i < text.size() && text[i] == '\n')
      stripped += '\n';
  }
  return stripped;
}

bool isGpu(StringRef device) {
  unsigned number = 0;
  return device.consume_front("GPU") && !device.getAsInteger(10, number);
}

bool isCell(StringRef cell) {
  static constexpr StringRef known[] = {"X", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC"};
  return llvm::is_contained(known, cell);
}

/// Returns true for a way that stays below a host bridge.
bool isNear(StringRef cell) {
  return cell == "PIX" || cell == "PXB";
}

class SmiReader {
public:
  explicit SmiReader(std::string &error) : error(error) {}

  std::optional<Topology> read(StringRef text) {
    unsigned number = 0;
    for (StringRef rest = text; !rest.empty() && error.empty();) {
      StringRef line;
      std::tie(line, rest) = rest.split('\n');
      readLine(line, ++number);
    }
    if (error.empty() && columns.empty())
      error = "the text has no table of 'nvidia-smi topo -m', which begins with 'GPU0'";
    if (error.empty() && rows.size() < gpus)
      error =
          "the table has " + std::to_string(rows.size()) + " rows of GPUs, but " + std::to_string(gpus) + " columns";
    if (!error.empty())
      return {};
    return convert();
  }

private:
  struct Row {
    Words cells;
    unsigned line;
  };

  void fail(unsigned line, const std::string &message) {
    if (error.empty())
      error = "line " + std::to_string(line) + ": " + message;
  }

  void readLine(StringRef line, unsigned number) {
    Words words;
    llvm::SplitString(line, words);
    if (words.empty())
      return;
    if (columns.empty()) {
      if (isGpu(words[0]))
        readHeader(words, number);
      return;
    }
    if (isGpu(words[0]) && rows.size() < gpus)
      readRow(words, number);
  }

  /// The devices are the words before the columns of CPUs: "CPU Affinity", "NUMA Affinity", "GPU NUMA ID".
  void readHeader(const Words &words, unsigned number) {
    for (StringRef word : words) {
      if (word == "CPU" || word == "NUMA" || word == "GPU")
        break;
      columns.push_back(word);
    }
    while (gpus < columns.size() && isGpu(columns[gpus]))
      ++gpus;
    if (gpus < 2)
      fail(number, "a topology needs at least 2 GPUs, but the table has " + std::to_string(gpus));
    if (gpus > Machine::MaxGpus)
      fail(number, "the table has " + std::to_string(gpus) + " GPUs; at most " + std::to_string(Machine::MaxGpus) +
                       " are read");
  }

  void readRow(Words words, unsigned number) {
    const StringRef device = words[0];
    if (device != columns[rows.size()])
      return fail(number, "expected the row of '" + columns[rows.size()].str() + "', found '" + device.str() + "'");
    words.erase(words.begin());
    if (words.size() < columns.size())
      return fail(number, "the row has " + std::to_string(words.size()) + " cells, but the table has " +
                              std::to_string(columns.size()) + " devices");
    words.resize(columns.size());
    for (StringRef cell : words)
      if (!isCell(cell) && nvlinksOf(cell) == 0)
        return fail(number, "unknown connection '" + cell.str() + "'");
    for (uint32_t other = 0; other < rows.size(); ++other)
      if (words[other] != rows[other].cells[rows.size()])
        return fail(number, "'" + device.str() + "' and '" + columns[other].str() + "' have '" + words[other].str() +
                                "' here, but '" + rows[other].cells[rows.size()].str() + "' in line " +
                                std::to_string(rows[other].line));
    rows.push_back({std::move(words), number});
  }

  /// Returns n for a cell "NVn", else 0.
  static uint32_t nvlinksOf(StringRef cell) {
    uint32_t count = 0;
    return cell.consume_front("NV") && !cell.getAsInteger(10, count) && count <= 1024 ? count : 0;
  }

  Topology convert() const {
    Machine machine(gpus);
    machine.origin = "nvidia-smi topo -m";
    for (uint32_t a = 0; a < gpus; ++a)
      for (uint32_t b = 0; b < gpus; ++b)
        if (a != b)
          machine.nvlinks[a * gpus + b] = nvlinksOf(rows[a].cells[b]);
    useSwitch(machine);
    for (uint32_t gpu = 0; gpu < gpus; ++gpu)
      for (uint32_t other = 0; other < gpus && machine.pcieSwitch[gpu] == Machine::None; ++other)
        if (isNear(rows[gpu].cells[other]))
          machine.pcieSwitch[gpu] = std::min(gpu, other);
    machine.cards = countCards();
    return toTopology(machine);
  }

  /// If all pairs have an equal number of NVLinks, and a GPU would need more NVLinks than any GPU has, switches connect
  /// the GPUs. Then each pair has all links of a GPU.
  void useSwitch(Machine &machine) const {
    const uint32_t count = machine.nvlinks[1];
    for (uint32_t a = 0; a < gpus; ++a)
      for (uint32_t b = 0; b < gpus; ++b)
        if (a != b && machine.nvlinks[a * gpus + b] != count)
          return;
    if (count * (gpus - 1) <= mostNvlinks)
      return;
    std::fill(machine.nvlinks.begin(), machine.nvlinks.end(), 0);
    std::fill(machine.switchLinks.begin(), machine.switchLinks.end(), count);
  }

  /// Returns the number of cards near a GPU. If there is none, returns the number of all cards.
  uint32_t countCards() const {
    uint32_t near = 0;
    for (size_t column = gpus; column < columns.size(); ++column)
      near += llvm::any_of(rows, [&](const Row &row) { return isNear(row.cells[column]); }) ? 1 : 0;
    return near != 0 ? near : static_cast<uint32_t>(columns.size()) - gpus;
  }

  std::string &error;
  Words columns; ///< names of the devices, GPUs first
  uint32_t gpus = 0;
  std::vector<Row> rows; ///< of GPUs
};

} // namespace

std::optional<Topology> parseNvidiaSmi(const std::string &text, std::string &error) {
  error.clear();
  return SmiReader(error).read(withoutEscapes(text));
}

} // namespace gc3::topology
