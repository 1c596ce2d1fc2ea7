// SPDX-License-Identifier: Apache-2.0
// Uses the C API from the creation of communicators to their end; in each run another CUDA or NCCL call fails. A line
// of the table shows the step, the failing functions, and the result code and text. The other rank's result follows
// after a bar. Each rank has its own thread. If a rank would wait forever for the failed rank, the test aborts it.
#include "ApiSupport.h"
#include "Sweep.h"

#include <atomic>

using namespace gc3;
using namespace gc3::test;

namespace {

const std::string loadFails = "program 'ring2_aliased_1' could not be loaded: ";

/// Returns the text of one step's result. Shortens phrases that many results share.
std::string tell(const core::Outcome &outcome) {
  std::string text = test::describe(outcome);
  for (const std::string_view tail : {" [CUDA]", " [NCCL]"})
    replaceAll(text, tail, "");
  replaceAll(text, loadFails, "not loaded: ");
  replaceAll(text, "gc3InvalidUsage: the communicator was aborted", "aborted");
  return text;
}
std::string tell(gc3Result_t result) {
  return tell(core::Outcome{result, result == gc3Success ? "" : gc3GetLastError(nullptr)});
}

/// The call that fails in a run.
struct Failure {
  int device = 0;
  uint64_t index = 0; ///< from 1; 0: no call fails
  std::string poll{}; ///< if not empty, `index` counts calls of this polling function
};

/// Two ranks from their creation to their destruction. Each rank has its own thread. One call of rank `failing` fails.
class TwoRanks : public Application {
public:
  explicit TwoRanks(const Failure &failure) : failing(static_cast<size_t>(failure.device)), other(1 - failing) {
    load({ringAllReduce(2, true)});
    nccl.failsLate = true; // like NCCL: if a collective call fails on one rank, it completes on others
    prepare(2, false);     // abort() alone does not end the split of a blocking parent
    if (!failure.poll.empty())
      fake.failPoll = {failure.device, failure.poll, failure.index};
    else if (failure.index != 0)
      fake.failing = {failure.device, failure.index};
  }
  ~TwoRanks() {
    for (ncclapi::Comm comm : ncclComms)
      callNccl<ncclapi::signature::CommAbort>("CommAbort", comm);
  }

  /// Maps a step and both ranks' results to the functions whose failure leads to them. run() adds its entry.
  using Table = std::map<std::pair<std::string, std::string>, std::set<std::string>>;
  void run(Table &table) {
    join();
    if (isOk())
      call("load");
    if (isOk())
      call("run");
    table[{failedIn, results()}].insert(fake.failed);
    leave();
  }

private:
  bool isOk() const { return stepResults[0] == "ok" && stepResults[1] == "ok"; }

  void join() {
    std::array<std::shared_ptr<comm::Communicator>, 2> made;
    for (size_t rank : {0, 1})
      made[rank] = *api::NcclBackend::create(ncclComms[rank], bundle->file, smallOptions());
    together(
        "join",
        [&](size_t rank) {
          const api::NcclBackend::Init init{&comms[rank], ncclComms[rank], made[rank]};
          return tell(api::NcclBackend::join({&init, 1}));
        },
        [&] { made[other]->abort(); });
  }
  void call(const std::string &step) {
    fill();
    together(
        step, [&](size_t rank) { return tell(allReduce(rank)); },
        [&] {
          EXPECT_EQ(gc3CommAbort(comms[other]), gc3Success);
          isAborted = true;
        });
    if (!isOk())
      return;
    awaitThat([&] { return isIdle(0) && isIdle(1); });
    expectAll(3);
  }
  /// Returns both ranks' results, first that of the rank on which the call fails.
  std::string results() {
    if (isOk())
      return "ok";
    std::string first = stepResults[failing], second = stepResults[other];
    const gc3Comm_t comm = comms[failing];
    const bool goesOn = comm && asyncError(comm) == gc3Success;
    EXPECT_EQ(goesOn, first.find("not loaded") != std::string::npos) << first;
    if (goesOn) {
      std::string theirs = first;
      replaceAll(theirs, "not loaded: ", "not loaded: rank # could not load it: ");
      EXPECT_EQ(second, theirs);
      second = "not loaded";
    }
    return first + " | " + second;
  }
  /// Aborts the other rank if its kernel waits for the failed rank. Destroys the remaining ranks.
  void leave() {
    const bool waits = !isOk() && stepResults[other] == "ok";
    if (waits) {
      EXPECT_EQ(gc3CommAbort(comms[other]), gc3Success);
    }
    if (waits || isAborted)
      comms[other] = nullptr;
    for (gc3Comm_t &comm : comms)
      EXPECT_EQ(gc3CommDestroy(std::exchange(comm, nullptr)), gc3Success);
    awaitThat([&] { return nccl.children().empty(); });
  }

  /// Runs `step` for each rank. If the other rank waits forever for the failing rank, calls `abort`, which ends the
  /// other rank's step.
  template <typename Step, typename Abort>
  void together(const std::string &name, Step step, Abort abort) {
    const bool hadFailed = !fake.failed.empty();
    std::array<std::atomic<bool>, 2> isOver{};
    std::vector<std::thread> threads;
    for (size_t rank : {0, 1})
      threads.emplace_back([&, rank] {
        FakeCuda::table().setDevice(static_cast<int>(rank)); // so that each device counts the calls of one rank
        stepResults[rank] = step(rank);
        isOver[rank] = true;
      });
    awaitThat([&] { return isOver[failing].load(); });
    if (!endsAlone(isOver[other]))
      abort();
    for (std::thread &thread : threads)
      thread.join();
    if (!hadFailed)
      failedIn = name;
  }
  /// Returns true when the other rank's step has ended. Returns false if the other rank only polls, because it then
  /// waits for the failing rank, whose step has already ended.
  bool endsAlone(const std::atomic<bool> &isOver) {
    // The executor checks kernels only ten times a second. So a rank that polls this often is waiting for another rank.
    constexpr uint64_t many = 100;
    const int device = static_cast<int>(other);
    const auto polls = [&] {
      return fake.pollsOf(device, "CUDA query") + fake.pollsOf(device, "NCCL CommGetAsyncError");
    };
    for (;;) {
      const size_t calls = fake.callsOf(device).size();
      const uint64_t before = polls();
      awaitThat([&] { return isOver || polls() > before + many; });
      if (isOver || fake.callsOf(device).size() == calls)
        return isOver;
    }
  }

  const size_t failing, other;
  std::array<std::string, 2> stepResults; ///< result of the last step, by rank
  std::string failedIn;                   ///< step in which a call first failed
  bool isAborted = false;                 ///< whether call() aborted the other rank
};

TEST(NcclApiSweep, EachCall) {
  TwoRanks::Table table;
  std::vector<Failure> failures;
  {
    TwoRanks ranks({});
    ranks.run(table);
    EXPECT_EQ(table.extract({"run", "ok"}).mapped(), std::set<std::string>{""});
    for (int device : {0, 1}) {
      for (uint64_t index = 1; index <= ranks.fake.callsOf(device).size(); ++index)
        failures.push_back({device, index});
      for (const char *name : {"CUDA query", "NCCL CommGetAsyncError"})
        failures.push_back({device, 1, name});
    }
  }
  for (const Failure &failure : failures)
    TwoRanks(failure).run(table);
  std::string text = "\n";
  for (const auto &[key, functions] : table) {
    text += key.first + ": ";
    for (const std::string &function : functions)
      text += function + (function == *functions.rbegin() ? " -> " : ", ");
    text += key.second + "\n";
  }
  EXPECT_EQ(text, R"(
join: NCCL CommGetAsyncError -> gc3SystemError: creating a communicator | aborted
join: NCCL AllGather -> gc3SystemError: exchanging data with the other ranks | aborted
join: NCCL AllGather -> gc3SystemError: exchanging data with the other ranks | ok
join: NCCL CommSplit -> gc3SystemError: it could not be split: creating a communicator | aborted
join: NCCL CommCuDevice -> gc3SystemError: querying the device | aborted
join: NCCL CommUserRank -> gc3SystemError: querying the rank | aborted
join: NCCL CommCount -> gc3SystemError: querying the ranks | aborted
join: CUDA allocate -> gc3UnhandledCudaError: allocating # bytes of device memory for gathers | aborted
join: CUDA allocatePinned -> gc3UnhandledCudaError: allocating # bytes of pinned memory for the stop word | aborted
join: CUDA createStream -> gc3UnhandledCudaError: creating a stream | aborted
join: CUDA createEvent -> gc3UnhandledCudaError: creating an event | aborted
join: CUDA copy, CUDA query, CUDA record, CUDA synchronize -> gc3UnhandledCudaError: exchanging data with the other ranks | aborted
join: CUDA copy, CUDA record, CUDA synchronize -> gc3UnhandledCudaError: exchanging data with the other ranks | ok
join: CUDA attribute -> gc3UnhandledCudaError: querying the GPU's attributes | aborted
join: CUDA busId -> gc3UnhandledCudaError: querying the GPU's bus id | gc3InvalidUsage: rank # can't run programs
join: CUDA getDevice -> gc3UnhandledCudaError: querying the current device | aborted
join: CUDA occupancy -> gc3UnhandledCudaError: querying the occupancy of a kernel | gc3InvalidUsage: rank # can't run programs
join: CUDA setDevice -> gc3UnhandledCudaError: switching to device # | aborted
join: CUDA await -> gc3UnhandledCudaError: waiting for the last call | aborted
join: CUDA setDevice -> ok
load: NCCL AllGather -> gc3SystemError: exchanging data with the other ranks | aborted
load: NCCL CommWindowRegister -> gc3SystemError: exchanging data with the other ranks | gc3SystemError: not loaded: rank # could not load it: registering a window
load: NCCL AllGather -> gc3SystemError: exchanging data with the other ranks | ok
load: NCCL MemAlloc -> gc3SystemError: not loaded: allocating # bytes of symmetric memory | not loaded
load: CUDA copy, CUDA record, CUDA synchronize -> gc3UnhandledCudaError: exchanging data with the other ranks | aborted
load: CUDA copy, CUDA record, CUDA synchronize -> gc3UnhandledCudaError: exchanging data with the other ranks | ok
load: CUDA launch -> gc3UnhandledCudaError: launching the interpreter | ok
load: CUDA allocate -> gc3UnhandledCudaError: not loaded: allocating # bytes of device memory for program 'ring2_aliased_1' | not loaded
load: CUDA clear, CUDA synchronize -> gc3UnhandledCudaError: not loaded: clearing FIFO slots | not loaded
load: CUDA clear -> gc3UnhandledCudaError: not loaded: clearing a program's counters | not loaded
load: CUDA copy, CUDA synchronize -> gc3UnhandledCudaError: not loaded: copying a program | not loaded
load: CUDA isDeviceMemory -> gc3UnhandledCudaError: not loaded: querying a window | not loaded
load: CUDA occupancy -> gc3UnhandledCudaError: not loaded: querying the occupancy of a kernel | not loaded
load: CUDA capture -> gc3UnhandledCudaError: not loaded: querying whether the stream is captured | not loaded
load: CUDA copy, CUDA synchronize -> gc3UnhandledCudaError: not loaded: reading a window | not loaded
load: CUDA getDevice -> gc3UnhandledCudaError: querying the current device | ok
load: CUDA record -> gc3UnhandledCudaError: recording an event | ok
load: CUDA await -> gc3UnhandledCudaError: waiting for the last call | aborted
load: CUDA await -> gc3UnhandledCudaError: waiting for the last call | ok
load: CUDA setDevice -> ok
run: CUDA launch -> gc3UnhandledCudaError: launching the interpreter | ok
run: CUDA getDevice -> gc3UnhandledCudaError: querying the current device | ok
run: CUDA capture -> gc3UnhandledCudaError: querying whether the stream is captured | ok
run: CUDA record -> gc3UnhandledCudaError: recording an event | ok
run: CUDA await -> gc3UnhandledCudaError: waiting for the last call | ok
run: CUDA setDevice -> ok
)");
}

/// Two ranks share a GPU. One thread makes all calls.
TEST(ApiSweep, OnOneGpu) {
  Sweep sweep;
  sweep.over([](FakeCuda &fake) {
    const std::string bytes = buildBundle({ringAllReduce(2, true)});
    gc3Bundle_t bundle = nullptr;
    EXPECT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
    std::array<gc3Comm_t, 2> comms{};
    std::array<float, 2> buffers{1, 2};
    const gc3GpuConfig_t config = smallConfig();
    std::string outcome = "not made: " + tell(gc3LoopbackCommInitAll(comms.data(), 2, bundle, &config));
    if (outcome.ends_with(": ok")) {
      gc3GroupStart();
      for (size_t rank : {0, 1})
        EXPECT_EQ(gc3AllReduce(&buffers[rank], &buffers[rank], 1, gc3Float32, gc3Sum, comms[rank], nullptr),
                  gc3Success);
      outcome = tell(gc3GroupEnd());
      for (gc3Comm_t comm : comms) {
        gc3Result_t state = gc3InternalError;
        EXPECT_EQ(gc3CommGetAsyncError(comm, &state), gc3Success);
        outcome += " / " + tell(state);
        EXPECT_EQ(gc3CommDestroy(comm), gc3Success);
      }
    }
    gc3BundleFree(bundle);
    return outcome + left(fake.leaks());
  });
  EXPECT_EQ(sweep.lines(), R"(
nothing -> ok / ok / ok
CUDA getDevice -> not made: gc3UnhandledCudaError: querying the current device
CUDA attribute -> not made: gc3UnhandledCudaError: querying the GPU's attributes
CUDA createStream -> not made: gc3UnhandledCudaError: creating a stream
CUDA allocatePinned -> not made: gc3UnhandledCudaError: allocating # bytes of pinned memory for the stop word
CUDA createEvent -> not made: gc3UnhandledCudaError: creating an event
CUDA getDevice -> gc3UnhandledCudaError: querying the current device / ok / ok
CUDA capture -> gc3UnhandledCudaError: querying whether the stream is captured / ok / ok
CUDA occupancy -> gc3UnhandledCudaError: querying the occupancy of a kernel / ok / ok
CUDA allocate -> gc3UnhandledCudaError: allocating # bytes of device memory for program 'ring2_aliased_1' / ok / ok
CUDA allocate -> gc3UnhandledCudaError: allocating # bytes of device memory for the FIFO slots of program 'ring2_aliased_1' / ok / ok
CUDA clear -> gc3UnhandledCudaError: clearing FIFO slots / ok / ok
CUDA clear -> gc3UnhandledCudaError: clearing a program's counters / ok / ok
CUDA copy -> gc3UnhandledCudaError: copying a program / ok / ok
CUDA synchronize -> gc3UnhandledCudaError: copying a program / ok / ok
CUDA await -> gc3UnhandledCudaError: waiting for the last call / ok / ok
CUDA launch -> gc3UnhandledCudaError: launching the interpreter / ok / ok
CUDA record -> gc3UnhandledCudaError: recording an event / gc3UnhandledCudaError: recording an event / gc3UnhandledCudaError: recording an event
CUDA query -> ok / gc3UnhandledCudaError: running a call / gc3UnhandledCudaError: running a call
CUDA query -> ok / ok / gc3UnhandledCudaError: running a call
CUDA query -> ok / ok / ok
)");
}

} // namespace
