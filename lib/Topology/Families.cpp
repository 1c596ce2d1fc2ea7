// SPDX-License-Identifier: Apache-2.0
// The table of named topologies. Rates are the vendors' figures for one direction: an NVLink 25 GB/s (V100, A100,
// H100), DGX network cards 12.5 GB/s (EDR), 25 GB/s (HDR) or 50 GB/s (NDR). Latencies are round numbers, not measured.
#include "gc3/Topology/Families.h"
#include <algorithm>
#include <charconv>
#include <map>

namespace gc3::topology {

namespace {

constexpr double NvLinkAlpha = 1, NetworkAlpha = 5;
constexpr double NvLinkBeta = 40; // microseconds for a million bytes at 25 GB/s

using Sizes = std::vector<uint32_t>;

/// Network cards of one machine, over which its ranks reach other machines.
struct NetworkCards {
  uint32_t cards = 1;     ///< number of cards; each serves the same number of ranks
  uint32_t bandwidth = 1; ///< chunks per round of one card
  uint32_t scale = 1;     ///< factor for the bandwidths of links inside the machine, so that a card's bandwidth is a
                          ///< whole number
  double beta = NvLinkBeta;
};

struct Family {
  const char *name;
  const char *sizes; ///< as the help text shows them; empty if the family takes none
  size_t minSizes, maxSizes;
  uint32_t minSize;
  const char *help;
  Topology (*make)(const Sizes &);
  NetworkCards network;
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

Link nvLinks(uint32_t count, LinkKind kind = LinkKind::NvLink) {
  return {.from = 0, .to = 0, .bandwidth = count, .kind = kind, .alpha = NvLinkAlpha, .beta = NvLinkBeta / count};
}

uint32_t product(const Sizes &sizes) {
  uint64_t ranks = 1;
  for (uint32_t size : sizes)
    ranks = std::min<uint64_t>(ranks * size, Topology::MaxRanks + 1);
  return static_cast<uint32_t>(ranks);
}

/// Makes two Hamiltonian cycles over eight V100, one of them with double links, so that each GPU has six NVLinks (SCCL
/// section 2).
Topology makeDgx1(const Sizes &) {
  Topology topology = ofRanks(8);
  constexpr uint32_t doubled[] = {0, 1, 4, 5, 6, 7, 2, 3}, single[] = {0, 2, 1, 3, 6, 4, 7, 5};
  for (uint32_t i = 0; i < 8; ++i)
    join(topology, doubled[i], doubled[(i + 1) % 8], nvLinks(2));
  for (uint32_t i = 0; i < 8; ++i)
    join(topology, single[i], single[(i + 1) % 8], nvLinks(1));
  return topology;
}

/// Adds two bounds for each rank: all its links together send at most `bandwidth` chunks per round, and receive at most
/// `bandwidth`.
void boundRanks(Topology &topology, uint32_t bandwidth) {
  for (const LinksOfRanks &side : {linksFrom(topology), linksTo(topology)})
    for (uint32_t rank = 0; rank < topology.ranks; ++rank)
      topology.addBound({side.links.begin() + side.begin[rank], side.links.begin() + side.begin[rank + 1]}, bandwidth);
}

/// Joins every pair of ranks over one switch; each rank has `ports` NVLinks to it.
Topology makeSwitch(uint32_t ranks, uint32_t ports) {
  Topology topology = ofRanks(ranks);
  topology.lattice = {ranks};
  for (uint32_t a = 0; a < ranks; ++a)
    for (uint32_t b = a + 1; b < ranks; ++b)
      join(topology, a, b, nvLinks(ports, LinkKind::NvSwitch));
  boundRanks(topology, ports);
  return topology;
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

Topology makeZ52(const Sizes &) {
  Topology topology = makeRing({8});
  for (Link &link : topology.links)
    link.kind = LinkKind::Xgmi;
  return topology;
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
    {"dgx1",
     "",
     0,
     0,
     0,
     "NVIDIA DGX-1: 8 V100, 6 NVLinks each; 4 network cards",
     makeDgx1,
     {.cards = 4, .bandwidth = 1, .scale = 2, .beta = 80}},
    {"dgx2",
     "",
     0,
     0,
     0,
     "NVIDIA DGX-2: 16 V100 on switches, 6 NVLinks each; 8 network cards",
     [](const Sizes &) { return makeSwitch(16, 6); },
     {.cards = 8, .bandwidth = 1, .scale = 2, .beta = 80}},
    {"dgx-a100",
     "",
     0,
     0,
     0,
     "NVIDIA DGX A100: 8 A100 on switches, 12 NVLinks each; 8 network cards",
     [](const Sizes &) { return makeSwitch(8, 12); },
     {.cards = 8, .bandwidth = 1, .scale = 1, .beta = 40}},
    {"dgx-h100",
     "",
     0,
     0,
     0,
     "NVIDIA DGX H100: 8 H100 on switches, 18 NVLinks each; 8 network cards",
     [](const Sizes &) { return makeSwitch(8, 18); },
     {.cards = 8, .bandwidth = 2, .scale = 1, .beta = 20}},
    {"amd-z52", "", 0, 0, 0, "Gigabyte Z52 with 8 MI50, as SCCL models it: a ring", makeZ52, {}},
    {"ring", "N", 1, 1, 3, "each rank with the one before it and the one after it", makeRing, {}},
    {"line", "N", 1, 1, 2, "a ring without the link that closes it", makeLine, {}},
    {"mesh",
     "AxB...",
     1,
     8,
     1,
     "a grid of any number of dimensions; the last number runs fastest",
     [](const Sizes &sizes) { return makeGrid(sizes, false); },
     {}},
    {"torus",
     "AxB...",
     1,
     8,
     1,
     "a mesh whose rows and columns are rings",
     [](const Sizes &sizes) { return makeGrid(sizes, true); },
     {}},
    {"hypercube", "D", 1, 1, 1, "2^D ranks, each with those whose number differs in one bit", makeHypercube, {}},
    {"star", "N", 1, 1, 2, "rank 0 with all others", makeStar, {}},
    {"full", "N", 1, 1, 2, "each rank with all others", makeFull, {}},
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
  return *family.sizes ? std::string(family.name) + ":" + family.sizes : family.name;
}

const Family *findFamily(const std::string &name) {
  const auto *found =
      std::find_if(std::begin(families), std::end(families), [&](const Family &family) { return family.name == name; });
  return found == std::end(families) ? nullptr : found;
}

std::optional<Topology> makeFamily(const std::string &name, const Family *&family, std::string &error) {
  const size_t colon = std::min(name.find(':'), name.size());
  family = findFamily(name.substr(0, colon));
  if (!family) {
    error = "unknown topology '" + name + "'";
    return {};
  }
  const Sizes sizes = colon < name.size() ? readSizes(name.substr(colon + 1)) : Sizes();
  const bool hasSizes = colon < name.size();
  if (hasSizes != (*family->sizes != 0) || sizes.size() < family->minSizes || sizes.size() > family->maxSizes) {
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

/// Appends a copy of `inside`. Its ranks and links get the numbers after the ranks and links of `topology`.
void append(Topology &topology, const Topology &inside) {
  const uint32_t firstLink = topology.linkCount();
  for (Link link : inside.links) {
    link.from += topology.ranks, link.to += topology.ranks;
    topology.links.push_back(link);
  }
  for (uint32_t bound = 0; bound < inside.boundCount(); ++bound) {
    std::vector<uint32_t> links(inside.boundLinks.begin() + inside.boundBegin[bound],
                                inside.boundLinks.begin() + inside.boundBegin[bound + 1]);
    for (uint32_t &link : links)
      link += firstLink;
    topology.addBound(links, inside.boundBandwidth[bound]);
  }
  topology.ranks += inside.ranks;
}

/// Joins `machines` copies of `inside`. Rank i of each machine reaches rank i of every other machine over the cards of
/// both machines.
Topology joinByNetwork(Topology inside, uint32_t machines, const NetworkCards &network) {
  for (Link &link : inside.links)
    link.bandwidth *= network.scale;
  for (uint32_t &bandwidth : inside.boundBandwidth)
    bandwidth *= network.scale;
  Topology topology;
  for (uint32_t machine = 0; machine < machines; ++machine)
    append(topology, inside);
  const uint32_t cards = std::min(network.cards, inside.ranks), perCard = (inside.ranks + cards - 1) / cards;
  topology.lattice = {machines};
  if (perCard == 1) // otherwise ranks share cards, and only whole machines are symmetric
    topology.lattice.insert(topology.lattice.end(), inside.lattice.begin(), inside.lattice.end());
  const Link like = {.from = 0,
                     .to = 0,
                     .bandwidth = network.bandwidth,
                     .kind = LinkKind::Network,
                     .alpha = NetworkAlpha,
                     .beta = network.beta};
  std::map<uint32_t, std::vector<uint32_t>> out, in; // by card: its links
  for (uint32_t a = 0; a < machines; ++a)
    for (uint32_t b = a + 1; b < machines; ++b)
      for (uint32_t rank = 0; rank < inside.ranks; ++rank) {
        const uint32_t cardA = a * cards + rank / perCard, cardB = b * cards + rank / perCard;
        const uint32_t link = topology.linkCount();
        join(topology, a * inside.ranks + rank, b * inside.ranks + rank, like);
        out[cardA].push_back(link), in[cardB].push_back(link);
        out[cardB].push_back(link + 1), in[cardA].push_back(link + 1);
      }
  for (const auto &side : {out, in})
    for (const auto &[card, links] : side)
      if (links.size() > 1)
        topology.addBound(links, network.bandwidth);
  return topology;
}

} // namespace

std::optional<Topology> named(const std::string &name, std::string &error) {
  const size_t star = name.find('*');
  const Family *family = nullptr;
  std::optional<Topology> topology =
      makeFamily(star == std::string::npos ? name : name.substr(star + 1), family, error);
  if (!topology)
    return {};
  if (star != std::string::npos) {
    const Sizes machines = readSizes(name.substr(0, star));
    if (machines.size() != 1 || machines[0] < 2) {
      error = "'" + name + "' must begin with a number of machines of at least 2: '2*" + name.substr(star + 1) + "'";
      return {};
    }
    const uint64_t ranks = static_cast<uint64_t>(machines[0]) * topology->ranks;
    if (ranks > Topology::MaxRanks || ranks * machines[0] + machines[0] * topology->links.size() > Topology::MaxLinks) {
      error = "'" + name + "' is too large: a topology has at most " + std::to_string(Topology::MaxRanks) +
              " ranks and " + std::to_string(Topology::MaxLinks) + " links";
      return {};
    }
    topology = joinByNetwork(*topology, machines[0], family->network);
  }
  topology->name = name;
  return topology;
}

std::string familiesHelp() {
  std::string text;
  for (const Family &family : families)
    text += spelling(family) + "\t" + family.help + "\n";
  return text + "N*FAMILY\tN of one of these, each rank joined with the same rank of the others\n";
}

} // namespace gc3::topology
