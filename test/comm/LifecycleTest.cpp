// SPDX-License-Identifier: Apache-2.0
// Brings a communicator into each situation of the table in docs/lifetime.md, applies each event, and compares the
// outcome with the table. With GC3_UPDATE_TABLE=1, also prints the table's rows as the current code makes them.
#include "CommSupport.h"
#include "Sweep.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace gc3;
using namespace gc3::test;
using comm::Communicator;
using comm::Phase;

namespace {

std::string phaseName(Phase phase) {
  constexpr const char *names[comm::phaseCount] = {"unready", "forming", "joining", "ready",   "draining",
                                                   "closing", "closed",  "failed",  "aborted", "releasing"};
  return names[static_cast<uint8_t>(phase)];
}

TEST(Phases, TheTableHasNoOtherEnds) {
  for (uint8_t from = 0; from < comm::phaseCount; ++from) {
    bool isEnd = true;
    for (uint8_t to = 0; to < comm::phaseCount; ++to)
      isEnd &= !comm::mayFollow(static_cast<Phase>(from), static_cast<Phase>(to));
    EXPECT_EQ(isEnd, static_cast<Phase>(from) == Phase::Closed) << phaseName(static_cast<Phase>(from));
  }
  for (const comm::Transition &each : comm::transitions)
    EXPECT_NE(each.from, each.to);
}

/// Blocks a thread until open() is called.
class Gate {
public:
  void pass() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return isOpen; });
  }
  void open() {
    std::lock_guard lock(mutex);
    isOpen = true;
    changed.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = false;
};

/// A communicator of two ranks, with rank 0 in a given situation. If rank 0 must wait in this situation, rank 1 has
/// stopped before the call that ends the wait.
class Scene {
public:
  explicit Scene(const std::string &situation, uint32_t timeoutMs = 0) {
    options.timeoutMs = timeoutMs;
    if (situation == "closing") {
      nccl.destroyWaits = true;
      nccl.alwaysBlocking = 1;
    }
    handles = nccl.make(2, situation != "forming, non-blocking parent");
    file = open({ringAllReduce(2, true), under(kernel::Protocol::LL, ringAllReduce(2, true))});
    for (int rank = 0; rank < 2; ++rank) {
      auto setup = setupOf(nccl, {file}, options);
      if (rank == 1 && situation == "NCCL runs all calls")
        setup->problem = {gc3NotABundle, "no file"};
      ranks.push_back(
          std::make_shared<Communicator>(setup, handles[static_cast<size_t>(rank)], comm::WaitLimits{0, timeoutMs}));
      comm::Registry::ofProcess().add(ranks.back());
      streams.push_back(fake.stream(rank));
      buffers.push_back(reinterpret_cast<float *>(fake.allocate(count * sizeof(float))));
    }
    enter(situation);
  }
  ~Scene() {
    gate.open();
    for (const auto &rank : ranks)
      abortRank(rank);
    for (std::thread *thread : {&caller, &other})
      if (thread->joinable())
        thread->join();
    for (const auto &rank : ranks)
      awaitThat([&] { return rank->isClosed(); });
    ranks.clear();
    comm::Registry::ofProcess().sweep();
    for (cuda::Stream stream : streams)
      FakeCuda::table().destroyStream(stream);
    for (float *buffer : buffers)
      fake.release(reinterpret_cast<std::byte *>(buffer));
    EXPECT_EQ(nccl.leaks(), "");
  }
  Scene(const Scene &) = delete;
  Scene &operator=(const Scene &) = delete;

  /// Applies an event. Returns the event's result, the result of the call that waited in the situation, and the phase
  /// afterwards.
  std::string after(const std::string &event) {
    std::string outcome = apply(event);
    if (caller.joinable() && event != "further call" && event != "query") {
      caller.join();
      outcome += (outcome.empty() ? "" : "; ") + ("waiting call " + nameOf(pending));
    }
    return outcome + (outcome.empty() ? "" : ", ") + phaseName(finalPhase());
  }

private:
  static std::string nameOf(const core::Outcome &outcome) { return outcome.ok() ? "ok" : test::nameOf(outcome.code); }

  /// Runs an AllReduce on a rank with program 0 or 1. The two programs share no connections.
  core::Outcome call(size_t rank, uint32_t program = 0) {
    if (core::Outcome outcome = (ranks[rank]->beginJoin(), ranks[rank]->awaitJoin()); !outcome.ok())
      return outcome;
    if (core::Outcome refusal = ranks[rank]->refusal(); !refusal.ok())
      return refusal;
    comm::CallGroup::Call made{ranks[rank], {}, comm::CallGroup::Call::State::Program, program};
    made.request.name = "allreduce";
    made.request.send = made.request.recv = buffers[rank];
    made.request.count = count;
    made.request.stream = streams[rank];
    comm::CallGroup::run({&made, 1});
    return made.outcome;
  }
  void callBoth() {
    std::thread second([this] { call(1); });
    call(0);
    second.join();
    EXPECT_EQ(ranks[0]->status().error.text, "");
    EXPECT_EQ(ranks[1]->status().error.text, "");
    awaitThat([this] { return fake.isIdle(streams[0]) && fake.isIdle(streams[1]); });
  }
  /// Starts a thread that makes a call of rank 0. The call waits for rank 1.
  void beginCall(uint32_t program = 0) {
    caller = std::thread([this, program] { pending = call(0, program); });
  }
  /// Makes rank 1 stop before its next call of the function `name`, until the gate opens. Sets `waitsAfter`, which
  /// returns true when rank 0 has made its own call of that function.
  void holdOther(const std::string &name) {
    const size_t before = times(name);
    fake.beforeCalls([this, name](int device, const std::string &called, uint64_t) {
      if (device == 1 && called == name)
        gate.pass();
    });
    waitsAfter = [this, name, before] { return times(name) > before; };
  }
  size_t times(const std::string &name) const {
    const std::vector<std::string> calls = fake.callsOf(0);
    return static_cast<size_t>(std::count(calls.begin(), calls.end(), name));
  }

  void enter(const std::string &situation) {
    if (situation == "forming, blocking parent" || situation == "forming, non-blocking parent") {
      beginCall();
      awaitThat([this] { return times("NCCL CommSplit") == 1; });
    } else if (situation == "joining") {
      holdOther("NCCL AllGather");
      beginCall();
      other = std::thread([this] { call(1); });
      awaitThat(waitsAfter);
    } else if (situation == "loading" || situation == "registering") {
      callBoth();
      holdOther(situation == "loading" ? "NCCL AllGather" : "NCCL CommWindowRegister");
      beginCall(1);
      other = std::thread([this] { call(1, 1); });
      awaitThat(waitsAfter);
    } else if (situation == "failed") {
      callBoth();
      ranks[0]->fail({gc3SystemError, "a test"});
    } else if (situation != "unready") {
      callBoth();
      const bool isEnding = situation == "draining" || situation == "closing" || situation == "closed";
      core::Outcome made;
      if (situation == "running" || situation == "draining")
        made = call(0);
      EXPECT_EQ(made.text, "");
      EXPECT_TRUE(!isEnding || ranks[0]->finalize(false));
      if (situation == "closing")
        awaitThat([this] { return phase() == Phase::Closing; });
      if (situation == "closed")
        awaitThat([this] { return phase() == Phase::Closed; });
      if (situation == "aborted")
        ranks[0]->abort();
    }
  }

  Phase phase() const { return ranks[0]->status().phase; }

  /// Aborts a rank as ncclCommAbort of its parent does.
  void abortRank(const std::shared_ptr<Communicator> &rank) {
    abort(rank, handles[rank == ranks[0] ? 0 : 1]);
    isReleased |= rank == ranks[0];
  }

  /// Runs an event on its own thread. If the event has not ended after 300 ms, aborts rank 0. Returns the event's
  /// outcome.
  std::string runUnlessItWaits(const std::function<std::string()> &event) {
    std::atomic<bool> isDone{false};
    std::string outcome;
    std::thread thread([&] {
      outcome = event();
      isDone = true;
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    awaitThat([&] { return isDone || std::chrono::steady_clock::now() > end; });
    const bool waits = !isDone;
    if (waits)
      abortRank(ranks[0]);
    thread.join();
    return (waits ? "waits; after an abort: " : "") + outcome;
  }

  std::string apply(const std::string &event) {
    if (event == "abort")
      return abortRank(ranks[0]), "";
    if (event == "destroy")
      return runUnlessItWaits([this] { return ranks[0]->finalize(true) ? "forward" : "do not forward"; });
    if (event == "further call")
      return runUnlessItWaits([this] { return nameOf(call(0)); });
    if (event == "query") {
      ncclapi::Result state = ncclapi::Result::Success;
      EXPECT_EQ(ranks[0]->queryState(state), ncclapi::Result::Success);
      return state == ncclapi::Result::Success      ? "Success"
             : state == ncclapi::Result::InProgress ? "InProgress"
                                                    : "error " + std::to_string(static_cast<int>(state));
    }
    if (event == "rank 1 arrives")
      return runOtherRank(), "";
    EXPECT_EQ(event, "timeout");
    awaitThat([this] { return phase() == Phase::Failed; });
    return "";
  }

  /// Makes the calls of rank 1 for which rank 0 waits.
  void runOtherRank() {
    const Phase before = phase();
    gate.open();
    if (other.joinable())
      other.join();
    else if (before == Phase::Closing)
      ranks[1]->finalize(true);
    else if (before != Phase::Unready && before != Phase::Closed)
      call(1);
    if (before == Phase::Draining || before == Phase::Closing)
      awaitThat([this] { return ranks[0]->isClosed(); });
  }

  /// Waits until the phase of rank 0 no longer changes, and returns it.
  Phase finalPhase() const {
    if (isReleased && !nccl.destroyWaits) // with destroyWaits, NCCL waits for rank 1
      awaitThat([this] { return ranks[0]->isClosed(); });
    return phase();
  }

  static constexpr size_t count = 10;
  FakeCuda fake;
  FakeNccl nccl{fake};
  cuda::Options options = smallOptions();
  std::shared_ptr<const bundle::BundleFile> file;
  std::vector<ncclapi::Comm> handles;
  std::vector<std::shared_ptr<Communicator>> ranks;
  std::vector<cuda::Stream> streams;
  std::vector<float *> buffers;
  Gate gate;
  std::function<bool()> waitsAfter;
  core::Outcome pending; ///< outcome of the call that `caller` makes
  bool isReleased = false;
  std::thread caller, other;
};

const std::vector<std::string> situations{"unready",
                                          "forming, blocking parent",
                                          "forming, non-blocking parent",
                                          "joining",
                                          "NCCL runs all calls",
                                          "ready",
                                          "running",
                                          "loading",
                                          "registering",
                                          "draining",
                                          "closing",
                                          "closed",
                                          "failed",
                                          "aborted"};
const std::vector<std::string> events{"further call", "query", "rank 1 arrives", "destroy", "abort", "timeout"};

/// Returns true if rank 0 waits for rank 1 in this situation, and the wait has a deadline.
bool hasTimeout(const std::string &situation) {
  for (const char *each : {"forming", "joining", "running", "loading", "registering"})
    if (situation.find(each) == 0)
      return true;
  return false;
}

std::string cell(const std::string &situation, const std::string &event) {
  if (event == "timeout" && !hasTimeout(situation))
    return "-";
  Scene scene(situation, event == "timeout" ? 1000 : 0);
  return scene.after(event);
}

std::string row(const std::string &situation) {
  std::string line = "| " + situation + " |";
  for (const std::string &event : events)
    line += " " + cell(situation, event) + " |";
  return line;
}

class Lifecycle : public testing::TestWithParam<std::string> {};

TEST_P(Lifecycle, HasTheOutcomeOfTheTable) {
  const std::string made = row(GetParam());
  if (std::getenv("GC3_UPDATE_TABLE"))
    std::printf("%s\n", made.c_str());
  std::ifstream page(LIFETIME_PAGE);
  for (std::string line; std::getline(page, line);)
    if (line.rfind("| " + GetParam() + " |", 0) == 0) {
      EXPECT_EQ(made, line);
      return;
    }
  FAIL() << "the table has no line for it: " << made;
}

INSTANTIATE_TEST_SUITE_P(Situations, Lifecycle, testing::ValuesIn(situations), [](const auto &each) {
  std::string name;
  for (char c : each.param)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

} // namespace
