// SPDX-License-Identifier: Apache-2.0
// Converts JSON to a topology, and back. Checks every value; a message begins with the path of the wrong value. This
// file is C++17 (CMakeLists.txt), because clang can't compile LLVM 14's llvm/Support/JSON.h as C++20.
#include "gc3/Topology/Json.h"
#include "gc3/Topology/Lattice.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <map>
#include <set>

namespace gc3::topology {

namespace {

namespace json = llvm::json;

constexpr LinkKind kinds[] = {LinkKind::Other, LinkKind::NvLink, LinkKind::NvSwitch,
                              LinkKind::Xgmi,  LinkKind::Pcie,   LinkKind::Network};
static_assert(std::size(kinds) == LinkKinds);

/// A value and its path. Paths are made only for values that are read.
struct Value {
  const json::Value *value;
  std::string path;
};

/// Reads until the first error. Then `error` is set, and the topology must not be used.
class Reader {
public:
  Reader(Topology &topology, std::string &error) : topology(topology), error(error) {}
  void read(const json::Value &root);

private:
  bool failed() const { return !error.empty(); }
  void fail(const std::string &path, const std::string &message) {
    if (!failed())
      error = path.empty() ? message : path + ": " + message;
  }

  /// Returns the members of an object; null, with an error, if the value is no object or has a member not in `known`.
  const json::Object *object(const Value &value, std::initializer_list<llvm::StringRef> known);
  std::vector<Value> array(const Value &value);
  std::optional<Value> member(const json::Object &object, const std::string &path, llvm::StringRef name,
                              bool isNeeded = false);
  uint32_t number(const Value &value, int64_t lowest, int64_t highest, const char *what);
  uint32_t rank(const Value &value);
  double quantity(const Value &value, const char *what);
  LinkKind kind(const Value &value);

  void readLink(const Value &value);
  void readBound(const Value &value);
  std::vector<uint8_t> readRanks(const std::optional<Value> &value);
  void keepPairs(const Value &value, std::vector<uint32_t> &links);
  void readLinks(const Value &value);
  void readLattice(const Value &value);

  Topology &topology;
  std::string &error;
  std::set<std::tuple<uint32_t, uint32_t, LinkKind>> linkEnds; // ends and kinds of all links
};

const json::Object *Reader::object(const Value &value, std::initializer_list<llvm::StringRef> names) {
  const json::Object *result = value.value->getAsObject();
  if (!result) {
    fail(value.path, "must be an object");
    return nullptr;
  }
  for (const auto &[key, unused] : *result)
    if (llvm::find(names, llvm::StringRef(key)) == names.end())
      fail(value.path, "unknown member '" + key.str() + "'; the members are " + llvm::join(names, ", "));
  return failed() ? nullptr : result;
}

std::vector<Value> Reader::array(const Value &value) {
  const json::Array *values = value.value->getAsArray();
  std::vector<Value> result;
  if (!values) {
    fail(value.path, "must be an array");
    return result;
  }
  for (size_t i = 0; i < values->size(); ++i)
    result.push_back({&(*values)[i], value.path + "[" + std::to_string(i) + "]"});
  return result;
}

std::optional<Value> Reader::member(const json::Object &object, const std::string &path, llvm::StringRef name,
                                    bool isNeeded) {
  if (const json::Value *value = object.get(name))
    return Value{value, path.empty() ? name.str() : path + "." + name.str()};
  if (isNeeded)
    fail(path, "'" + name.str() + "' is missing");
  return {};
}

uint32_t Reader::number(const Value &value, int64_t lowest, int64_t highest, const char *what) {
  std::optional<int64_t> result;
  if (auto integer = value.value->getAsInteger())
    result = *integer;
  if (!result || *result < lowest || *result > highest)
    fail(value.path, std::string(what) + " must be a whole number from " + std::to_string(lowest) + " to " +
                         std::to_string(highest) + (result ? ", not " + std::to_string(*result) : ""));
  return static_cast<uint32_t>(result.value_or(0));
}

uint32_t Reader::rank(const Value &value) {
  auto integer = value.value->getAsInteger();
  if (integer && (*integer < 0 || *integer >= topology.ranks))
    fail(value.path, "there is no rank " + std::to_string(*integer) + "; there are " + std::to_string(topology.ranks));
  else if (!integer)
    fail(value.path, "must be the number of a rank");
  return integer ? static_cast<uint32_t>(*integer) : 0;
}

double Reader::quantity(const Value &value, const char *what) {
  auto result = value.value->getAsNumber();
  if (!result || !std::isfinite(*result) || *result < 0)
    fail(value.path, std::string(what) + " must be a number of at least 0");
  return result ? *result : 0;
}

LinkKind Reader::kind(const Value &value) {
  auto text = value.value->getAsString();
  std::string all;
  for (LinkKind kind : kinds) {
    if (text && *text == llvm::StringRef(name(kind)))
      return kind;
    all += (all.empty() ? "" : ", ") + std::string(name(kind));
  }
  fail(value.path, "must be one of " + all);
  return LinkKind::Other;
}

void Reader::readLink(const Value &value) {
  const json::Object *members = object(value, {"from", "to", "bandwidth", "kind", "alpha", "beta", "both"});
  if (!members)
    return;
  Link link;
  if (auto from = member(*members, value.path, "from", true))
    link.from = rank(*from);
  auto to = member(*members, value.path, "to", true);
  if (to)
    link.to = rank(*to);
  if (to && !failed() && link.from == link.to)
    fail(to->path, "a link must lead to another rank");
  if (auto bandwidth = member(*members, value.path, "bandwidth"))
    link.bandwidth = number(*bandwidth, 1, 1 << 20, "a bandwidth");
  if (auto text = member(*members, value.path, "kind"))
    link.kind = kind(*text);
  if (auto alpha = member(*members, value.path, "alpha"))
    link.alpha = quantity(*alpha, "a latency in microseconds");
  if (auto beta = member(*members, value.path, "beta"))
    link.beta = quantity(*beta, "a time in microseconds per million bytes");
  bool both = false;
  if (auto flag = member(*members, value.path, "both")) {
    if (auto boolean = flag->value->getAsBoolean())
      both = *boolean;
    else
      fail(flag->path, "must be true or false");
  }
  for (int direction = 0; direction <= (both ? 1 : 0) && !failed(); ++direction, std::swap(link.from, link.to)) {
    if (!linkEnds.insert({link.from, link.to, link.kind}).second)
      return fail(value.path, "there is another link of kind '" + std::string(name(link.kind)) + "' from " +
                                  std::to_string(link.from) + " to " + std::to_string(link.to) +
                                  "; give one link more bandwidth");
    topology.links.push_back(link);
  }
}

/// Returns, by rank, 1 if the value names the rank, else 0. Returns 1 for all ranks if there is no value.
std::vector<uint8_t> Reader::readRanks(const std::optional<Value> &value) {
  std::vector<uint8_t> chosen(topology.ranks, value ? 0 : 1);
  if (!value)
    return chosen;
  for (const Value &one : value->value->getAsArray() ? array(*value) : std::vector<Value>{*value}) {
    const uint32_t named = rank(one);
    if (failed())
      break;
    chosen[named] = 1;
  }
  return chosen;
}

/// Removes from `links` all links that do not lead from the first to the second rank of one of the pairs.
void Reader::keepPairs(const Value &value, std::vector<uint32_t> &links) {
  std::set<std::pair<uint32_t, uint32_t>> wanted;
  for (const Value &pair : array(value)) {
    const std::vector<Value> ends = array(pair);
    if (!failed() && ends.size() != 2)
      fail(pair.path, "must be two ranks, [from, to]");
    if (failed())
      return;
    const std::pair<uint32_t, uint32_t> fromTo = {rank(ends[0]), rank(ends[1])};
    const auto known = linkEnds.lower_bound({fromTo.first, fromTo.second, kinds[0]});
    const bool isThere =
        known != linkEnds.end() && std::get<0>(*known) == fromTo.first && std::get<1>(*known) == fromTo.second;
    if (!failed() && !isThere)
      fail(pair.path, "no link leads from " + std::to_string(fromTo.first) + " to " + std::to_string(fromTo.second));
    wanted.insert(fromTo);
  }
  llvm::erase_if(links, [&](uint32_t link) {
    return !wanted.count({topology.links[link].from, topology.links[link].to});
  });
}

void Reader::readBound(const Value &value) {
  const json::Object *members = object(value, {"from", "to", "kind", "links", "bandwidth"});
  if (!members)
    return;
  uint32_t bandwidth = 0;
  if (auto limit = member(*members, value.path, "bandwidth", true))
    bandwidth = number(*limit, 1, 1 << 20, "a bandwidth");
  const std::vector<uint8_t> from = readRanks(member(*members, value.path, "from"));
  const std::vector<uint8_t> to = readRanks(member(*members, value.path, "to"));
  std::optional<LinkKind> only;
  if (auto text = member(*members, value.path, "kind"))
    only = kind(*text);
  if (failed())
    return;
  std::vector<uint32_t> links;
  for (uint32_t i = 0; i < topology.linkCount(); ++i) {
    const Link &link = topology.links[i];
    if (from[link.from] && to[link.to] && (!only || link.kind == *only))
      links.push_back(i);
  }
  if (auto pairs = member(*members, value.path, "links"))
    keepPairs(*pairs, links);
  if (links.empty())
    return fail(value.path, "this bound applies to no link");
  topology.addBound(links, bandwidth);
}

void Reader::readLinks(const Value &value) {
  for (const Value &link : array(value)) {
    readLink(link);
    if (failed())
      return;
  }
  const std::string problem = findDisconnection(topology);
  if (!problem.empty())
    fail(value.path, problem);
}

void Reader::readLattice(const Value &value) {
  uint64_t points = 1;
  for (const Value &size : array(value)) {
    topology.lattice.push_back(number(size, 1, topology.ranks, "the size of a dimension"));
    points = std::min<uint64_t>(points * topology.lattice.back(), Topology::MaxRanks + 1);
  }
  if (!failed() && topology.ranks % points != 0)
    fail(value.path, "a grid of these sizes can't divide " + std::to_string(topology.ranks) + " ranks evenly");
  if (!failed() && points == 1)
    fail(value.path, "a grid must have at least 2 points");
  if (!failed() && !linkClasses(topology))
    fail(value.path, "the links of some " + std::string(points == topology.ranks ? "rank" : "point") +
                         " are not those of the first one, translated on this grid");
}

void Reader::read(const json::Value &root) {
  const json::Object *members = object({&root, ""}, {"name", "ranks", "lattice", "links", "bounds"});
  if (!members)
    return;
  if (auto value = member(*members, "", "name", true)) {
    auto text = value->value->getAsString();
    if (text && !text->empty() && llvm::none_of(*text, [](unsigned char c) { return c < 0x20; }))
      topology.name = text->str(); // must be one line, because it is written into comments of programs
    else
      fail(value->path, "must be a string of one line");
  }
  if (auto value = member(*members, "", "ranks", true))
    topology.ranks = number(*value, 2, Topology::MaxRanks, "the number of ranks");
  if (failed())
    return;
  if (auto links = member(*members, "", "links", true))
    readLinks(*links);
  if (auto lattice = member(*members, "", "lattice"); lattice && !failed())
    readLattice(*lattice);
  auto bounds = member(*members, "", "bounds");
  if (failed() || !bounds)
    return;
  for (const Value &bound : array(*bounds)) {
    readBound(bound);
    if (failed())
      return;
  }
}

} // namespace

/// Returns true if the text is nested more deeply than any valid topology. Such a text could overflow the parser's
/// stack.
static bool isTooDeep(const std::string &text) {
  constexpr int most = 64;
  int depth = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size() && depth <= most; ++i) {
    if (text[i] == '\\' && isString)
      ++i;
    else if (text[i] == '"')
      isString = !isString;
    else if (!isString)
      depth += text[i] == '[' || text[i] == '{' ? 1 : text[i] == ']' || text[i] == '}' ? -1 : 0;
  }
  return depth > most;
}

std::optional<Topology> parseJson(const std::string &text, std::string &error) {
  error.clear();
  if (isTooDeep(text)) {
    error = "invalid topology: nested too deeply";
    return {};
  }
  llvm::Expected<json::Value> root = json::parse(text);
  if (!root) {
    error = "invalid JSON: " + llvm::toString(root.takeError());
    return {};
  }
  Topology topology;
  Reader(topology, error).read(*root);
  if (!error.empty())
    return {};
  return topology;
}

/// Returns true if `next` is the same link in the opposite direction; then both are printed on one line.
static bool isBack(const Link &link, const Link &next) {
  return link.from == next.to && link.to == next.from && link.bandwidth == next.bandwidth && link.kind == next.kind &&
         link.alpha == next.alpha && link.beta == next.beta;
}

void printJson(llvm::raw_ostream &out, const Topology &topology) {
  auto text = [](const json::Value &value) { return llvm::formatv("{0}", value).str(); };
  out << "{\n  \"name\": " << text(topology.name) << ",\n  \"ranks\": " << topology.ranks;
  for (size_t i = 0; i < topology.lattice.size(); ++i)
    out << (i ? ", " : ",\n  \"lattice\": [") << topology.lattice[i];
  out << (topology.lattice.empty() ? "" : "]") << ",\n  \"links\": [";
  for (size_t i = 0; i < topology.links.size(); ++i) {
    const Link &link = topology.links[i];
    out << (i ? ",\n" : "\n") << "    {\"from\": " << link.from << ", \"to\": " << link.to
        << ", \"bandwidth\": " << link.bandwidth << ", \"kind\": \"" << llvm::StringRef(name(link.kind))
        << "\", \"alpha\": " << text(link.alpha) << ", \"beta\": " << text(link.beta);
    if (i + 1 < topology.links.size() && isBack(link, topology.links[i + 1])) {
      out << ", \"both\": true";
      ++i;
    }
    out << "}";
  }
  out << "\n  ],\n  \"bounds\": [";
  for (uint32_t bound = 0; bound < topology.boundCount(); ++bound) {
    out << (bound ? ",\n" : "\n") << "    {\"bandwidth\": " << topology.boundBandwidth[bound];
    const auto links =
        llvm::makeArrayRef(topology.boundLinks)
            .slice(topology.boundBegin[bound], topology.boundBegin[bound + 1] - topology.boundBegin[bound]);
    const LinkKind first = topology.links[links[0]].kind;
    if (llvm::all_of(links, [&](uint32_t link) { return topology.links[link].kind == first; }))
      out << ", \"kind\": \"" << llvm::StringRef(name(first)) << "\"";
    out << ", \"links\": [";
    for (uint32_t i = topology.boundBegin[bound]; i < topology.boundBegin[bound + 1]; ++i) {
      const Link &link = topology.links[topology.boundLinks[i]];
      out << (i > topology.boundBegin[bound] ? ", " : "") << "[" << link.from << ", " << link.to << "]";
    }
    out << "]}";
  }
  out << (topology.boundCount() ? "\n  ]\n}\n" : "]\n}\n");
}

} // namespace gc3::topology
