// SPDX-License-Identifier: Apache-2.0
// One rank of an NCCL communicator, on its GPU: its calls, the programs that are loaded, and the windows in which its
// connections lie. What ranks do together is at World.h; these are one rank's parts of it.
//
// One thread at a time makes calls; abort(), glance(), watch(), patrol(), broken() and breakDown() may come at any
// time.
#pragma once

#include "cuda/Recorder.h"
#include "lsa/Catalog.h"
#include "lsa/Exchange.h"
#include "lsa/Network.h"
#include "lsa/Revocation.h"
#include "lsa/TeamComm.h"
#include "lsa/Window.h"
#include "nccl/AbortFlag.h"

namespace gc3::lsa {

/// The functions that everything here is made of.
struct Drivers {
  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  const gin::Part *(*gin)() = nullptr; ///< finds the part between nodes; asked only where there are several
  Aside aside = atOnce;
};

class Rank {
public:
  using Clock = cuda::Watchdog::Clock;

  /// abort() sets `isAborted`; whoever else does so has to abort what a thread waits for in NCCL.
  Rank(const Drivers &drivers, ncclapi::Comm comm, const cuda::Options &options, nccl::AbortFlag isAborted = nullptr)
      : cuda(drivers.cuda), nccl(drivers.nccl), findPart(drivers.gin), aside(drivers.aside), comm(comm),
        options(options), isAborted(isAborted ? std::move(isAborted) : std::make_shared<std::atomic<bool>>(false)),
        revocation(drivers.nccl, comm, drivers.aside), runner(cuda, options.timeoutMs, options.mixesGraphs),
        exchange(cuda, nccl, comm) {}
  /// Waits for calls under way, then gives back what it holds, from the communicator too. Where `isAborted` is set,
  /// also meanwhile, or other ranks never came, it waits for nothing, leaves the communicator alone, and gives back no
  /// memory.
  ~Rank();
  Rank(const Rank &) = delete;
  Rank &operator=(const Rank &) = delete;

  uint32_t rank() const { return static_cast<uint32_t>(own); }
  uint32_t ranks() const { return static_cast<uint32_t>(count); }
  /// Once joined: alike for all of its ranks, and for nobody else's.
  uint64_t communicator() const { return ofAll; }

  // Joining:
  /// Asks NCCL who it is, and takes what every rank needs.
  core::Outcome prepare();
  /// What it tells the others; `able` says whether it can run programs. Takes what a network needs, if there may be
  /// one.
  core::Outcome describe(Record &record);
  /// The ranks on the way to which lines of LL128 stay whole, as far as that can be found out.
  PeerSet wholeLines(std::span<const Record> records) const;
  /// Its device communicator, where the records have one.
  Network &network() { return ownNetwork; }
  /// Once the group of NCCL's in which it was created has ended; `created` says how. The contexts that it has, or 0.
  uint32_t completeNetwork(const core::Outcome &created);
  void join(std::unique_ptr<Catalog> ofPrograms, std::span<const Record> records);
  Catalog *programs() const { return catalog.get(); }

  // Telling each other: each rank gives as many bytes as the others, and receives those of all. All of a thread's ranks
  // begin, then are gathered in one group of NCCL's, then end.
  core::Outcome beginGather(const void *bytes, size_t size);
  core::Outcome gather();
  /// `since` is when they began, from which all of its ranks count the time.
  core::Outcome endGather(void *all, Clock::time_point since);
  /// For how long it waits for the others; 0: for ever.
  uint32_t patienceMs() const;
  /// That the others have not come by then.
  core::Outcome late() const;
  /// Ends what waits in NCCL. Any thread may call.
  void revoke() { revocation.begin(); }

  // Loading a program:
  /// On its way.
  struct Loading {
    uint32_t program = 0;                       ///< number in the catalog
    std::unique_ptr<plan::ConnectionPool> pool; ///< as it will be
    std::vector<uint32_t> numbers;              ///< of the program's connections in it
    std::unique_ptr<cuda::GpuProgram> onGpu;
    TeamComm teamComm; ///< if the communicator is split for it
    Window window;     ///< for the connections that are not there yet
    uint64_t windowBytes = 0;
    plan::ConnectionPool::Parts parts;
  };
  const cuda::GpuProgram *loaded(uint32_t program) const;
  /// Why the program can't be loaded any more, if so.
  std::string refusal(uint32_t program) const;
  /// Takes what the program needs.
  core::Outcome reserve(uint32_t program, Loading &loading);
  /// Registers its window: all ranks do so together, in a group of NCCL's.
  core::Outcome enroll(Loading &loading) const;
  /// Whether LSA teams get communicators of their own if this one turns out to have no windows. Alike on all ranks.
  bool maySplit() const;
  /// Once its window is registered on all ranks.
  core::Outcome lacksWindow(const Loading &loading, bool &lacks) const;
  /// All ranks do so together, in a group of NCCL's; `complete` it when that has ended.
  core::Outcome split(Loading &loading) const;
  core::Outcome completeSplit(const core::Outcome &created, Loading &loading) const;
  /// Once all ranks have one: all windows are in it from here on, the one of this program too. An error: aborted.
  core::Outcome keepSplit(Loading &loading);
  /// Once its window is registered on all ranks: finds the peers' memory, and writes the image.
  core::Outcome connect(Loading &loading);
  /// What was not kept: behind abort(), or where other ranks never came, nothing of it is given back.
  void discard(Loading &loading) const;
  void keep(Loading &&loading);
  void refuse(uint32_t program, const std::string &why);

  // Calls:
  /// As Runner::findCapture.
  core::Outcome findCapture(cuda::Stream stream, uint64_t &capture) const {
    return runner.findCapture(stream, capture);
  }
  core::Outcome plan(uint32_t program, const core::Request &request, uint64_t capture, cuda::Runner::Plan &plan);
  core::Outcome enqueue(cuda::Runner::Plan &plan, cuda::Stream stream);

  /// Why there can't be calls any more, if so.
  core::Outcome broken() const;
  /// As Runner::watch; a kernel that was stopped takes the communicator with it.
  core::Outcome watch(cuda::Watchdog::Clock::time_point now);
  core::Outcome glance(cuda::Watchdog::Clock::time_point now);
  void patrol();
  void breakDown(const core::Outcome &why);
  /// As breakDown; where a gather is not known to have ended, NCCL's kernel may wait for ranks that never come: then
  /// the communicator is revoked, and from here on no memory is given back. Where the gather waits for the end of an
  /// open group, it is not revoked.
  void giveUp(const core::Outcome &why);
  /// As Exchange::leave.
  void leaveGather() { exchange.leave(); }
  /// A call has failed here and nowhere else, maybe: what is not the caller's mistake breaks the rank.
  void fail(const core::Outcome &why);
  int device() const { return onDevice; }
  uint32_t timeoutMs() const { return options.timeoutMs; }

  /// Waits until what runs has ended, or abort(); not where other ranks never came. There are no calls any more.
  void drain();
  /// Behind that, and by the destructor at the latest: gives back what it has from NCCL, in parts, for which that may
  /// wait for other ranks; not behind abort(), which ends what waits on a team's communicator.
  void giveBack();

  /// Ends what runs. The communicator is not touched any more, but by a thread that is in a call of NCCL's already.
  void abort();
  /// Behind abort(): the communicator had been revoked here.
  bool hasRevoked() const { return revocation.isDone(); }

private:
  core::Outcome aborted() const;
  bool leavesAll() const;
  void abandon();
  core::Outcome ask();
  core::Outcome describeNetwork(Record &record);
  core::Outcome room(const cuda::Interpreters &interpreters, kernel::Protocol protocol, uint32_t &blocks) const;
  plan::NetworkRoute networkOf(const Loading &loading) const;
  bool keepsLinesWhole(const Record &here, const Record &there) const;
  int firstOfTeam() const { return own - team.rank * team.stride; }
  ncclapi::Comm commOfWindows() const;
  void beginTrace(std::span<const Record> records);
  core::Outcome wait(Clock::time_point since);

  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  const gin::Part *(*const findPart)();
  const Aside aside;
  const ncclapi::Comm comm;
  const cuda::Options options;
  int own = 0, count = 0, onDevice = 0;
  ncclapi::Team team{};
  uint64_t ofAll = 0; ///< what names the communicator
  std::unique_ptr<Catalog> catalog;
  const nccl::AbortFlag isAborted;
  Revocation revocation;
  bool hasGivenUp = false;  ///< something of NCCL's may never come to its end
  mutable std::mutex mutex; ///< guards the calls of the runner, the recorder and what was refused
  cuda::Runner runner;
  Exchange exchange;
  std::unique_ptr<plan::ConnectionPool> pool;
  std::vector<Window> windows; ///< by piece of the pool
  const gin::Part *part = nullptr;
  Network ownNetwork;
  mutable std::mutex splitting;                ///< guards the next: who aborts waits for no call
  TeamComm teamComm;                           ///< where the windows are, if it is there
  plan::ConnectionPool::Parts parts;           ///< by window and rank
  std::vector<const cuda::GpuProgram *> onGpu; ///< by number in the catalog
  std::vector<std::string> refusals;
  std::optional<cuda::Recorder> recorder; ///< goes first, while its programs are there
};

} // namespace gc3::lsa
