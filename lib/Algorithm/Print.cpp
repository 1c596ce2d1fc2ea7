// SPDX-License-Identifier: Apache-2.0
// Prints an algorithm as a program. Operations of a step become a loop over the points of the lattice if all points
// perform them in the same way. Ranks and blocks are then relative to the point. In a ring, operations that only every
// k-th rank performs also become a loop. The other operations are merged if their chunks are consecutive. They are
// printed as lines, or as tables if there are too many. Their total number is known only after the last step, so
// finish() inserts them into the text.
#include "gc3/Algorithm/Print.h"
#include "Tables.h"
#include "gc3/Support/Quantity.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <map>
#include <tuple>

namespace gc3::algorithm {

namespace {

auto orderOf(const Operation &op) {
  return std::tuple(op.from.rank != op.to.rank, op.kind, op.from.rank, op.to.rank, op.from.buffer, op.to.buffer,
                    op.from.index, op.to.index);
}

class Printer {
public:
  /// `at` is the name of the function that adds points of the grid.
  Printer(const topology::Topology &topology, const ir::Collective &collective, std::string at)
      : out(text), lattice(latticeOfLoops(topology)), collective(collective), at(std::move(at)) {}

  llvm::raw_ostream &stream() { return out; }
  /// Prints the function that loops call to add points of the grid. A ring needs no function, because its loops use
  /// `%`.
  void functions();
  /// Records the current position as the place for the lists that tables refer to.
  void lists() { listsAt = out.tell(); }
  void block(std::vector<Operation> operations, unsigned indent);

  /// Writes the whole program. Uses tables if operations outside loops take more than `mostLines` lines.
  void finish(llvm::raw_ostream &to, size_t mostLines);

private:
  /// Operations outside loops, which finish() inserts into the text.
  struct Remainder {
    uint64_t at; ///< their position in the text
    std::vector<Operation> operations;
    unsigned indent;
  };

  bool isRing() const { return lattice.size().size() == 1; }

  /// Returns the operation relative to rank `base`. Operations that differ only in the base give the same result.
  Operation relative(const Operation &op, uint32_t base) const {
    auto shifted = [&](const Location &place) {
      return Location{lattice.difference(place.rank, base), place.buffer,
                      relativeIndex(lattice, collective, place, base)};
    };
    return {shifted(op.from), shifted(op.to), op.kind, op.count};
  }

  /// Prints a loop for the operations that every stride-th rank performs in the same way. Leaves the other operations
  /// in `operations`.
  void loop(std::vector<Operation> &operations, uint32_t stride, unsigned indent);

  /// Returns true if the chunks of `next` directly follow the chunks of `op`, so that one operation can move both. In a
  /// loop, merged chunks must not cross the end of a block. On some rank, this block is the last one of the buffer, and
  /// the next block is the first one.
  bool continues(const Operation &op, const Operation &next, bool inLoop) const {
    auto follows = [&](const Location &a, const Location &b) {
      const uint32_t size = blockSize(collective, a.buffer);
      return a.rank == b.rank && a.buffer == b.buffer && a.index + op.count == b.index &&
             !(inLoop && size && b.index % size == 0);
    };
    return op.kind == next.kind && follows(op.from, next.from) && follows(op.to, next.to);
  }

  void merge(std::vector<Operation> &operations, bool inLoop) const {
    std::sort(operations.begin(), operations.end(),
              [](const Operation &a, const Operation &b) { return orderOf(a) < orderOf(b); });
    std::vector<Operation> merged;
    for (const Operation &op : operations)
      if (!merged.empty() && continues(merged.back(), op, inLoop))
        merged.back().count += op.count;
      else
        merged.push_back(op);
    operations = std::move(merged);
  }

  /// Returns the text of a rank: relative to r in a loop over every stride-th rank r, or its number if `stride` is 0
  /// (outside loops).
  std::string rankText(uint32_t rank, uint32_t stride) const {
    if (stride == 0)
      return std::to_string(rank);
    if (rank < stride)
      return rank == 0 ? "r" : "r + " + std::to_string(rank);
    return isRing() ? "(r + " + std::to_string(rank) + ") % " + std::to_string(collective.ranks)
                    : at + "(r, " + std::to_string(rank) + ")";
  }

  std::string indexText(const Location &location, uint32_t stride) const {
    const uint32_t size = stride ? blockSize(collective, location.buffer) : 0;
    if (!size)
      return std::to_string(location.index);
    const std::string times = size == 1 ? "" : std::to_string(size) + " * ";
    auto plus = [](uint32_t offset) { return offset ? " + " + std::to_string(offset) : ""; };
    if (location.index / size < stride)
      return times + "r" + plus(location.index);
    if (!isRing())
      return times + rankText(location.index / size, stride) + plus(location.index % size);
    return "(" + times + "r" + plus(location.index) + ") % " + std::to_string(size * collective.ranks);
  }

  void operation(llvm::raw_ostream &to, const Operation &op, uint32_t stride, unsigned indent) const {
    auto chunk = [&](const Location &place) {
      return "chunk(" + rankText(place.rank, stride) + ", " + nameOf(place.buffer) + ", " + indexText(place, stride) +
             (op.count > 1 ? ", " + std::to_string(op.count) : "") + ")";
    };
    to.indent(indent);
    if (op.kind == SendKind::Reduce)
      to << chunk(op.to) << ".reduce(" << chunk(op.from) << ");\n";
    else
      to << chunk(op.from) << ".copy(" << rankText(op.to.rank, stride) << ", " << nameOf(op.to.buffer) << ", "
         << indexText(op.to, stride) << ");\n";
  }

  std::string text;
  llvm::raw_string_ostream out;      ///< writes to `text`
  std::vector<Remainder> remainders; ///< by position
  uint64_t listsAt = 0;
  const topology::Lattice lattice;
  const ir::Collective &collective;
  const std::string at;
};

void Printer::functions() {
  if (isRing())
    return;
  std::vector<std::string> sizes, terms;
  const uint32_t cell = lattice.cell();
  uint32_t stride = collective.ranks;
  for (uint32_t size : lattice.size()) {
    stride /= size;
    const std::string coordinate = stride == 1 ? "" : " / " + std::to_string(stride), modulo = std::to_string(size);
    sizes.push_back(modulo);
    terms.push_back("(r" + coordinate + " + v" + coordinate + ") % " + modulo +
                    (stride == 1 ? "" : " * " + std::to_string(stride)));
  }
  if (cell > 1)
    terms.push_back("v % " + std::to_string(cell));
  out << "// " << (cell > 1 ? "Each " + std::to_string(cell) + " ranks are a point" : "The ranks are points")
      << " of a closed grid of " << llvm::join(sizes, " x ") << ". Rank v is as far from rank 0, in each direction, as "
      << at << "(r, v) is from r.\nfn " << at << "(r: int, v: int) = " << llvm::join(terms, " + ") << ";\n\n";
}

void Printer::loop(std::vector<Operation> &operations, uint32_t stride, unsigned indent) {
  using Key = decltype(orderOf(Operation()));
  std::map<Key, std::vector<const Operation *>> byRelative;
  for (const Operation &op : operations)
    byRelative[orderOf(relative(op, op.from.rank - op.from.rank % stride))].push_back(&op);
  std::vector<Operation> inLoop, left;
  for (const auto &[key, members] : byRelative)
    if (members.size() == collective.ranks / stride)
      inLoop.push_back(relative(*members.front(), members.front()->from.rank - members.front()->from.rank % stride));
    else
      for (const Operation *op : members)
        left.push_back(*op);
  merge(inLoop, true);
  if (!inLoop.empty()) {
    out.indent(indent) << "for r in 0.." << collective.ranks << (stride > 1 ? " by " + std::to_string(stride) : "")
                       << " {\n";
    for (const Operation &op : inLoop)
      operation(out, op, stride, indent + 4);
    out.indent(indent) << "}\n";
  }
  operations = std::move(left);
}

void Printer::block(std::vector<Operation> operations, unsigned indent) {
  // shorter loops are harder to read than lines; a loop over all points is printed even if it is shorter
  constexpr uint32_t fewestIterations = 4;
  const uint32_t cell = lattice.cell();
  for (uint32_t stride = cell; stride < collective.ranks && !operations.empty(); stride += cell)
    if (stride == cell || (isRing() && collective.ranks % stride == 0 && collective.ranks / stride >= fewestIterations))
      loop(operations, stride, indent);
  merge(operations, false);
  if (!operations.empty())
    remainders.push_back({out.tell(), std::move(operations), indent});
}

void Printer::finish(llvm::raw_ostream &to, size_t mostLines) {
  size_t lines = 0;
  for (const Remainder &some : remainders)
    lines += some.operations.size();
  const bool hasTables = lines > mostLines;
  Tables tables;
  for (const Remainder &some : remainders)
    for (size_t i = 0; hasTables && i < some.operations.size(); ++i)
      tables.add(some.operations[i]);
  tables.sort();
  const llvm::StringRef written = out.str();
  uint64_t done = listsAt;
  to << written.take_front(done);
  if (hasTables)
    tables.declare(to);
  for (const Remainder &some : remainders) {
    to << written.slice(done, some.at);
    done = some.at;
    if (hasTables)
      tables.print(to, some.operations, some.indent);
    for (size_t i = 0; !hasTables && i < some.operations.size(); ++i)
      operation(to, some.operations[i], 0, some.indent);
  }
  to << written.drop_front(done);
}

} // namespace

void print(llvm::raw_ostream &to, const topology::Topology &topology, const ir::Collective &collective,
           const Demand &demand, const Algorithm &algorithm, const ProgramText &text) {
  const Operations operations = placeOperations(topology, collective, demand, algorithm);
  Printer printer(topology, collective, text.at);
  llvm::raw_ostream &out = printer.stream();
  for (const std::string &line : text.comment)
    out << (line.empty() ? "//" : "// ") << line << '\n';
  for (const std::string &import : text.imports)
    out << "import \"" << import << "\";\n";
  if (!text.imports.empty())
    out << '\n';
  if (text.declaresPlacement)
    out << "param inplace: bool = true;\n\n";
  if (text.isFirst)
    printer.functions();
  out << "program " << text.name << " implements " << text.implements << " {\n";
  if (!text.protocol.empty())
    out << "    protocol " << text.protocol << ";\n";
  if (!text.sizes.empty())
    out << "    sizes " << text.sizes << ";\n";
  printer.lists();
  if (!operations.before.empty()) {
    out << "    // Local copies of chunks that a rank has at the beginning.\n";
    printer.block(operations.before, 4);
  }
  for (uint32_t step = 0; step < algorithm.steps(); ++step) {
    out << "    // Step " << step + 1 << " of " << algorithm.steps() << ": "
        << quantity(algorithm.rounds[step], "round") << ".\n    {\n";
    std::vector<Operation> local, sends;
    for (const Operation &op : operations.steps[step])
      (op.from.rank == op.to.rank ? local : sends).push_back(op);
    printer.block(std::move(local), 8);
    printer.block(std::move(sends), 8);
    out << "    }\n";
  }
  if (!operations.after.empty()) {
    out << "    // Local copies to the output.\n";
    printer.block(operations.after, 4);
  }
  out << "}\n";
  printer.finish(to, text.mostLines);
}

} // namespace gc3::algorithm
