// SPDX-License-Identifier: Apache-2.0
// Arranges rows as a page: a section for each collective, a curve for each program, and the details of each program.
// Resources that are used alike share a row of the heat map, so that the page of a large machine stays small.
#include "Report.h"
#include "gc3/Report/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>
#include <set>

namespace gc3::sim {

using simulate::Fabric;
using simulate::PartKind;
using simulate::ResourceKind;

namespace {

/// Rows of one collective on one number of ranks.
struct Topic {
  std::vector<const Simulated *> rows;
  std::vector<uint64_t> sizes;    ///< ascending
  std::vector<uint32_t> programs; ///< numbers in the bundle
};

uint32_t sizeIndex(const Topic &topic, uint64_t bytes) {
  return static_cast<uint32_t>(llvm::lower_bound(topic.sizes, bytes) - topic.sizes.begin());
}

/// Returns a name for resources that differ only in their ranks, such as "network ports, out".
std::string className(const simulate::Resource &resource, const Fabric &fabric) {
  const topology::Topology &whole = fabric.topology();
  const auto ofSwitch = [&](const char *part, bool isOut) {
    return std::string(name(whole.switches[resource.owner].kind)) + part + (isOut ? ", out" : ", in");
  };
  switch (resource.kind) {
  case ResourceKind::Link: return std::string(name(whole.links[resource.owner].kind)) + " links";
  case ResourceKind::Bound: return "bounds";
  case ResourceKind::PortOut:
  case ResourceKind::PortIn: return ofSwitch(" ports", resource.kind == ResourceKind::PortOut);
  case ResourceKind::TrunkOut:
  case ResourceKind::TrunkIn: return ofSwitch(" trunks", resource.kind == ResourceKind::TrunkOut);
  case ResourceKind::Memory: return "memories of GPUs";
  case ResourceKind::Processors: return "processors";
  }
  return "";
}

/// Rows of a grid, by name, until the grid is complete.
class GridRows {
public:
  explicit GridRows(size_t sizes) : sizes(sizes) {}
  double &at(const std::string &row, uint32_t size) { return values.try_emplace(row, sizes, 0.0).first->second[size]; }
  /// Moves the rows with the largest values into a grid, and adds the others to its last row if `rest` has a name.
  report::Grid take(size_t most, const std::string &rest, const std::vector<bool> &isKnown) {
    std::vector<std::pair<double, const std::string *>> order;
    for (const auto &[row, numbers] : values)
      order.push_back({*std::max_element(numbers.begin(), numbers.end()), &row});
    llvm::stable_sort(order, [](const auto &a, const auto &b) { return a.first > b.first; });
    report::Grid grid;
    std::vector<double> others(sizes);
    for (size_t i = 0; i < order.size(); ++i) {
      const std::vector<double> &numbers = values[*order[i].second];
      if (i < most)
        append(grid, *order[i].second, numbers, isKnown);
      else
        for (size_t size = 0; size < sizes; ++size)
          others[size] += numbers[size];
    }
    if (order.size() > most && !rest.empty())
      append(grid, rest, others, isKnown);
    return grid;
  }
  size_t count() const { return values.size(); }

private:
  static void append(report::Grid &grid, const std::string &row, const std::vector<double> &numbers,
                     const std::vector<bool> &isKnown) {
    grid.rows.push_back(row);
    for (size_t size = 0; size < numbers.size(); ++size)
      grid.values.push_back(isKnown[size] ? numbers[size] : report::NoValue);
  }
  size_t sizes;
  std::map<std::string, std::vector<double>> values;
};

/// Returns the label of a baseline's point. "nccl" is the name of the curve.
std::string labelOf(const BaselineTime &baseline) {
  llvm::StringRef label = baseline.name;
  label.consume_front("nccl ");
  return label.str();
}

class PageMaker {
public:
  PageMaker(const CommandLine &line, const Rows &rows, const Fabric &fabric) : line(line), rows(rows), fabric(fabric) {}

  report::Page make() const {
    report::Page page;
    const std::string &topology = fabric.topology().name;
    page.title = (llvm::sys::path::filename(line.inputs.front()) + " on " + topology).str();
    page.subtitle = "gc3-sim " GC3_SIM_VERSION " · topology " + topology;
    if (const std::string &text = fabric.topology().description; !text.empty())
      page.subtitle += ": " + text;
    page.notes.push_back("Times are predictions of a model, not measurements.");
    if (line.baseline == "nccl")
      page.notes.push_back("The baseline is NCCL's own cost model: its fastest algorithm and protocol at each size.");
    else if (line.hasBaselineFile())
      page.notes.push_back("The baseline is the prediction for " + line.baseline + ".");
    for (const Topic &topic : topics())
      page.sections.push_back(section(topic));
    return page;
  }

private:
  std::vector<Topic> topics() const {
    std::vector<Topic> all;
    for (const Simulated &each : rows.all()) {
      const auto same = llvm::find_if(all, [&](const Topic &topic) {
        const run::Row &first = topic.rows[0]->row;
        return first.collective == each.row.collective && first.ranks == each.row.ranks && first.root == each.row.root;
      });
      Topic &topic = same == all.end() ? all.emplace_back() : *same;
      topic.rows.push_back(&each);
      topic.sizes.push_back(each.row.bytes);
      if (!llvm::is_contained(topic.programs, each.program))
        topic.programs.push_back(each.program);
    }
    for (Topic &topic : all) {
      llvm::sort(topic.sizes);
      topic.sizes.erase(std::unique(topic.sizes.begin(), topic.sizes.end()), topic.sizes.end());
    }
    return all;
  }

  report::Section section(const Topic &topic) const {
    report::Section section;
    section.title = topic.rows[0]->row.collective + " on " + std::to_string(topic.rows[0]->row.ranks) + " ranks";
    section.sizes = topic.sizes;
    const std::vector<double> none(topic.sizes.size(), report::NoValue);
    if (!line.baseline.empty())
      section.baseline = {
          {line.baseline == "nccl" ? "NCCL" : "baseline", none, false, std::vector<std::string>(topic.sizes.size())}};
    for (const uint32_t program : topic.programs) {
      report::Curve curve{rows.program(program).info().name()->str(), none};
      std::vector<const Simulated *> bySize(topic.sizes.size());
      for (const Simulated *each : topic.rows)
        if (each->program == program) {
          const uint32_t size = sizeIndex(topic, each->row.bytes);
          curve.times[size] = each->time, bySize[size] = each;
          if (each->baseline) {
            section.baseline[0].times[size] = each->baseline->time;
            section.baseline[0].labels[size] = labelOf(*each->baseline);
          }
        }
      section.details.push_back({curve.name, resourcesOf(bySize), pathOf(bySize)});
      section.curves.push_back(std::move(curve));
    }
    return section;
  }

  double use(const Simulated &row, uint32_t resource) const {
    return row.bytesMoved[resource] / (fabric.resources()[resource].capacity * row.time);
  }

  /// Returns the use of resources. Equal uses in all sizes, up to a thousandth, share a row.
  report::Grid resourcesOf(const std::vector<const Simulated *> &bySize) const {
    constexpr size_t most = 24;
    using Key = std::pair<std::string, std::vector<int>>;
    std::map<Key, std::vector<uint32_t>> alike;
    for (uint32_t resource = 0; resource < fabric.resources().size(); ++resource) {
      Key key{className(fabric.resources()[resource], fabric), {}};
      for (const Simulated *each : bySize)
        key.second.push_back(each && each->time > 0 ? static_cast<int>(std::lround(1000 * use(*each, resource))) : 0);
      if (llvm::any_of(key.second, [](int value) { return value != 0; }))
        alike[key].push_back(resource);
    }
    GridRows grid(bySize.size());
    std::vector<bool> isKnown;
    std::map<std::string, uint32_t> rowsOfClass;
    for (const auto &[key, resources] : alike)
      ++rowsOfClass[key.first];
    for (const auto &[key, resources] : alike) {
      std::string row = fabric.nameOf(resources[0]);
      if (resources.size() > 1 && rowsOfClass[key.first] == 1)
        row = std::to_string(resources.size()) + " " + key.first;
      else if (resources.size() > 1)
        row += " (and " + std::to_string(resources.size() - 1) + " more)";
      for (uint32_t size = 0; size < bySize.size(); ++size)
        if (bySize[size] && bySize[size]->time > 0)
          grid.at(row, size) = use(*bySize[size], resources[0]);
    }
    for (const Simulated *each : bySize)
      isKnown.push_back(each != nullptr);
    report::Grid result = grid.take(most, "", isKnown);
    if (grid.count() > most)
      result.note = std::to_string(grid.count() - most) + " more are used less.";
    return result;
  }

  /// The resources on critical paths, by their class.
  using Limiters = std::map<std::string, std::set<uint32_t>>;

  Limiters limitersOf(const std::vector<const Simulated *> &bySize) const {
    Limiters limiters;
    for (const Simulated *each : bySize)
      if (each)
        for (const simulate::PathPart &part : each->parts)
          if (part.kind == PartKind::Resource)
            limiters[className(fabric.resources()[part.resource], fabric)].insert(part.resource);
    return limiters;
  }

  /// Returns the name of a resource that is alone in its class, such as "network port of rank 3, out". Resources that
  /// differ only in their ranks share a name.
  std::string partName(const simulate::PathPart &part, const Limiters &limiters) const {
    if (part.kind == PartKind::Resource)
      if (std::string whole = className(fabric.resources()[part.resource], fabric); limiters.at(whole).size() > 1)
        return whole;
    return nameOf(part, fabric);
  }

  /// Returns the shares of the parts of critical paths.
  report::Grid pathOf(const std::vector<const Simulated *> &bySize) const {
    constexpr size_t most = 7; // with the rest, as many as there are colours
    const Limiters limiters = limitersOf(bySize);
    GridRows grid(bySize.size());
    std::vector<bool> isKnown;
    bool isMissing = false;
    for (uint32_t size = 0; size < bySize.size(); ++size) {
      const Simulated *each = bySize[size];
      isKnown.push_back(each && !each->parts.empty());
      isMissing |= each && each->parts.empty() && each->time > 0;
      if (!isKnown.back())
        continue;
      double whole = 0; // of the run that recorded events
      for (const simulate::PathPart &part : each->parts)
        whole += part.time;
      for (const simulate::PathPart &part : each->parts)
        grid.at(partName(part, limiters), size) += part.time / whole;
    }
    report::Grid result = grid.take(most, "other parts", isKnown);
    if (isMissing)
      result.note = "Calls of more than " + std::to_string(Rows::MostPathSteps) + " steps in all tiles are left out.";
    return result;
  }

  const CommandLine &line;
  const Rows &rows;
  const Fabric &fabric;
};

} // namespace

std::string pageOf(const CommandLine &line, const Rows &rows, const Fabric &fabric) {
  std::string text;
  llvm::raw_string_ostream out(text);
  writePage(out, PageMaker(line, rows, fabric).make());
  return out.str();
}

} // namespace gc3::sim
