// SPDX-License-Identifier: Apache-2.0
// Converts a machine to links and switches. NVLinks between two GPUs become a link, NVLinks to switches become ports.
// If NVLinks do not connect all GPUs, a switch stands for PCIe.
#include "Machine.h"
#include "gc3/Topology/Families.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace gc3::topology {

namespace {

/// What a generation of GPUs determines. `direct` and `switched` are the machines whose costs apply.
struct Generation {
  unsigned sm;
  uint32_t nvlinks; ///< of a GPU
  double nvlink;    ///< GB/s of an NVLink in each direction, from NVIDIA's data sheets
  const char *gpu, *direct, *switched;
};
constexpr Generation generations[] = {
    {60, 4, 20, "P100", "dgx1", "dgx1"},
    {70, 6, 25, "V100", "dgx1", "dgx2"},
    {80, 12, 25, "A100", "dgx-a100", "dgx-a100"},
    {86, 4, 14.0625, "A40", "dgx-a100", "dgx-a100"},
    {89, 4, 14.0625, "L40", "dgx-a100", "dgx-a100"},
    {90, 18, 25, "H100", "dgx-h100", "dgx-h100"},
    {100, 18, 50, "B200", "gb200-nvl72", "gb200-nvl72"},
    {120, 0, 50, "RTX PRO 6000", "dgx-a100", "dgx-a100"}, // a card for PCIe, without NVLinks
};
constexpr double defaultPcie = 24; ///< GB/s

/// Returns the generation of the machine: the newest one that is not newer. Without a compute capability, the number of
/// NVLinks of a GPU determines it: up to 6 a V100, up to 12 or none an A100, else an H100.
const Generation &generationOf(const Machine &machine, uint32_t mostLinks) {
  const unsigned guess = mostLinks == 0 ? 80 : mostLinks <= 6 ? 70 : mostLinks <= 12 ? 80 : 90;
  const unsigned sm = machine.sm != 0 ? machine.sm : guess;
  const Generation *found = std::begin(generations);
  for (const Generation &each : generations)
    if (each.sm <= sm)
      found = &each;
  return *found;
}

std::string rounded(double figure) {
  std::string text = std::to_string(std::round(figure * 100) / 100);
  text.erase(text.find_last_not_of('0') + 1);
  return text.back() == '.' ? text.substr(0, text.size() - 1) : text;
}

double betaOf(double gigabytes) {
  return 1000 / gigabytes;
}

/// Returns `figure / unit` as a number of chunks per round.
uint32_t chunks(double figure, double unit) {
  return static_cast<uint32_t>(std::clamp(std::round(figure / unit), 1.0, 256.0));
}

class Conversion {
public:
  explicit Conversion(const Machine &machine) : machine(machine) {
    result.ranks = machine.gpus;
    for (uint32_t gpu = 0; gpu < machine.gpus; ++gpu)
      mostLinks = std::max(mostLinks, machine.linksOf(gpu));
    isSwitched = std::any_of(machine.switchLinks.begin(), machine.switchLinks.end(), [](uint32_t n) { return n != 0; });
    generation = &generationOf(machine, mostLinks);
    std::string error;
    like = named(isSwitched ? generation->switched : generation->direct, error).value();
    pcie = machine.pcie > 0 ? machine.pcie : defaultPcie;
    needsPcie = !isConnected();
    unit = needsPcie ? std::min(generation->nvlink, pcie) : generation->nvlink;
  }

  Topology convert() {
    addLinks();
    addNvSwitch();
    if (needsPcie)
      addPcie();
    addCosts();
    addCards();
    result.description = std::to_string(machine.gpus) + " GPUs, " +
                         (mostLinks == 0 ? "PCIe" : std::to_string(mostLinks) + " NVLinks each") +
                         (isSwitched ? " to switches" : "") + "; from " + machine.origin;
    return std::move(result);
  }

private:
  void source(const char *figure, const std::string &origin) { result.sources.push_back({figure, origin}); }

  /// Returns true if NVLinks and their switches connect all GPUs.
  bool isConnected() const {
    std::vector<uint8_t> seen(machine.gpus);
    std::vector<uint32_t> reached = {0};
    seen[0] = 1;
    for (size_t next = 0; next < reached.size(); ++next) {
      const uint32_t from = reached[next];
      for (uint32_t to = 0; to < machine.gpus; ++to) {
        const bool isNear = machine.nvlinks[from * machine.gpus + to] != 0 ||
                            (machine.switchLinks[from] != 0 && machine.switchLinks[to] != 0);
        if (isNear && !seen[to])
          seen[to] = 1, reached.push_back(to);
      }
    }
    return reached.size() == machine.gpus;
  }

  void addLinks() {
    for (uint32_t from = 0; from < machine.gpus; ++from)
      for (uint32_t to = 0; to < machine.gpus; ++to)
        if (const uint32_t count = machine.nvlinks[from * machine.gpus + to]; count != 0)
          result.links.push_back({from, to, count * chunks(generation->nvlink, unit), LinkKind::NvLink, 1,
                                  betaOf(count * generation->nvlink)});
    if (mostLinks != 0)
      source("links beta, switches beta",
             rounded(generation->nvlink) + " GB/s an NVLink and direction, as on the " + generation->gpu + ": " +
                 (machine.sm != 0 ? "compute capability " + std::to_string(machine.sm)
                                  : "guessed from " + std::to_string(mostLinks) + " NVLinks a GPU"));
  }

  /// All ports have the rate of the GPU with the fewest NVLinks to switches.
  void addNvSwitch() {
    if (!isSwitched)
      return;
    uint32_t fewest = UINT32_MAX;
    Switch made;
    for (uint32_t gpu = 0; gpu < machine.gpus; ++gpu)
      if (machine.switchLinks[gpu] != 0) {
        fewest = std::min(fewest, machine.switchLinks[gpu]);
        made.portRanks.push_back(gpu);
        made.portBegin.push_back(static_cast<uint32_t>(made.portRanks.size()));
      }
    if (made.ports() < 2)
      return;
    made.bandwidth = fewest * chunks(generation->nvlink, unit);
    made.beta = betaOf(fewest * generation->nvlink);
    if (made.ports() == machine.gpus && result.links.empty())
      result.lattice = {machine.gpus};
    result.switches.push_back(std::move(made));
    result.expandSwitches();
  }

  void addPcie() {
    Switch made;
    made.kind = LinkKind::Pcie;
    made.bandwidth = chunks(pcie, unit), made.beta = betaOf(pcie);
    made.portRanks.resize(machine.gpus);
    std::iota(made.portRanks.begin(), made.portRanks.end(), 0);
    for (uint32_t gpu = 0; gpu < machine.gpus; ++gpu)
      made.portBegin.push_back(gpu + 1);
    if (const uint32_t shared = gpusOfTrunk(); shared > 1)
      made.trunkPorts = shared, made.trunkBandwidth = made.bandwidth;
    if (mostLinks == 0 && made.trunkPorts == 0)
      result.lattice = {machine.gpus};
    result.switches.push_back(std::move(made));
    result.expandSwitches();
    source("PCIe beta", machine.pcie > 0
                            ? "speed and width in the file, times NCCL's 0.75"
                            : "default: " + rounded(pcie) + " GB/s, NCCL's figure of PCIe 4.0 with 16 lanes");
  }

  /// Returns the number of consecutive GPUs on each PCIe switch. Returns 0 if the switches are not equal, or if all
  /// GPUs are on one switch.
  uint32_t gpusOfTrunk() const {
    const auto &on = machine.pcieSwitch;
    const auto count = static_cast<uint32_t>(
        std::find_if(on.begin(), on.end(), [&](uint32_t each) { return each != on[0]; }) - on.begin());
    if (on[0] == Machine::None || count == machine.gpus || machine.gpus % count != 0)
      return 0;
    for (uint32_t gpu = 0; gpu < machine.gpus; ++gpu) {
      const bool isFirst = gpu % count == 0;
      if (on[gpu] == Machine::None || (gpu != 0 && isFirst == (on[gpu] == on[gpu - 1])))
        return 0;
    }
    return count;
  }

  /// Takes the costs of a built-in machine. Each kind of link in the machine gets the latency of its NVLinks.
  void addCosts() {
    result.costs = like.costs;
    for (ProtocolCosts &protocol : result.costs.protocols) {
      auto &hop = protocol.hop;
      const double inside =
          std::max(hop[static_cast<unsigned>(LinkKind::NvLink)], hop[static_cast<unsigned>(LinkKind::NvSwitch)]);
      for (LinkKind kind : {LinkKind::NvLink, LinkKind::NvSwitch, LinkKind::Pcie})
        hop[static_cast<unsigned>(kind)] = inside;
    }
    source("alpha", "round numbers, not measured");
    source("costs", "not measured: the figures of " + like.name);
  }

  /// Ranks share cards evenly. If GPUs have several cards, these count as one.
  void addCards() {
    NetworkCards network = like.network.value_or(NetworkCards());
    double card = machine.card > 0 ? machine.card : 1000 / network.beta;
    source("network beta",
           machine.card > 0 ? "speed in the file" : "default: " + rounded(card) + " GB/s a card, as in " + like.name);
    if (machine.cards == 0)
      source("network cards", "default: 1, because the file names none");
    if (machine.cards > machine.gpus)
      card *= static_cast<double>(machine.cards) / machine.gpus;
    network.cards = std::clamp(machine.cards, 1u, machine.gpus);
    network.scale = chunks(unit, card);
    network.bandwidth = chunks(card * network.scale, unit);
    network.beta = betaOf(card);
    result.network = network;
  }

  const Machine &machine;
  Topology result;
  uint32_t mostLinks = 0; ///< NVLinks of the GPU that has most
  bool isSwitched = false, needsPcie = false;
  const Generation *generation = nullptr;
  Topology like;   ///< the built-in machine that is most similar
  double pcie = 0; ///< GB/s
  double unit = 0; ///< GB/s of a bandwidth of 1
};

} // namespace

uint32_t Machine::linksOf(uint32_t gpu) const {
  const auto first = nvlinks.begin() + static_cast<ptrdiff_t>(gpu) * gpus;
  return std::accumulate(first, first + gpus, switchLinks[gpu]);
}

Topology toTopology(const Machine &machine) {
  return Conversion(machine).convert();
}

} // namespace gc3::topology
