// SPDX-License-Identifier: Apache-2.0
// Quotes text and styles the graphs. Messages have colours of Graphviz's scheme `dark2`, which are easy to distinguish.
#include "DotParts.h"
#include "gc3/IR/PrintParts.h"
#include <numeric>

using namespace gc3;
using namespace gc3::ir;

std::string emit::quoted(llvm::StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + '"';
}

std::string emit::label(llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream out(text);
  print(out);
  return quoted(out.str());
}

void emit::beginGraph(llvm::raw_ostream &out, const char *level, const ProgramInfo &info) {
  out << "digraph " << quoted(info.name)
      << " {\n  graph [label=" << label([&](llvm::raw_ostream &title) { printHeader(title, level, info); })
      << " newrank=true labelloc=t fontname=\"Helvetica\" fontsize=16 nodesep=0.2 ranksep=0.35]\n"
         "  node [shape=box style=\"rounded,filled\" fontname=\"Helvetica\" fontsize=11 height=0.3 color=\"#5b6472\"]\n"
         "  edge [fontname=\"Helvetica\" fontsize=9 arrowsize=0.6]\n";
}

void emit::beginCluster(llvm::raw_ostream &out, unsigned depth, const std::string &id, llvm::StringRef name) {
  out.indent(2 * depth) << "subgraph cluster_" << id << " {\n";
  out.indent(2 * depth + 2) << "graph [label=" << quoted(name)
                            << " labeljust=l fontsize=12 style=\"rounded,filled\" color=\"#c3cad5\" fillcolor=\""
                            << (depth % 2 != 0 ? "#f3f5f8" : "#ffffff") << "\"]\n";
}

const char *emit::dependencyStyle(bool isFalse) {
  return isFalse ? "[style=dashed color=\"#8a93a1\"]" : "[color=\"#3d4450\"]";
}

std::string emit::messageStyle(uint32_t channel) {
  return "[colorscheme=dark28 color=" + std::to_string(1 + channel % 8) + " penwidth=1.6]";
}

const char *emit::fillStyle(bool reduces) {
  return reduces ? "fillcolor=\"#fde8c8\"" : "fillcolor=\"#dcebfa\"";
}

void emit::writeByRank(llvm::raw_ostream &out, uint32_t ranks, uint32_t nodes,
                       llvm::function_ref<uint32_t(uint32_t)> rankOf, llvm::function_ref<void(uint32_t)> write) {
  std::vector<uint32_t> begin(ranks + 2); // for a counting sort by rank; after the sort, the nodes of rank r are
                                          // order[begin[r]] to order[begin[r + 1] - 1]
  for (uint32_t node = 0; node != nodes; ++node)
    ++begin[rankOf(node) + 2];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<uint32_t> order(nodes);
  for (uint32_t node = 0; node != nodes; ++node)
    order[begin[rankOf(node) + 1]++] = node;
  for (uint32_t rank = 0; rank != ranks; ++rank) {
    if (begin[rank] == begin[rank + 1])
      continue;
    beginCluster(out, 1, "rank" + std::to_string(rank), "rank " + std::to_string(rank));
    for (uint32_t i = begin[rank]; i != begin[rank + 1]; ++i)
      write(order[i]);
    out << "  }\n";
  }
}
