// SPDX-License-Identifier: Apache-2.0
// NCCL's formulas for latency and bandwidth, with its constants (NCCL 2.30.7, src/graph/tuning.cc). A time is the
// latency plus the bytes divided by the algorithm's bandwidth. All is in microseconds and GB/s.
#include "gc3/Simulate/NcclModel.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

namespace gc3::simulate {

namespace {

enum NcclProtocol : uint8_t { Simple, LL, LL128 }; // as in topology::ProtocolNames
constexpr unsigned Protocols = 3, Algorithms = 4;
enum Hardware : uint8_t { OverNvLink, OverPcie, OverNetwork };

// By algorithm (ring, tree, NVLS, NVLS tree) and protocol. NVLS has only Simple.
constexpr double BaseLatency[Algorithms][Protocols] = {{8.4, 6.6, 14}, {8.4, 6.8, 14}, {}, {}};
constexpr double HopLatency[3][Algorithms][Protocols] = {
    {{3.4, 0.6, 1.9}, {4, 0.6, 1.25}, {25}, {25}},
    {{5.7, 1, 2.5}, {4, 1, 1.9}, {}, {}},
    {{14, 2.7, 4}, {14, 5, 8.5}, {18}, {20.9}},
};

// By generation of GPUs, and by number of machines: 1, 2, more.
constexpr double MostLL[4][3] = {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}};
constexpr double RingLL128[4] = {20, 20, 36.7, 40};
constexpr double TreeLL128[4][3] = {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
constexpr double TreeSimple[4][3] = {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
constexpr double NvlsTree[4][3] = {{}, {}, {0, 57.7, 45.5}, {0, 96, 80}};
constexpr double NvlsEfficiency[4] = {0, 0, 0.85, 0.74};

// Tenths of a tree's bandwidth, by protocol and log2(bytes / 64).
constexpr uint8_t TreeTenths[Protocols][24] = {
    {9, 9, 9, 9, 9, 9, 9, 8, 7, 6, 6, 5, 5, 5, 5, 6, 7, 8, 7, 7, 8, 9, 9, 9},
    {10, 10, 10, 10, 9, 8, 7, 7, 7, 7, 6, 5, 4, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 10},
    {10, 10, 10, 10, 10, 9, 8, 8, 8, 7, 6, 6, 6, 6, 6, 6, 8, 9, 9, 9, 9, 10, 10, 10},
};

/// NCCL's estimates for one collective and size.
class NcclEstimate {
public:
  NcclEstimate(const NcclSystem &system, std::string_view collective, uint64_t bytes)
      : system(system), collective(collective), bytes(static_cast<double>(bytes)),
        generation(static_cast<unsigned>(system.generation)), row(std::min(system.machines, 3u) - 1),
        inside(system.hasNvLink ? OverNvLink : OverPcie) {}

  /// Returns a negative number if NCCL does not have the combination.
  double time(NcclAlgorithm algorithm, NcclProtocol protocol) const {
    if (protocol == LL128 && system.perMachine > 1 && !system.hasNvLink)
      return -1;
    switch (algorithm) {
    case NcclAlgorithm::Ring: return collective == "alltoall" ? -1 : total(ringLatency(protocol), ringRate(protocol));
    case NcclAlgorithm::Tree: return isAllReduce() ? total(treeLatency(protocol), treeRate(protocol)) : -1;
    case NcclAlgorithm::Nvls: return hasNvls(protocol) ? total(hop(OverNvLink, algorithm, Simple), nvlsRate()) : -1;
    case NcclAlgorithm::NvlsTree: return hasNvlsTree(protocol) ? total(nvlsTreeLatency(), nvlsTreeRate()) : -1;
    case NcclAlgorithm::SendRecv: return collective == "alltoall" ? sendRecvTime(protocol) : -1;
    }
    return -1;
  }

private:
  bool isAllReduce() const { return collective == "allreduce"; }
  /// One block goes from a root to all ranks, or back.
  bool hasRoot() const { return collective == "broadcast" || collective == "reduce"; }
  double total(double latency, double rate) const { return rate > 0 ? latency + bytes / (1000 * rate) : -1; }
  static double base(NcclAlgorithm algorithm, NcclProtocol protocol) {
    return BaseLatency[static_cast<unsigned>(algorithm)][protocol];
  }
  static double hop(Hardware hardware, NcclAlgorithm algorithm, NcclProtocol protocol) {
    return HopLatency[hardware][static_cast<unsigned>(algorithm)][protocol];
  }
  /// A ring with one rank a machine has the network latency of a tree.
  double networkHop(NcclAlgorithm algorithm, NcclProtocol protocol) const {
    return hop(OverNetwork, system.perMachine == 1 ? NcclAlgorithm::Tree : algorithm, protocol);
  }
  /// A rate counts this many times its bytes per byte of the collective.
  double ringShare() const {
    const double steps = (isAllReduce() ? 2 : 1) * (system.ranks - 1.0);
    return hasRoot() ? 1 : system.ranks / steps;
  }
  double busRate(const NcclGraph &graph) const {
    return graph.channels * (system.machines <= 2 ? graph.inside : graph.between);
  }
  /// CPUs limit LL over a network. Machines with Ampere mostly have AMD's, others mostly Intel's.
  double mostLL() const {
    const bool isAmd = system.generation == GpuGeneration::Ampere;
    return MostLL[system.machines == 1 ? generation : isAmd ? 1 : 0][row];
  }

  double ringLatency(NcclProtocol protocol) const {
    constexpr NcclAlgorithm ring = NcclAlgorithm::Ring;
    if (hasRoot()) // the pipeline hides all hops except one
      return base(ring, protocol) + hop(system.machines > 1 ? OverNetwork : inside, ring, protocol);
    const double both = isAllReduce() ? 2 : 1;
    const double network = both * (system.machines - 1), steps = both * (system.ranks - 1) - network;
    double each = hop(inside, ring, protocol);
    if (system.machines > 1) // each step costs the CPU at least this
      each = std::max(each, (system.generation == GpuGeneration::Ampere ? 2.0 : 1.0) * (protocol == Simple ? 3 : 1));
    const double latency = base(ring, protocol) + steps * each + network * networkHop(ring, protocol);
    const bool isPlateau = protocol == Simple && system.machines > 1 && isAllReduce() &&
                           bytes / (system.rings.channels * static_cast<double>(system.ranks)) >= 64;
    return isPlateau ? latency * (system.generation == GpuGeneration::Volta ? 1.9 : 1.4) : latency;
  }
  double ringRate(NcclProtocol protocol) const {
    double rate = busRate(system.rings);
    if (protocol == LL)
      rate = std::min(mostLL(), rate / 2);
    if (protocol == LL128)
      rate = std::min(0.92 * rate, system.rings.channels * RingLL128[generation]);
    return rate * ringShare();
  }

  double logMachines() const { return llvm::Log2_32(system.machines); }
  double treeLatency(NcclProtocol protocol) const {
    constexpr NcclAlgorithm tree = NcclAlgorithm::Tree;
    return base(tree, protocol) + 2 * ((system.perMachine - 1) * hop(inside, tree, protocol) +
                                       logMachines() * hop(OverNetwork, tree, protocol));
  }
  double treeRate(NcclProtocol protocol) const {
    const double channels = system.trees.channels;
    double rate = std::min(0.92 * busRate(system.trees), channels * TreeSimple[generation][row]);
    if (protocol == LL)
      rate = std::min(rate / 3.8, mostLL());
    if (protocol == LL128)
      rate = std::min(rate * (system.machines == 1 ? 7.0 / 9 : 120.0 / 128), channels * TreeLL128[generation][row]);
    if (system.perMachine == 1)
      rate *= 0.85;
    const uint64_t lines = static_cast<uint64_t>(bytes) / 64;
    const unsigned log = lines == 0 ? 0 : llvm::Log2_64(lines);
    return rate / 2 * (lines != 0 && log < 23 ? TreeTenths[protocol][log] / 10.0 : 1);
  }

  bool hasNvls(NcclProtocol protocol) const {
    return protocol == Simple && system.nvls.channels >= 2 && system.machines == 1 && !hasRoot() &&
           collective != "alltoall";
  }
  bool hasNvlsTree(NcclProtocol protocol) const {
    return protocol == Simple && system.nvls.channels >= 2 && system.machines > 1 && isAllReduce();
  }
  /// Returns the rate of a channel inside a machine. An AllReduce overlaps its two halves.
  double nvlsChannel() const {
    const double channels = system.nvls.channels, local = system.perMachine;
    return system.nvls.inside * NvlsEfficiency[generation] * (channels - 1) / channels *
           (isAllReduce() ? 2 : (local - 1) / local);
  }
  double nvlsRate() const {
    return system.nvls.channels * std::min(nvlsChannel(), system.nvls.between) * (isAllReduce() ? ringShare() : 1);
  }
  double nvlsTreeLatency() const {
    return hop(OverNvLink, NcclAlgorithm::NvlsTree, Simple) +
           2 * logMachines() * networkHop(NcclAlgorithm::NvlsTree, Simple);
  }
  double nvlsTreeRate() const {
    const double between = system.nvls.between * (system.machines == 2 ? 2 : 1);
    return system.nvls.channels * std::min({nvlsChannel(), between, NvlsTree[generation][row]}) * ringShare();
  }

  /// The estimate of gc3: all messages leave at once, over the port and the cards, after one hop. LL doubles the bytes.
  double sendRecvTime(NcclProtocol protocol) const {
    if (protocol == LL128)
      return -1;
    constexpr NcclAlgorithm ring = NcclAlgorithm::Ring;
    const double part = bytes / system.ranks * (protocol == LL ? 2 : 1), local = system.perMachine;
    double time = local > 1 ? (local - 1) * part / (1000 * system.share) : 0;
    double latency = local > 1 ? hop(inside, ring, protocol) : 0;
    if (system.machines > 1) {
      time = std::max(time, local * (system.ranks - local) * part / (1000 * system.cards * system.card));
      latency = networkHop(ring, protocol);
    }
    return base(ring, protocol) + latency + time;
  }

  const NcclSystem &system;
  const std::string_view collective;
  const double bytes;
  const unsigned generation;
  const unsigned row; ///< of tables by number of machines
  const Hardware inside;
};

bool isNcclCollective(std::string_view collective) {
  for (const std::string_view each : {"allreduce", "allgather", "reduce_scatter", "broadcast", "reduce", "alltoall"})
    if (collective == each)
      return true;
  return false;
}

} // namespace

std::string_view name(NcclAlgorithm algorithm) {
  switch (algorithm) {
  case NcclAlgorithm::Ring: return "ring";
  case NcclAlgorithm::Tree: return "tree";
  case NcclAlgorithm::Nvls: return "nvls";
  case NcclAlgorithm::NvlsTree: return "nvls-tree";
  case NcclAlgorithm::SendRecv: return "send-recv";
  }
  return "";
}

std::vector<NcclChoice> listNccl(const NcclSystem &system, std::string_view collective, uint64_t bytes) {
  if (!isNcclCollective(collective) || system.ranks < 2 || system.rings.channels == 0)
    return {};
  const NcclEstimate estimate(system, collective, bytes);
  std::vector<NcclChoice> all;
  for (const NcclAlgorithm algorithm : {NcclAlgorithm::Ring, NcclAlgorithm::Tree, NcclAlgorithm::Nvls,
                                        NcclAlgorithm::NvlsTree, NcclAlgorithm::SendRecv})
    for (const NcclProtocol protocol : {Simple, LL, LL128})
      if (const double time = estimate.time(algorithm, protocol); time >= 0)
        all.push_back({time, algorithm, protocol});
  return all;
}

std::optional<NcclChoice> chooseNccl(const NcclSystem &system, std::string_view collective, uint64_t bytes) {
  const std::vector<NcclChoice> all = listNccl(system, collective, bytes);
  const auto best = std::min_element(all.begin(), all.end(),
                                     [](const auto &left, const auto &right) { return left.time < right.time; });
  return best == all.end() ? std::nullopt : std::optional(*best);
}

} // namespace gc3::simulate
