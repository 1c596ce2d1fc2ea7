// SPDX-License-Identifier: Apache-2.0
// The named topologies: machines, which are the files of topologies/, and families with sizes, which this file makes.
#include "gc3/Topology/Families.h"
#include "MachineFiles.h"
#include "gc3/Topology/Json.h"
#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

namespace gc3::topology {

namespace {

using Sizes = std::vector<uint32_t>;

struct Family {
  const char *name;
  const char *sizes; ///< as the help text shows them
  size_t minSizes, maxSizes;
  uint32_t minSize;
  const char *help;
  Topology (*make)(const Sizes &);
};

void join(Topology &topology, uint32_t a, uint32_t b, const Link &like) {
  Link link = like;
  link.from = a, link.to = b;
  topology.links.push_back(link);
  std::swap(link.from, link.to);
  topology.links.push_back(link);
}

Topology ofRanks(uint32_t ranks) {
  Topology topology;
  topology.ranks = ranks;
  return topology;
}

constexpr Link plain = {.from = 0, .to = 0};

uint32_t product(const Sizes &sizes) {
  uint64_t ranks = 1;
  for (uint32_t size : sizes)
    ranks = std::min<uint64_t>(ranks * size, Topology::MaxRanks + 1);
  return static_cast<uint32_t>(ranks);
}

Topology makeLine(const Sizes &sizes) {
  Topology topology = ofRanks(sizes[0]);
  for (uint32_t rank = 0; rank + 1 < sizes[0]; ++rank)
    join(topology, rank, rank + 1, plain);
  return topology;
}

/// Makes a grid of any number of dimensions, with or without the links that close it. The last dimension varies
/// fastest.
Topology makeGrid(const Sizes &sizes, bool closed) {
  Topology topology = ofRanks(product(sizes));
  if (closed || *std::max_element(sizes.begin(), sizes.end()) <= 2)
    topology.lattice = sizes;
  uint32_t stride = topology.ranks;
  for (uint32_t size : sizes) {
    stride /= size;
    for (uint32_t rank = 0; rank < topology.ranks; ++rank) {
      const uint32_t place = rank / stride % size;
      if (place + 1 < size)
        join(topology, rank, rank + stride, plain);
      else if (closed && size > 2) // with two places, this would repeat the link
        join(topology, rank, rank - place * stride, plain);
    }
  }
  return topology;
}

Topology makeRing(const Sizes &sizes) {
  return makeGrid(sizes, true);
}

Topology makeHypercube(const Sizes &sizes) {
  return makeGrid(Sizes(sizes[0], 2), false);
}

Topology makeStar(const Sizes &sizes) {
  Topology topology = ofRanks(sizes[0]);
  for (uint32_t rank = 1; rank < sizes[0]; ++rank)
    join(topology, 0, rank, plain);
  return topology;
}

Topology makeFull(const Sizes &sizes) {
  Topology topology = ofRanks(sizes[0]);
  topology.lattice = sizes;
  for (uint32_t a = 0; a < sizes[0]; ++a)
    for (uint32_t b = a + 1; b < sizes[0]; ++b)
      join(topology, a, b, plain);
  return topology;
}

constexpr Family families[] = {
    {"ring", "N", 1, 1, 3, "each rank with the one before it and the one after it", makeRing},
    {"line", "N", 1, 1, 2, "a ring without the link that closes it", makeLine},
    {"mesh", "AxB...", 1, 8, 1, "a grid of any number of dimensions; the last number runs fastest",
     [](const Sizes &sizes) { return makeGrid(sizes, false); }},
    {"torus", "AxB...", 1, 8, 1, "a mesh whose rows and columns are rings",
     [](const Sizes &sizes) { return makeGrid(sizes, true); }},
    {"hypercube", "D", 1, 1, 1, "2^D ranks, each with those whose number differs in one bit", makeHypercube},
    {"star", "N", 1, 1, 2, "rank 0 with all others", makeStar},
    {"full", "N", 1, 1, 2, "each rank with all others", makeFull},
};

/// Returns true if the family would have too many links or ranks with these sizes. Does not make the topology, so it is
/// fast.
bool isTooLarge(const Family &family, const Sizes &sizes) {
  const bool isCube = family.make == makeHypercube;
  if (isCube && sizes[0] > 16)
    return true;
  const uint32_t ranks = isCube ? 1u << sizes[0] : product(sizes);
  return ranks > Topology::MaxRanks ||
         (family.make == makeFull && static_cast<uint64_t>(ranks) * ranks > Topology::MaxLinks);
}

/// Parses text such as "4x4x2"; returns an empty list if `text` has another form.
Sizes readSizes(const std::string &text) {
  Sizes sizes;
  const char *at = text.data(), *end = at + text.size();
  while (at != end) {
    uint32_t size = 0;
    auto [next, problem] = std::from_chars(at, end, size);
    if (problem != std::errc() || (next != end && (*next != 'x' || next + 1 == end)))
      return {};
    sizes.push_back(size);
    at = next == end ? end : next + 1;
  }
  return sizes;
}

std::string spelling(const Family &family) {
  return std::string(family.name) + ":" + family.sizes;
}

/// Returns the machine that a file describes. Tests read all files, so a file has no errors.
Topology readMachine(const EmbeddedFile &file) {
  std::string error;
  std::optional<Topology> topology = parseJson(file.text.str(), error);
  assert(topology && "invalid file in topologies/");
  return topology ? std::move(*topology) : Topology();
}

const EmbeddedFile *findMachine(const std::string &name) {
  const llvm::ArrayRef<EmbeddedFile> files = machineFiles();
  const auto *found = std::find_if(files.begin(), files.end(), [&](const EmbeddedFile &file) {
    return file.name == "topologies/" + name + ".json";
  });
  return found == files.end() ? nullptr : found;
}

std::optional<Topology> makeFamily(const std::string &name, std::string &error) {
  const size_t colon = std::min(name.find(':'), name.size());
  const std::string word = name.substr(0, colon);
  if (const EmbeddedFile *machine = findMachine(word)) {
    if (colon == name.size())
      return readMachine(*machine);
    error = "'" + name + "' is not of the form '" + word + "'";
    return {};
  }
  const auto *family =
      std::find_if(std::begin(families), std::end(families), [&](const Family &each) { return each.name == word; });
  if (family == std::end(families)) {
    error = "unknown topology '" + name + "'";
    return {};
  }
  const Sizes sizes = colon < name.size() ? readSizes(name.substr(colon + 1)) : Sizes();
  if (sizes.size() < family->minSizes || sizes.size() > family->maxSizes) {
    error = "'" + name + "' is not of the form '" + spelling(*family) + "'";
    return {};
  }
  if (std::any_of(sizes.begin(), sizes.end(), [&](uint32_t size) { return size < family->minSize; })) {
    error = "'" + name + "' is too small: the numbers of '" + spelling(*family) + "' must be at least " +
            std::to_string(family->minSize);
    return {};
  }
  if (isTooLarge(*family, sizes)) {
    error = "'" + name + "' is too large: a topology has at most " + std::to_string(Topology::MaxRanks) +
            " ranks and " + std::to_string(Topology::MaxLinks) + " links";
    return {};
  }
  Topology topology = family->make(sizes);
  if (topology.ranks < 2) {
    error = "'" + name + "' is too small: a topology must have at least 2 ranks";
    return {};
  }
  return topology;
}

/// Appends a copy of `inside`. Its ranks, links and switches get the numbers after those of `topology`.
void append(Topology &topology, const Topology &inside) {
  const uint32_t firstLink = topology.linkCount(), firstSwitch = static_cast<uint32_t>(topology.switches.size());
  const auto renumbered = [&](uint32_t ofSwitch) {
    return ofSwitch == Link::NoSwitch ? ofSwitch : ofSwitch + firstSwitch;
  };
  for (Link link : inside.links) {
    link.from += topology.ranks, link.to += topology.ranks, link.ofSwitch = renumbered(link.ofSwitch);
    topology.links.push_back(link);
  }
  for (uint32_t bound = 0; bound < inside.boundCount(); ++bound) {
    std::vector<uint32_t> links(inside.boundLinks.begin() + inside.boundBegin[bound],
                                inside.boundLinks.begin() + inside.boundBegin[bound + 1]);
    for (uint32_t &link : links)
      link += firstLink;
    topology.addBound(links, inside.boundBandwidth[bound], renumbered(inside.boundSwitch[bound]));
  }
  for (Switch each : inside.switches) {
    for (uint32_t &rank : each.portRanks)
      rank += topology.ranks;
    topology.switches.push_back(std::move(each));
  }
  topology.expandedSwitches = static_cast<uint32_t>(topology.switches.size()); // with the links of `inside`
  topology.ranks += inside.ranks;
}

/// Multiplies the bandwidths of all links, so that the slower links of a network can have whole numbers.
void scaleBandwidths(Topology &topology, uint32_t factor) {
  for (Link &link : topology.links)
    link.bandwidth *= factor;
  for (uint32_t &bandwidth : topology.boundBandwidth)
    bandwidth *= factor;
  for (Switch &each : topology.switches)
    each.bandwidth *= factor, each.trunkBandwidth *= factor;
}

} // namespace

Topology joinByNetwork(Topology inside, uint32_t machines) {
  const NetworkCards network = inside.network.value_or(NetworkCards());
  scaleBandwidths(inside, network.scale);
  Topology topology;
  topology.costs = inside.costs, topology.sources = inside.sources, topology.description = inside.description;
  topology.warning = inside.warning, topology.host = inside.host;
  for (uint32_t machine = 0; machine < machines; ++machine)
    append(topology, inside);
  const uint32_t cards = std::min(network.cards, inside.ranks), perCard = (inside.ranks + cards - 1) / cards;
  topology.lattice = {machines};
  if (perCard == 1) // otherwise ranks share cards, and only whole machines are symmetric
    topology.lattice.insert(topology.lattice.end(), inside.lattice.begin(), inside.lattice.end());
  Switch fabric;
  fabric.kind = LinkKind::Network;
  fabric.bandwidth = network.bandwidth, fabric.alpha = network.alpha, fabric.beta = network.beta;
  fabric.rails = inside.ranks;
  for (uint32_t rank = 0; rank < topology.ranks; ++rank) {
    if (const uint32_t place = rank % inside.ranks; place % perCard == 0 && rank != 0)
      fabric.portBegin.push_back(rank);
    fabric.portRanks.push_back(rank);
  }
  fabric.portBegin.push_back(topology.ranks);
  topology.switches.push_back(std::move(fabric));
  return topology;
}

/// Returns a switch with the ports that serve the first ranks.
static Switch firstPorts(const Switch &whole, uint32_t ranks) {
  Switch part = whole;
  part.portBegin = {0}, part.portRanks.clear();
  for (uint32_t port = 0; port < whole.ports(); ++port) {
    for (uint32_t i = whole.portBegin[port]; i < whole.portBegin[port + 1]; ++i)
      if (whole.portRanks[i] < ranks)
        part.portRanks.push_back(whole.portRanks[i]);
    if (part.portRanks.size() > part.portBegin.back())
      part.portBegin.push_back(static_cast<uint32_t>(part.portRanks.size()));
  }
  return part;
}

std::optional<Topology> firstRanks(const Topology &whole, uint32_t ranks) {
  const auto isOutside = [](const Link &link) { return link.ofSwitch == Link::NoSwitch; };
  const auto isBound = [](uint32_t ofSwitch) { return ofSwitch == Link::NoSwitch; };
  if (std::any_of(whole.links.begin(), whole.links.end(), isOutside) ||
      std::any_of(whole.boundSwitch.begin(), whole.boundSwitch.end(), isBound))
    return {};
  Topology part;
  part.name = whole.name, part.ranks = ranks, part.host = whole.host, part.costs = whole.costs,
  part.sources = whole.sources;
  for (const Switch &each : whole.switches) {
    if (each.trunks() > 0)
      return {};
    part.switches.push_back(firstPorts(each, ranks));
  }
  return part;
}

std::optional<uint32_t> splitMachines(std::string &name) {
  const size_t star = name.find('*');
  const Sizes machines = star == std::string::npos ? Sizes() : readSizes(name.substr(0, star));
  if (machines.size() != 1)
    return {};
  name.erase(0, star + 1);
  return machines[0];
}

std::optional<Topology> repeated(const Topology &inside, uint32_t machines, std::string &error,
                                 SwitchLinks switchLinks) {
  const std::string name = std::to_string(machines) + "*" + inside.name;
  if (machines < 2) {
    error = "'" + name + "' must begin with a number of machines of at least 2: '2*" + inside.name + "'";
    return {};
  }
  if (std::isfinite(inside.costs.processors.count)) {
    error = "'" + name + "' has several machines, but the processors of topology '" + inside.name + "' are of one";
    return {};
  }
  const uint64_t ranks = static_cast<uint64_t>(machines) * inside.ranks;
  const uint64_t links = machines * (inside.links.size() + (switchLinks == SwitchLinks::All ? ranks : 0));
  if (ranks > Topology::MaxRanks || links > Topology::MaxLinks) {
    error = "'" + name + "' is too large: a topology has at most " + std::to_string(Topology::MaxRanks) +
            " ranks and " + std::to_string(Topology::MaxLinks) + " links";
    return {};
  }
  Topology topology = joinByNetwork(inside, machines);
  if (switchLinks == SwitchLinks::All)
    topology.expandSwitches();
  topology.name = name;
  return topology;
}

std::optional<Topology> named(const std::string &name, std::string &error, SwitchLinks switchLinks) {
  std::string family = name;
  const std::optional<uint32_t> machines = splitMachines(family);
  if (!machines && name.find('*') != std::string::npos) {
    family.erase(0, family.find('*') + 1);
    error = "'" + name + "' must begin with a number of machines of at least 2: '2*" + family + "'";
    return {};
  }
  std::optional<Topology> topology = makeFamily(family, error);
  if (!topology)
    return {};
  topology->name = family;
  return machines ? repeated(*topology, *machines, error, switchLinks) : topology;
}

std::string familiesHelp() {
  std::string text;
  for (const EmbeddedFile &file : machineFiles()) {
    const Topology machine = readMachine(file);
    text += machine.name + "\t" + machine.description + "\n";
  }
  for (const Family &family : families)
    text += spelling(family) + "\t" + family.help + "\n";
  return text + "N*FAMILY\tN of one of these, each rank joined with the same rank of the others\n";
}

} // namespace gc3::topology
