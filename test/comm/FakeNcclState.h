// SPDX-License-Identifier: Apache-2.0
// The fake NCCL's communicators, calls and operations, which its source files share. The monitor guards all of them.
#pragma once

#include "FakeNccl.h"

#include <cstdio>
#include <thread>

namespace gc3::test {

using ncclapi::Comm;
using ncclapi::Result;

/// The caller of a function: gc3 for itself, or the application.
enum class By : uint8_t { Gc3, Application };

/// One rank's arguments in a collective set-up call.
struct Offer {
  FakeNccl::Member *member;
  int color = 0, key = 0;
  bool blocking = true; ///< whether the child blocks
  By by = By::Gc3;
};

/// A collective set-up call. Every rank's n-th set-up call belongs to the n-th SetUp of the communicator.
struct SetUp {
  std::string name;
  std::set<int> excluded;                 ///< ranks that do not make the call
  std::map<int, Offer> offers;            ///< by rank
  std::map<int, FakeNccl::Member *> made; ///< children that the call has made, by rank in the parent
  bool isDone = false;
};

struct Gather {
  std::vector<std::vector<std::byte>> data; ///< by rank
  int arrived = 0;
  std::optional<size_t> bytes{};
};

constexpr size_t gap4G = size_t{1} << 32; ///< distance of consecutive ranks in the address space of a window

/// The state that all ranks of a communicator share.
struct FakeNccl::World {
  int ranks = 0;
  std::vector<std::shared_ptr<Member>> members; ///< by rank; null: not created
  std::deque<SetUp> setUps;
  std::vector<size_t> begun;    ///< number of set-up calls that have begun, by rank
  std::deque<Gather> gathers;   ///< all gathers, in order
  std::vector<size_t> gathered; ///< number of gathers that were enqueued, by rank
  std::set<int> left;           ///< ranks that have destroyed or aborted their handle
  // Windows:
  std::vector<std::vector<std::pair<void *, size_t>>>
      registrations;                            ///< address and size of registered memory, by rank and window
  std::vector<std::byte *> flat;                ///< address space of each window
  std::map<const void *, size_t> numbers;       ///< number of a window, by its handle
  std::map<size_t, std::set<int>> deregistered; ///< ranks that have deregistered a window, by its number
  /// The switch's address of a window, by its number and the first rank of the team, and the ranks that have asked.
  struct SwitchMap {
    std::byte *address = nullptr;
    std::set<int> ranks;
  };
  std::map<std::pair<size_t, int>, SwitchMap> switchMaps;
  FakeNetwork network{.signals = {}, .place = {}};

  /// Returns true if all ranks that must make a set-up call have made it.
  bool isComplete(const SetUp &setUp) const;
};

/// A call that completes after other ranks have made it, or when its group ends.
struct Operation {
  const char *name;
  FakeNccl::Member *member;
  std::function<void()> arrive = [] {};
  std::function<bool()> isDone = [] { return true; };
  std::function<Result()> finish = [] { return Result::Success; };
  std::function<void()> withdraw = [] {}; ///< cancels the call after a revocation or abort
  bool isSetUp = true;
};

/// One rank of a communicator. Its handle is the address of this object, which outlives the use of the handle.
struct FakeNccl::Member {
  World *world = nullptr;
  int rank = 0, device = 0;
  int number = 0; ///< number among the application's handles; a child of gc3 has its parent's
  bool blocking = true;
  bool isChild = false;     ///< whether gc3 made it
  Member *parent = nullptr; ///< parent of a split or shrunk communicator, else null
  bool isRevoked = false, isAborted = false, isFreed = false, isConnected = false;
  std::map<std::thread::id, int> inside;    ///< number of running calls, by thread
  std::map<std::thread::id, int> settingUp; ///< number of running collective set-up calls, by thread
  std::map<std::thread::id, int> polling;   ///< number of running CommGetAsyncError calls, by thread
  size_t gathersLeft = 0;                   ///< gathers that are enqueued or running
  size_t gathersRunning = 0;
  std::deque<Operation> pending; ///< unfinished operations of a non-blocking handle
  Result error = Result::Success, planned = Result::Success;

  Comm handle() { return reinterpret_cast<Comm>(this); }
  bool isEnded() const { return isRevoked || isAborted; }
};

/// The open group of a thread.
struct OpenGroup {
  unsigned depth = 0;
  Result error = Result::Success;
  std::optional<bool> blocks; ///< whether the group's communicators block; a group can't mix both kinds
  std::vector<Operation> operations;
};
extern thread_local OpenGroup openGroup;

struct FakeNccl::State {
  State(FakeNccl &fake, FakeCuda &cuda) : fake(fake), cuda(cuda) {}

  FakeNccl &fake;
  FakeCuda &cuda;
  std::vector<std::shared_ptr<World>> worlds;
  std::map<Comm, std::shared_ptr<Member>> members; ///< all members that were ever created
  std::map<std::string, std::shared_ptr<World>> worldsById;
  std::set<Comm> children; ///< children of gc3 that are not freed
  struct Allocation {
    int file, device;
    size_t bytes;
  };
  std::map<void *, Allocation> allocations;
  std::vector<std::pair<void *, size_t>> mappings; ///< address and size of all memory that was ever allocated
  struct Registered {
    void *memory;
    Member *owner;
    size_t number;
  };
  std::map<ncclapi::Window, Registered> registered;
  std::map<const void *, Member *> networks; ///< owner of each device communicator, by address
  World *lastNetwork = nullptr;
  std::map<std::string, Result> planned;
  std::vector<std::string> events, probes;
  int nextId = 0, nextNumber = 0, nextOperation = ncclapi::redOpCount;
  std::shared_ptr<Member> reused;
};

/// Returns the state of the current fake.
FakeNccl::State &state();

/// Counts the calling thread in `where`, a map of a Member, for the lifetime of this object.
class Presence {
public:
  explicit Presence(std::map<std::thread::id, int> &where) : where(where) { ++where[std::this_thread::get_id()]; }
  ~Presence() {
    if (--where[std::this_thread::get_id()] == 0)
      where.erase(std::this_thread::get_id());
    Monitor::change();
  }
  Presence(const Presence &) = delete;
  Presence &operator=(const Presence &) = delete;

private:
  std::map<std::thread::id, int> &where;
};
/// Returns true if `where` counts another thread.
bool hasOthers(const std::map<std::thread::id, int> &where);

/// A call that names a communicator. The constructor locks the monitor, records and counts the call, and decides
/// whether the call fails.
class NcclCall {
public:
  enum class Kind : uint8_t {
    Local,   ///< not counted
    Counted, ///< can fail
    Poll,    ///< can fail, counted as a poll; accepts a revoked handle
    Freeing, ///< not counted; accepts a revoked handle
  };
  NcclCall(By by, const char *name, Comm comm, Kind kind, const std::function<std::string()> &event = {});

  FakeNccl::Member &member() const { return *named; }
  /// Returns true if the call must return result() without an effect, except as failsLate() says.
  bool hasEnded() const { return ended; }
  Result result() const { return outcome; }
  /// Returns true if a failing collective call must take part before it returns result(), so that other ranks complete.
  bool failsLate() const { return isLate; }

private:
  void record(By by, const char *name, const std::function<std::string()> &event);
  void end(Result result);

  const Monitor::Lock lock;
  FakeNccl::Member *named = nullptr;
  std::optional<Presence> presence;
  bool ended = false, isLate = false;
  Result outcome = Result::Success;
};

/// Removes and returns the result that FakeNccl::fail() set for a function; Success if there is none. If a group is
/// open, an error becomes the group's error.
Result takePlanned(const std::string &name);
void noteInGroup(Result result);
bool isError(Result result);
/// Records an event, and then runs FakeNccl::onEvent.
void recordEvent(const std::string &event);

/// Ends the process if another thread is in a set-up call on the communicator, its parent or its child.
void expectNoOtherSetUp(const FakeNccl::Member &member, const char *name);
/// Runs an operation at the end of the open group, or at once if no group is open. If the handle is blocking, waits
/// until the operation completes.
Result submit(Operation operation);
/// Runs the operations of a group. Returns the first error. Without an error, returns InProgress if the handles are
/// non-blocking, else Success.
Result run(std::vector<Operation> operations);
/// Finishes the operations of a non-blocking handle that are complete.
void advance(FakeNccl::Member &member);
/// Waits until `done` returns true, or the handle is revoked or aborted. Returns the last result of `done`.
bool await(const std::string &name, const FakeNccl::Member &member, const std::function<bool()> &done);
/// Returns the operation of a set-up call that all ranks make, except `excluded`. `complete` runs once, when the last
/// rank has called. `finish` runs on each rank afterwards, and returns the call's result.
Operation meetAllRanks(const char *name, const Offer &offer,
                       const std::function<void(FakeNccl::World &, SetUp &)> &complete,
                       const std::function<Result(SetUp &)> &finish, const std::set<int> &excluded = {});

std::shared_ptr<FakeNccl::World> makeWorld(int ranks);
FakeNccl::Member &makeMember(const std::shared_ptr<FakeNccl::World> &world, int rank, int device, bool blocking, By by);
ncclapi::Team teamOf(const FakeNccl::Member &member);
/// Frees the windows of an aborted or revoked communicator.
void freeWindowsOf(FakeNccl::Member &member);

// Return the text of an argument in an event:
std::string text(Comm comm);
std::string text(const ncclapi::UniqueId &id);
std::string text(const ncclapi::UniqueId *ids);
std::string text(const ncclapi::Config *config);
std::string text(const void *address);
inline std::string text(int value) {
  return std::to_string(value);
}
inline std::string text(size_t value) {
  return std::to_string(value);
}
template <typename E>
requires std::is_enum_v<E> std::string text(E value) {
  return std::to_string(static_cast<int>(value));
}
template <typename... Args>
std::string eventText(const char *name, const Args &...args) {
  std::string event = name;
  [[maybe_unused]] const char *separator = "(";
  ((event += separator + text(args), separator = ", "), ...);
  return event + (sizeof...(args) ? ")" : "()");
}

/// The two versions of a function: for gc3 and for the application. Both call `F`, whose first parameter is the caller.
struct FunctionPair {
  void *gc3, *application;
};
using FunctionTable = std::map<std::string, FunctionPair>;
template <auto F>
struct PairOf;
template <typename R, typename... A, R (*F)(By, A...)>
struct PairOf<F> {
  template <By by>
  static R call(A... arguments) {
    return F(by, arguments...);
  }
  static FunctionPair pair() {
    return {reinterpret_cast<void *>(&call<By::Gc3>), reinterpret_cast<void *>(&call<By::Application>)};
  }
};
void addGroups(FunctionTable &table);
void addCommunicators(FunctionTable &table);
void addLifetimes(FunctionTable &table);
void addCollectives(FunctionTable &table);
void addWindows(FunctionTable &table);

} // namespace gc3::test
