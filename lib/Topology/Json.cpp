// SPDX-License-Identifier: Apache-2.0
// Converts JSON to a topology. Checks every value; a message begins with the path of the wrong value.
#include "gc3/Topology/Json.h"
#include "JsonCosts.h"
#include "gc3/Topology/Lattice.h"
#include <map>
#include <set>

namespace gc3::topology {

namespace {

/// Reads until the first error. Then the topology must not be used.
class Reader : public JsonReader {
public:
  Reader(Topology &topology, std::string &error) : JsonReader(error), topology(topology) {}
  void read(const json::Value &root);

private:
  uint32_t rank(const Value &value);
  void readLink(const Value &value);
  void readLinks(const Members &root);
  void readSwitch(const Value &value);
  void readPorts(const Value &value, Switch &into);
  void readTrunk(const Value &value, Switch &into);
  void readBound(const Value &value);
  std::vector<uint8_t> readRanks(const std::optional<Value> &value);
  void keepPairs(const Value &value, std::vector<uint32_t> &links);
  void readLattice(const Value &value);

  Topology &topology;
  std::set<std::tuple<uint32_t, uint32_t, LinkKind>> linkEnds; // ends and kinds of all links
  uint64_t pairsOfSwitches = 0;                                // at most so many links are of switches
};

uint32_t Reader::rank(const Value &value) {
  auto integer = value.value->getAsInteger();
  if (integer && (*integer < 0 || *integer >= topology.ranks))
    fail(value.path, "there is no rank " + std::to_string(*integer) + "; there are " + std::to_string(topology.ranks));
  else if (!integer)
    fail(value.path, "must be the number of a rank");
  return integer ? static_cast<uint32_t>(*integer) : 0;
}

void Reader::readLink(const Value &value) {
  auto members = object(value, {"from", "to", "bandwidth", "kind", "alpha", "beta", "both"});
  if (!members)
    return;
  Link link;
  if (auto from = member(*members, "from", true))
    link.from = rank(*from);
  auto to = member(*members, "to", true);
  if (to)
    link.to = rank(*to);
  if (to && !failed() && link.from == link.to)
    fail(to->path, "a link must lead to another rank");
  if (auto bandwidth = member(*members, "bandwidth"))
    link.bandwidth = number(*bandwidth, 1, 1 << 20, "a bandwidth");
  if (auto text = member(*members, "kind"))
    link.kind = kind(*text);
  if (auto alpha = member(*members, "alpha"))
    link.alpha = quantity(*alpha, "a latency in microseconds");
  if (auto beta = member(*members, "beta"))
    link.beta = quantity(*beta, "a time in microseconds per million bytes");
  bool both = false;
  if (auto isBoth = member(*members, "both"))
    both = flag(*isBoth);
  for (int direction = 0; direction <= (both ? 1 : 0) && !failed(); ++direction, std::swap(link.from, link.to)) {
    if (!linkEnds.insert({link.from, link.to, link.kind}).second)
      return fail(value.path, "there is another link of kind '" + std::string(name(link.kind)) + "' from " +
                                  std::to_string(link.from) + " to " + std::to_string(link.to) +
                                  "; give one link more bandwidth");
    topology.links.push_back(link);
  }
}

/// Reads ports such as [0, [1, 2]]: a rank, or a list of ranks that share the port.
void Reader::readPorts(const Value &value, Switch &into) {
  std::vector<uint8_t> seen(topology.ranks);
  for (const Value &port : array(value)) {
    const bool isShared = port.value->getAsArray() != nullptr;
    for (const Value &one : isShared ? array(port) : std::vector<Value>{port}) {
      const uint32_t served = rank(one);
      if (!failed() && seen[served]++)
        fail(one.path, "rank " + std::to_string(served) + " has another port of this switch");
      into.portRanks.push_back(served);
    }
    if (into.portRanks.size() == into.portBegin.back())
      fail(port.path, "a port must serve a rank");
    into.portBegin.push_back(static_cast<uint32_t>(into.portRanks.size()));
    if (failed())
      return;
  }
}

void Reader::readTrunk(const Value &value, Switch &into) {
  auto members = object(value, {"ports", "bandwidth"});
  if (!members)
    return;
  if (auto ports = member(*members, "ports", true))
    into.trunkPorts = number(*ports, 2, Topology::MaxRanks, "the number of ports of a trunk");
  if (auto bandwidth = member(*members, "bandwidth", true))
    into.trunkBandwidth = number(*bandwidth, 1, 1 << 20, "a bandwidth");
}

void Reader::readSwitch(const Value &value) {
  auto members = object(value, {"kind", "bandwidth", "alpha", "beta", "ports", "rails", "trunk"});
  if (!members)
    return;
  Switch made;
  if (auto text = member(*members, "kind"))
    made.kind = kind(*text);
  if (auto bandwidth = member(*members, "bandwidth"))
    made.bandwidth = number(*bandwidth, 1, 1 << 20, "a bandwidth");
  if (auto alpha = member(*members, "alpha"))
    made.alpha = quantity(*alpha, "a latency in microseconds");
  if (auto beta = member(*members, "beta"))
    made.beta = quantity(*beta, "a time in microseconds per million bytes");
  if (auto ports = member(*members, "ports"))
    readPorts(*ports, made);
  else
    for (uint32_t rank = 0; rank < topology.ranks; ++rank)
      made.portRanks.push_back(rank), made.portBegin.push_back(rank + 1);
  if (auto rails = member(*members, "rails"))
    made.rails = number(*rails, 1, topology.ranks, "the number of ranks of a machine");
  if (auto trunk = member(*members, "trunk"))
    readTrunk(*trunk, made);
  const uint64_t members64 = made.portRanks.size();
  pairsOfSwitches += made.rails ? members64 * (members64 / made.rails) : members64 * members64;
  if (!failed() && made.ports() < 2)
    fail(value.path, "a switch must have at least 2 ports");
  if (!failed() && topology.links.size() + pairsOfSwitches > Topology::MaxLinks)
    fail(value.path, "the switch has too many pairs of ranks; a topology has at most " +
                         std::to_string(Topology::MaxLinks) + " links");
  topology.switches.push_back(std::move(made));
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
    const auto known = linkEnds.lower_bound({fromTo.first, fromTo.second, LinkKind::Other});
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
  auto members = object(value, {"from", "to", "kind", "links", "bandwidth"});
  if (!members)
    return;
  uint32_t bandwidth = 0;
  if (auto limit = member(*members, "bandwidth", true))
    bandwidth = number(*limit, 1, 1 << 20, "a bandwidth");
  const std::vector<uint8_t> from = readRanks(member(*members, "from"));
  const std::vector<uint8_t> to = readRanks(member(*members, "to"));
  std::optional<LinkKind> only;
  if (auto text = member(*members, "kind"))
    only = kind(*text);
  if (failed())
    return;
  std::vector<uint32_t> links;
  for (uint32_t i = 0; i < topology.linkCount(); ++i) {
    const Link &link = topology.links[i];
    if (from[link.from] && to[link.to] && (!only || link.kind == *only))
      links.push_back(i);
  }
  if (auto pairs = member(*members, "links"))
    keepPairs(*pairs, links);
  if (links.empty())
    return fail(value.path, "this bound applies to no link");
  topology.addBound(links, bandwidth);
}

/// Reads links, then switches. A switch adds no link between two ranks that have one.
void Reader::readLinks(const Members &root) {
  auto links = member(root, "links"), switches = member(root, "switches");
  if (!links && !switches)
    return fail("", "'links' is missing");
  if (links)
    for (const Value &link : array(*links)) {
      readLink(link);
      if (failed())
        return;
    }
  if (switches)
    for (const Value &one : array(*switches)) {
      readSwitch(one);
      if (failed())
        return;
    }
  topology.expandSwitches();
  for (const Link &link : topology.links)
    linkEnds.insert({link.from, link.to, link.kind});
  const std::string problem = failed() ? "" : findDisconnection(topology);
  if (!problem.empty())
    fail(links ? links->path : switches->path, problem);
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
  auto members = object({&root, ""}, {"name", "description", "ranks", "host", "lattice", "links", "switches", "bounds",
                                      "network", "costs", "sources"});
  if (!members)
    return;
  if (auto value = member(*members, "name", true))
    topology.name = line(*value); // must be one line, because it is written into comments of programs
  if (auto value = member(*members, "description"))
    topology.description = line(*value);
  if (auto value = member(*members, "ranks", true))
    topology.ranks = number(*value, 2, Topology::MaxRanks, "the number of ranks");
  if (auto value = member(*members, "host"); value && !failed())
    if (topology.host = number(*value, 1, topology.ranks, "the number of ranks of a host");
        !failed() && topology.ranks % topology.host != 0)
      fail(value->path, "hosts of this size can't divide " + std::to_string(topology.ranks) + " ranks evenly");
  if (auto costs = member(*members, "costs"); costs && !failed())
    topology.costs = readCosts(*this, *costs);
  if (auto network = member(*members, "network"); network && !failed())
    topology.network = readNetwork(*this, *network);
  if (auto sources = member(*members, "sources"); sources && !failed())
    topology.sources = readSources(*this, *sources);
  if (failed())
    return;
  readLinks(*members);
  if (auto lattice = member(*members, "lattice"); lattice && !failed())
    readLattice(*lattice);
  auto bounds = member(*members, "bounds");
  if (failed() || !bounds)
    return;
  for (const Value &bound : array(*bounds)) {
    readBound(bound);
    if (failed())
      return;
  }
}

} // namespace

bool isTooDeep(const std::string &text) {
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

} // namespace gc3::topology
