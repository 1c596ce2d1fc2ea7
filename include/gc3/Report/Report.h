// SPDX-License-Identifier: Apache-2.0
// A web page with plots of times by size: one HTML file that needs only a browser and loads no other files.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace gc3::report {

/// A time that is not known, such as that of a program which does not serve the size.
inline constexpr double NoValue = std::numeric_limits<double>::quiet_NaN();

/// The times of one program or candidate.
struct Curve {
  std::string name;
  std::vector<double> times;         ///< microseconds by size, or NoValue
  bool isBackground = false;         ///< drawn thin and grey, without an entry in the legend
  std::vector<std::string> labels{}; ///< by size, for tooltips and tables, such as "ring, ll"; or empty
};

/// A value between 0 and 1 for each row and size: values[row * sizes + size], or NoValue.
struct Grid {
  std::vector<std::string> rows;
  std::vector<double> values;
  std::string note{}; ///< a line under the picture; may be empty
};

/// Where the time of one program goes.
struct Detail {
  std::string name; ///< of the program
  Grid resources;   ///< use of links, ports and memories; without rows: not shown
  Grid path;        ///< parts of the critical path; the values of a size add up to 1; without rows: not shown
};

/// Sizes that a curve serves.
struct Range {
  uint32_t curve;      ///< number in Section::curves, or Baseline
  uint64_t begin, end; ///< bytes; `end` is not part of the range

  static constexpr uint32_t Baseline = UINT32_MAX; ///< the sizes are left to the baseline
};

/// What ran the calls of one size, over time.
struct History {
  uint64_t bytes;              ///< size of the smallest call
  std::vector<uint64_t> calls; ///< the numbers of the calls with which the columns begin, ascending
  Grid shares;                 ///< of the calls of each column, by program
};

/// The results of one collective.
struct Section {
  std::string title;           ///< such as "allreduce on 8 ranks"
  std::vector<uint64_t> sizes; ///< bytes, ascending
  std::vector<Curve> curves;
  std::vector<Curve> baseline{}; ///< one curve, or none: then there is no plot of speed-ups
  std::vector<Range> ranges{};   ///< ascending and disjoint; empty: not shown
  std::vector<Detail> details{};
  std::vector<History> histories{};
};

struct Page {
  std::string title;
  std::string subtitle;           ///< such as the topology and the command line
  std::vector<std::string> notes; ///< a paragraph each
  std::vector<Section> sections;
};

/// Writes the page. Each section has plots of time, of bandwidth (bytes of the size per time), and of the speed-up over
/// the baseline; the ranges; for each detail a heat map and the parts of the critical path; a heat map for each
/// history; and a table. All texts of `page` appear as text. The same page gives the same bytes.
void writePage(llvm::raw_ostream &out, const Page &page);

} // namespace gc3::report
