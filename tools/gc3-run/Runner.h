// SPDX-License-Identifier: Apache-2.0
// Runs rows: makes data, checks, measures. A Runner belongs to one bundle, and makes the calls of this process's ranks.
#pragma once

#include "Buffer.h"
#include "Gpu.h"
#include "Inputs.h"
#include "Job.h"
#include "LossWatch.h"
#include "NcclBaseline.h"
#include "NcclRank.h"
#include "Reference.h"
#include "Row.h"

#include "bundle/BundleFile.h"
#include "trace/TraceFile.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace gc3::run {

/// The programs that serve the same calls. Their rows form one table.
struct ProgramGroup {
  std::string collective;
  int ranks = 0;
  int root = -1; ///< -1: the collective has no root
  std::vector<int> programs;
  std::optional<ncclapi::Collective> ofNccl{}; ///< NCCL's collective that does the same
};

class Runner {
public:
  /// The options must be equal in all processes of the job, except those for outputs.
  Runner(const Options &chosen, Job &processes) : options(chosen), table(chosen), job(processes) {}
  ~Runner();
  Runner(const Runner &) = delete;
  Runner &operator=(const Runner &) = delete;

  /// Opens the bundle, runs all rows and prints them. Returns an error message, or an empty string. Wrong elements are
  /// counted in the summary.
  std::string run(Summary &summary);

private:
  struct Shape {
    std::vector<uint64_t> input, output; ///< numbers of elements, indexed by rank
    uint64_t largest = 0;
  };

  /// One call of a row on a rank's buffers.
  struct Buffers {
    std::byte *send, *recv;
  };
  /// What time() times: the calls of a program, or those of NCCL.
  struct Contender {
    std::function<std::string()> call;
    std::vector<double> seconds; ///< of the iterations, in each turn
  };

  std::string open();
  std::string runAll(Summary &summary);
  std::string groupPrograms();
  /// Returns whether the processes have as many ranks as a program, or can have.
  bool canRun(uint32_t ranks) const;
  /// Returns an error that says why none of the wanted programs can run.
  std::string describeRanks() const;
  std::string runBundle(Summary &summary);
  /// Ends all work on GPUs that can wait for other ranks.
  void abort();
  /// Returns an error if no program runs any of the wanted sizes.
  std::string checkSizes() const;
  void addBaseline();
  std::string listPrograms() const;
  std::string runGroup(const ProgramGroup &group, Summary &summary);
  std::string runRow(const ProgramGroup &group, int program, uint64_t count, gc3DataType_t type, Reduction op,
                     Row &row);
  std::string makeBuffers(const Shape &shape, size_t elementSize);
  std::string measure(const ProgramGroup &group, Placement placement, Row &row, gc3DataType_t type, Reduction op,
                      const Shape &shape, int program);
  Share checkRounds(Placement placement, const Row &row, gc3DataType_t type, Reduction op, const Shape &shape,
                    CheckJob &check);
  CheckJob checkJob(Placement placement, const Row &row, gc3DataType_t type, Reduction op, const Shape &shape,
                    int program, const Postcondition &post) const;
  /// Returns how the input (or output) buffers of a program are cut into chunks. `elements` has the number of elements
  /// of each rank's buffer.
  Chunks chunksOf(int program, const Row &row, const std::vector<uint64_t> &elements, bool output) const;
  int roundsOf(const InputKind &kind, uint64_t window) const;
  std::vector<uint64_t> inputSums(const Shape &shape, size_t elementSize) const;
  std::string prepareOutputs(Placement placement, const Row &row, size_t elementSize, const Shape &shape);
  /// Returns the buffers of a call of own rank `i`.
  Buffers buffersOf(uint32_t i, Placement placement, const Row &row, size_t elementSize, const Shape &shape);
  std::string call(Placement placement, const Row &row, gc3DataType_t type, Reduction op, const Shape &shape);
  /// Makes a call of NCCL's own collective.
  std::string callNccl(ncclapi::Collective collective, Placement placement, const Row &row, gc3DataType_t type,
                       Reduction op, const Shape &shape);
  /// Waits for calls on the GPU. Returns an error message, or an empty string.
  std::string finish();
  /// Times calls of the row's program and, if there is a collective, NCCL's calls.
  std::string time(std::optional<ncclapi::Collective> ofNccl, Placement placement, Row &row, gc3DataType_t type,
                   Reduction op, const Shape &shape);
  /// Times the contenders in turns, `iterations` calls in each turn.
  std::string takeTurns(std::vector<Contender> &contenders, int iterations);
  /// Makes `calls` calls and waits for them. Returns the time or a problem.
  Share timeCalls(const Contender &contender, int calls);
  /// Returns how many calls of the slowest contender fit into the default time, or the number in the options.
  std::string chooseIterations(const std::vector<Contender> &contenders, int &iterations);
  void makeInputs(int round, CheckJob &check, const Shape &shape);
  void fillOutputs(Placement placement, const Row &row, size_t elementSize, const Shape &shape);

  std::string shapeOf(int program, uint64_t count, size_t elementSize, Shape &shape) const;
  std::optional<int> dispatch(const ProgramGroup &group, uint64_t bytes) const;
  std::optional<int> select(const ProgramGroup &group, uint64_t bytes, uint64_t count, gc3DataType_t type);
  /// Creates the communicators of the next calls, with or without a trace. Destroys earlier ones, which writes their
  /// events to the trace.
  std::string communicators(int ranks, bool isTraced);
  gc3Result_t init(int ranks, const char *trace, const gc3UniqueId_t &id);
  gc3GpuConfig_t gpuConfig(const char *trace) const;
  gc3Result_t initGpu(int ranks, const char *trace);
  gc3Result_t initNccl(const char *trace);
  gc3Result_t initHost(int ranks, const char *trace, const gc3UniqueId_t &id);
  /// With a host communicator in several processes, sets `id` to one that process 0 makes.
  std::string shareHostId(gc3UniqueId_t &id);
  trace::TraceFile *traceFile() const;
  void destroyCommunicators();
  /// Prepares the communicators for rows of one size, after `sizesBefore` sizes of the same collective and type.
  std::string chooseTrace(int ranks, uint64_t sizesBefore);
  const Postcondition *postcondition(int program, std::string &problem);
  std::vector<uint64_t> wantedCounts(const ProgramGroup &group, size_t elementSize, std::string &problem) const;
  int64_t inPlaceOffset(const Row &row, const Shape &shape, uint32_t rank) const;
  std::string lastError(const char *what, gc3Result_t result, gc3Comm_t comm) const;

  const Options &options;
  Table table;
  gc3Bundle_t bundle = nullptr;
  std::unique_ptr<bundle::BundleFile> file; ///< opened for its Check sections
  std::vector<ProgramGroup> groups;
  Job &job;
  core::RankRange own{};        ///< this process's ranks of the current group of programs
  std::vector<gc3Comm_t> comms; ///< of the own ranks, as are the buffers
  bool areTraced = false;       ///< true if the calls of `comms` are traced
  std::string whyNone;          ///< why the communicators have selected no program; empty: they always have
  bool leavesTraceOut = false;  ///< true if some size was not traced although a trace was requested
  std::map<int, std::unique_ptr<Postcondition>> postconditions;
  std::vector<Buffer> inputs, outputs;
  std::unique_ptr<LossWatch> losses;
  std::unique_ptr<NcclRank> nccl; ///< null without --backend nccl
  std::unique_ptr<Gpu> gpu;       ///< null: calls are made on the host
  uint64_t rowSeed = 0;           ///< seed of the data in the row's first round
  int madeRound = -1;             ///< the round whose inputs have been made; -1: none
};

} // namespace gc3::run
