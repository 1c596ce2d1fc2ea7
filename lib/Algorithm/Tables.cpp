// SPDX-License-Identifier: Apache-2.0
#include "Tables.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <tuple>

namespace gc3::algorithm {

namespace {

/// Prints "[1, 2, 3]", on several lines if it is long.
template <typename Numbers>
void list(llvm::raw_ostream &out, const Numbers &numbers, unsigned indent) {
  constexpr size_t longest = 120; // columns
  std::string line = "[";
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::string number = std::to_string(numbers[i]) + (i + 1 < numbers.size() ? "," : "]");
    if (line.size() + number.size() + 1 > longest - indent) {
      out << line << '\n';
      out.indent(indent + 4);
      line.clear();
    }
    line += (line.empty() || line == "[" ? "" : " ") + number;
  }
  out << line;
}

auto kindOf(const Operation &op) {
  return std::tuple(op.from.rank != op.to.rank, op.kind, op.from.buffer, op.to.buffer, op.count);
}

/// Multiplies `base` by 10 until it exceeds `index`. Powers of ten make the encoded numbers readable.
void raise(uint64_t &base, uint32_t index) {
  while (base <= index)
    base *= 10;
}

} // namespace

const char *nameOf(ir::BufferId buffer) {
  return buffer == ir::InputBuffer ? "input" : buffer == ir::OutputBuffer ? "output" : "scratch";
}

void Tables::sort() {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

uint64_t Tables::pairOf(const Operation &operation) const {
  const std::pair<uint32_t, uint32_t> pair(operation.from.rank, operation.to.rank);
  return static_cast<uint64_t>(std::lower_bound(pairs.begin(), pairs.end(), pair) - pairs.begin());
}

void Tables::declare(llvm::raw_ostream &out) const {
  std::vector<uint32_t> from, to;
  for (const auto &[first, second] : pairs)
    from.push_back(first), to.push_back(second);
  out << "    // A number in a list encodes a pair p of ranks, from[p] and to[p], and the chunk's index on one or on "
         "both.\n"
         "    let from = ";
  list(out, from, 4);
  out << ";\n    let to = ";
  list(out, to, 4);
  out << ";\n";
}

void Tables::print(llvm::raw_ostream &out, const std::vector<Operation> &operations, unsigned indent) const {
  std::vector<Operation> sorted = operations;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Operation &a, const Operation &b) { return kindOf(a) < kindOf(b); });
  for (size_t begin = 0, end; begin < sorted.size(); begin = end) {
    for (end = begin; end < sorted.size() && kindOf(sorted[end]) == kindOf(sorted[begin]);)
      ++end;
    printKind(out, llvm::makeArrayRef(sorted).slice(begin, end - begin), indent);
  }
}

/// Prints a loop over numbers. Each number encodes the pair of ranks, the destination index and, if it differs from the
/// destination index, the source index.
void Tables::printKind(llvm::raw_ostream &out, llvm::ArrayRef<Operation> sameKind, unsigned indent) const {
  const Operation &first = sameKind.front();
  uint64_t ofFrom = 1, ofTo = 1; // bases of the source index and of the destination index in a number
  bool isSame = true;
  for (const Operation &op : sameKind) {
    raise(ofFrom, op.from.index);
    raise(ofTo, op.to.index);
    isSame &= op.from.index == op.to.index;
  }
  if (isSame)
    ofFrom = 1;
  std::vector<uint64_t> numbers;
  for (const Operation &op : sameKind)
    numbers.push_back((pairOf(op) * ofFrom + (isSame ? 0 : op.from.index)) * ofTo + op.to.index);
  out.indent(indent) << "for n in ";
  list(out, numbers, indent);
  const std::string base = std::to_string(ofTo), j = "n % " + base, count = std::to_string(first.count);
  const std::string i = isSame ? j : "n / " + base + " % " + std::to_string(ofFrom);
  auto chunk = [&](const char *rank, ir::BufferId buffer, const std::string &index) {
    return std::string("chunk(") + rank + "[p], " + nameOf(buffer) + ", " + index +
           (first.count > 1 ? ", " + count : "") + ")";
  };
  out << " {\n";
  out.indent(indent + 4) << "let p = n / " << ofFrom * ofTo << ";\n";
  out.indent(indent + 4);
  if (first.kind == SendKind::Reduce)
    out << chunk("to", first.to.buffer, j) << ".reduce(" << chunk("from", first.from.buffer, i) << ");\n";
  else
    out << chunk("from", first.from.buffer, i) << ".copy(to[p], " << nameOf(first.to.buffer) << ", " << j << ");\n";
  out.indent(indent) << "}\n";
}

} // namespace gc3::algorithm
