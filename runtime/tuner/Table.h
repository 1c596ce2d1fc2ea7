// SPDX-License-Identifier: Apache-2.0
// Tables of times of NCCL's algorithms, as text (docs/nccl-tuner.md). gc3-sim writes a table from NCCL's cost model.
// The profiler plugin writes one from measured times. The tuner plugin reads tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::tuner {

/// Collectives that NCCL has algorithms for, with NCCL's numbers.
enum class Collective : uint8_t { Broadcast, Reduce, AllGather, ReduceScatter, AllReduce };
/// Algorithms and protocols, with NCCL's numbers.
enum class Algorithm : uint8_t { Tree, Ring, CollNetDirect, CollNetChain, Nvls, NvlsTree, Pat };
enum class Protocol : uint8_t { LL, LL128, Simple };

/// Names in tables, indexed by the enumerators.
inline constexpr std::string_view collectiveNames[] = {"broadcast", "reduce", "allgather", "reduce_scatter",
                                                       "allreduce"};
inline constexpr std::string_view algorithmNames[] = {"tree",      "ring", "collnet-direct", "collnet-chain", "nvls",
                                                      "nvls-tree", "pat"};
inline constexpr std::string_view protocolNames[] = {"ll", "ll128", "simple"};
inline constexpr uint32_t collectiveCount = 5, bucketCount = 64;
inline constexpr uint32_t mostChannels = 64;

/// A way in which NCCL can run a call.
struct Arm {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  uint8_t channels = 0; ///< 0: NCCL's number
  float time = 0;       ///< microseconds; 0: not measured
};

/// The time of an arm for one collective, bucket and shape of communicator.
struct Row {
  Collective collective = Collective::AllReduce;
  uint8_t bucket = 0; ///< floor(log2(bytes)) of the larger of one rank's input and output
  uint32_t ranks = 0, nodes = 0;
  Arm arm;
};

/// Returns floor(log2(bytes)), and 0 for 0 bytes.
uint32_t bucketOf(uint64_t bytes);

/// Returns true if NCCL accepts a number of channels for the algorithm. NCCL does not limit the number for algorithms
/// that use a network's reductions, so a wrong number would break the call.
bool canSetChannels(Algorithm algorithm, uint32_t nodes);

/// Appends the rows of a text to `rows`. Returns an error with the number of the line, or an empty string.
std::string parseTable(std::string_view text, std::vector<Row> &rows);

/// Returns rows as a text that parseTable() reads.
std::string printTable(const std::vector<Row> &rows);

/// Reads the file of a table. Returns an error that names the file, or an empty string.
std::string readTable(const std::string &path, std::string &text, std::vector<Row> &rows);

} // namespace gc3::tuner
