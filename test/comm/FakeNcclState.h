// SPDX-License-Identifier: Apache-2.0
// What the files of the fake NCCL share: communicators, calls and operations. All under the monitor.
#pragma once

#include "FakeNccl.h"

#include <cstdio>
#include <thread>

namespace gc3::test {

using ncclapi::Comm;
using ncclapi::Result;

/// The caller: gc3 for itself, or the application.
enum class By : uint8_t { Gc3, Application };

/// What one rank brings to a collective set-up call.
struct Offer {
  FakeNccl::Member *member;
  int color = 0, key = 0;
  bool blocking = true; ///< of the child
  By by = By::Gc3;
};

/// The n-th collective set-up call of all ranks.
struct SetUp {
  std::string name;
  std::set<int> excluded;                 ///< ranks that do not call
  std::map<int, Offer> offers;            ///< by rank
  std::map<int, FakeNccl::Member *> made; ///< children, by rank of the parent
  bool isDone = false;
};

struct Gather {
  std::vector<std::vector<std::byte>> data; ///< by rank
  int arrived = 0;
  std::optional<size_t> bytes{};
};

constexpr size_t gap4G = size_t{1} << 32; ///< bytes from one rank to the next in the address space of a window

/// A communicator, with what its ranks share.
struct FakeNccl::World {
  int ranks = 0;
  std::vector<std::shared_ptr<Member>> members; ///< by rank; null: no call has made it
  std::deque<SetUp> setUps;
  std::vector<size_t> begun;    ///< set-up calls, by rank
  std::deque<Gather> gathers;   ///< on streams
  std::vector<size_t> gathered; ///< by rank
  std::set<int> left;           ///< ranks that have destroyed or aborted theirs
  // Windows:
  std::vector<std::vector<std::pair<void *, size_t>>> registrations; ///< memory and bytes by rank, in their order
  std::vector<std::byte *> flat;                                     ///< address space of the n-th window
  std::map<const void *, size_t> numbers;                            ///< n by handle
  std::map<size_t, std::set<int>> deregistered;                      ///< ranks by n
  FakeNetwork network{.signals = {}, .place = {}};

  /// Returns true if no rank is missing in a set-up call.
  bool isComplete(const SetUp &setUp) const;
};

/// A call that is done when other ranks have called, or when its group ends.
struct Operation {
  const char *name;
  FakeNccl::Member *member;
  std::function<void()> arrive = [] {};
  std::function<bool()> isDone = [] { return true; };
  std::function<Result()> finish = [] { return Result::Success; };
  std::function<void()> withdraw = [] {}; ///< after a wait that a revocation or an abort ended
  bool isSetUp = true;
};

/// One rank of a communicator, to which its handle points. It outlives the handle.
struct FakeNccl::Member {
  World *world = nullptr;
  int rank = 0, device = 0;
  int number = 0; ///< of the application's communicators; of the parent's
  bool blocking = true;
  bool isChild = false;     ///< gc3's
  Member *parent = nullptr; ///< of a child
  bool isRevoked = false, isAborted = false, isFreed = false, isConnected = false;
  std::map<std::thread::id, int> inside;    ///< calls, by thread
  std::map<std::thread::id, int> settingUp; ///< collective set-up calls
  std::map<std::thread::id, int> polling;   ///< CommGetAsyncError
  size_t gathersLeft = 0;                   ///< enqueued or running
  size_t gathersRunning = 0;
  std::deque<Operation> pending; ///< of a handle that does not block
  Result error = Result::Success, planned = Result::Success;

  Comm handle() { return reinterpret_cast<Comm>(this); }
  bool isEnded() const { return isRevoked || isAborted; }
};

/// The open group of a thread.
struct OpenGroup {
  unsigned depth = 0;
  Result error = Result::Success;
  std::optional<bool> blocks; ///< all of its calls; they can't be mixed
  std::vector<Operation> operations;
};
extern thread_local OpenGroup openGroup;

struct FakeNccl::State {
  State(FakeNccl &fake, FakeCuda &cuda) : fake(fake), cuda(cuda) {}

  FakeNccl &fake;
  FakeCuda &cuda;
  std::vector<std::shared_ptr<World>> worlds;
  std::map<Comm, std::shared_ptr<Member>> members; ///< all that there have been
  std::map<std::string, std::shared_ptr<World>> worldsById;
  std::set<Comm> children; ///< gc3's that are not freed
  struct Allocation {
    int file, device;
    size_t bytes;
  };
  std::map<void *, Allocation> allocations;
  std::vector<std::pair<void *, size_t>> mappings; ///< of all memory that there has been
  struct Registered {
    void *memory;
    Member *owner;
    size_t number;
  };
  std::map<ncclapi::Window, Registered> registered;
  std::map<const void *, Member *> networks; ///< host copies of device communicators
  World *lastNetwork = nullptr;
  std::map<std::string, Result> planned;
  std::vector<std::string> events, probes;
  int nextNumber = 0, nextOperation = ncclapi::redOpCount;
  std::shared_ptr<Member> reused;
};

/// The state of the fake there is.
FakeNccl::State &state();

/// Counts this thread for its lifetime, as one that is in a call, in `where` of a member.
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
/// Returns true if another thread is in there.
bool hasOthers(const std::map<std::thread::id, int> &where);

/// A call that names a communicator: holds the monitor, records, counts and fails it.
class NcclCall {
public:
  enum class Kind : uint8_t {
    Local,   ///< is not counted
    Counted, ///< can fail
    Poll,    ///< can fail, and is counted by itself; works on a revoked handle
    Freeing, ///< is not counted; works on a revoked handle
  };
  NcclCall(By by, const char *name, Comm comm, Kind kind, const std::function<std::string()> &event = {});

  FakeNccl::Member &member() const { return *named; }
  /// Returns true if the call must return result() and do nothing.
  bool hasEnded() const { return ended; }
  Result result() const { return outcome; }
  /// Returns true if a collective call must take part and return result().
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

/// Takes the result planned for a function, and notes an error for the open group.
Result takePlanned(const std::string &name);
void noteInGroup(Result result);
bool isError(Result result);
/// Records an event, and runs the hook of the test.
void recordEvent(const std::string &event);

/// Ends the process if another thread sets up the communicator, its parent or its child.
void expectNoOtherSetUp(const FakeNccl::Member &member, const char *name);
/// Does the operation when the open group ends, or now. Waits for it if the handle blocks.
Result submit(Operation operation);
/// Runs the operations of a group. Returns the first error, or InProgress.
Result run(std::vector<Operation> operations);
/// Finishes what a handle that does not block has been given, as far as it is done.
void advance(FakeNccl::Member &member);
/// Waits until `done`, or the handle is revoked or aborted. Returns done().
bool await(const std::string &name, const FakeNccl::Member &member, const std::function<bool()> &done);
/// Fills in how all ranks meet in a set-up call. `complete` runs once, when the last rank has come.
Operation meet(const char *name, const Offer &offer, const std::function<void(FakeNccl::World &, SetUp &)> &complete,
               const std::function<Result(SetUp &)> &finish, const std::set<int> &excluded = {});

std::shared_ptr<FakeNccl::World> makeWorld(int ranks);
FakeNccl::Member &makeMember(const std::shared_ptr<FakeNccl::World> &world, int rank, int device, bool blocking, By by);
ncclapi::Team teamOf(const FakeNccl::Member &member);
/// Frees what an aborted or revoked communicator still has.
void freeWindowsOf(FakeNccl::Member &member);

// The text of arguments in events:
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

/// A function for gc3 and for the application, which its first parameter distinguishes.
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
