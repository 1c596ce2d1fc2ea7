// SPDX-License-Identifier: Apache-2.0
#include "FakeWindows.h"

#include "gc3.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace gc3::test {

using ncclapi::Comm;
using ncclapi::Result;
using ncclapi::Window;

namespace {

FakeWindows *current = nullptr;

constexpr size_t gap4G = size_t{1} << 32;
constexpr size_t alignment = 4096;

size_t pages(size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The head of a window, as NCCL's device code reads it.
struct Head {
  uint64_t unused = 0xdddddddddddddddd;
  std::byte *flatBase;
  int lsaRank, worldRank;
  uint32_t stride4G = 1, rest = 0xdddddddd;
};

} // namespace

/// What a communicator's ranks have in common.
struct FakeWindows::World {
  int ranks = 0;
  int present = 0; ///< ranks that have not been freed
  struct Gather {
    std::vector<std::vector<std::byte>> data; ///< by rank
    int arrived = 0;
    std::optional<size_t> bytes{};
  };
  std::deque<Gather> gathers;
  std::vector<size_t> gathered;                                      ///< by rank: how many it has begun
  std::vector<std::vector<std::pair<void *, size_t>>> registrations; ///< by rank, in their order
  std::vector<std::byte *> flat;                                     ///< address space of the k-th window
  std::map<const void *, size_t> numbers;                            ///< by handle of a window: k
  FakeNetwork network{.signals = {}, .place = {}};
  struct Split {
    int color, key;
    Comm *child;
    int device;
  };
  std::vector<Split> splits; ///< of the ranks that have come so far

  /// A place in another rank's part of a window.
  std::byte *place(const void *window, uint32_t rank, uint64_t offset) const {
    return static_cast<std::byte *>(registrations[rank].at(numbers.at(window)).first) + offset;
  }
};

struct FakeWindows::Member {
  World *world;
  int rank, device;
};

FakeWindows::FakeWindows(FakeCuda &cuda) : cuda(cuda) {
  current = this;
}

FakeWindows::~FakeWindows() {
  for (const auto &world : worlds)
    for (std::byte *base : world->flat)
      munmap(base, static_cast<size_t>(world->ranks) * gap4G);
  current = nullptr;
}

std::vector<Comm> FakeWindows::make(int ranks) {
  worlds.push_back(std::make_unique<World>());
  World &world = *worlds.back();
  world.network.place = [&world](const void *window, uint32_t rank, uint64_t offset) {
    return world.place(window, rank, offset);
  };
  world.ranks = world.present = ranks;
  world.gathered.resize(static_cast<size_t>(ranks));
  world.registrations.resize(static_cast<size_t>(ranks));
  std::vector<Comm> comms;
  cuda.sharesGpus |= ranksPerGpu > 1;
  for (int rank = 0; rank < ranks; ++rank) {
    members.push_back(std::make_unique<Member>(Member{&world, rank, rank / ranksPerGpu}));
    comms.push_back(reinterpret_cast<Comm>(members.back().get()));
  }
  return comms;
}

void FakeWindows::free(Comm comm) {
  std::erase_if(members, [&](const auto &member) { return reinterpret_cast<Comm>(member.get()) == comm; });
}

/// Ranks of a colour are in the order of their keys.
void FakeWindows::makeChildren(World &world) {
  std::map<int, std::map<int, World::Split>> colors;
  for (const World::Split &split : std::exchange(world.splits, {}))
    colors[split.color][split.key] = split;
  for (const auto &[color, ranks] : colors) {
    const std::vector<Comm> made = make(static_cast<int>(ranks.size()));
    auto next = made.begin();
    for (const auto &[key, split] : ranks) {
      children.insert(*next);
      reinterpret_cast<Member *>(*next)->device = split.device;
      *split.child = *next++;
    }
  }
  splits += static_cast<uint64_t>(world.ranks);
}

std::string FakeWindows::leaks() const {
  std::string text = cuda.leaks();
  if (!allocations.empty())
    text += std::to_string(allocations.size()) + " pieces of symmetric memory ";
  if (!registered.empty())
    text += std::to_string(registered.size()) + " windows ";
  if (!networks.empty())
    text += std::to_string(networks.size()) + " device communicators ";
  if (!children.empty())
    text += std::to_string(children.size()) + " communicators ";
  return text;
}

uint32_t FakeWindows::signals() const {
  return worlds.back()->network.signalCount;
}

uint64_t FakeWindows::gaveBack() const {
  return worlds.back()->network.gaveBack;
}

uint64_t FakeWindows::leftBehind() const {
  return worlds.back()->network.leftBehind;
}

struct FakeWindows::Functions {
  static Member &member(Comm comm) {
    ++current->used;
    for (const auto &known : current->members)
      if (reinterpret_cast<Comm>(known.get()) == comm)
        return *known;
    std::abort(); // freed, or never made
  }
  static Result version(int *version) {
    *version = current->version;
    return Result::Success;
  }
  static Result count(Comm comm, int *ranks) {
    *ranks = member(comm).world->ranks;
    return current->cuda.fails() ? failure : Result::Success;
  }
  static Result rank(Comm comm, int *rank) {
    *rank = member(comm).rank;
    return current->cuda.fails() ? failure : Result::Success;
  }
  static Result device(Comm comm, int *device) {
    *device = member(comm).device;
    return current->cuda.fails() ? failure : Result::Success;
  }
  static ncclapi::Team teamLsa(Comm comm) {
    const Member &own = member(comm);
    const int all = own.world->ranks, size = current->teamSize != 0 ? std::min(current->teamSize, all) : all;
    const int stride = size == all ? 1 : current->teamStride;
    return {size, own.rank / stride % size, stride};
  }
  static Result groupStart() {
    if (current->cuda.fails())
      return failure;
    ++current->groupDepth;
    return Result::Success;
  }
  /// What was noted in a group, and in those within it, comes at the end of the outermost.
  static Result groupEnd() {
    if (--current->groupDepth > 0)
      return current->cuda.fails() ? failure : Result::Success;
    const auto works = std::exchange(current->atGroupEnd, {});
    const bool fails = std::exchange(current->groupFails, false);
    if (current->cuda.fails() || fails)
      return failure;
    for (const auto &work : works)
      work();
    return current->blocks || works.empty() ? Result::Success : Result::InProgress;
  }

  /// When all ranks have come. One that fails fails the group.
  static Result split(Comm comm, int color, int key, Comm *child, ncclapi::Config *) {
    World *world = member(comm).world;
    const int device = member(comm).device;
    if (current->cuda.fails()) {
      current->groupFails = true;
      return failure;
    }
    current->atGroupEnd.emplace_back([=] {
      world->splits.push_back({color, key, child, device});
      if (world->splits.size() == static_cast<size_t>(world->ranks))
        current->makeChildren(*world);
    });
    return Result::Success;
  }
  static Result destroy(Comm comm) {
    member(comm);
    if (current->children.erase(comm) != 1)
      std::abort(); // the application's
    for (const auto &[window, owner] : current->owners)
      if (owner == comm && current->registered.contains(window))
        std::abort(); // windows go first
    current->free(comm);
    return Result::Success;
  }
  static Result abort(Comm comm) {
    member(comm);
    if (current->children.erase(comm) != 1)
      std::abort();
    current->free(comm);
    ++current->abortedSplits;
    return Result::Success;
  }

  static Result revoke(Comm comm, int flags) {
    member(comm);
    if (flags != 0 || isRevoked(comm))
      std::abort();
    current->revoked.push_back(comm);
    return current->cuda.fails() ? failure : Result::Success;
  }
  static bool isRevoked(Comm comm) {
    return std::find(current->revoked.begin(), current->revoked.end(), comm) != current->revoked.end();
  }

  /// With as many signals as the requirements say; all ranks ask for as many.
  static Result createNetwork(Comm comm, const void *requirements, void *deviceComm) {
    const Member &own = member(comm);
    if (current->cuda.fails())
      return failure;
    const auto signals = *static_cast<const uint32_t *>(requirements);
    FakeNetwork &network = own.world->network;
    if (network.signalCount != UINT32_MAX && network.signalCount != signals)
      std::abort();
    network.signalCount = signals;
    const auto contexts = current->contexts.find(own.rank);
    const NetworkEnd end{&network, static_cast<uint32_t>(own.rank),
                         contexts == current->contexts.end() ? 4 : contexts->second};
    current->atGroupEnd.emplace_back([=] {
      std::memcpy(deviceComm, &end, sizeof end);
      current->networks.insert(deviceComm);
      ++current->networksMade;
    });
    return Result::Success;
  }
  static Result destroyNetwork(Comm comm, const void *deviceComm) {
    member(comm);
    if (current->networks.erase(deviceComm) != 1)
      std::abort();
    return Result::Success;
  }

  static Result allGather(const void *send, void *recv, size_t count, ncclapi::DataType, Comm comm,
                          ncclapi::Stream stream) {
    const Member &own = member(comm);
    if (current->cuda.fails())
      return failure;
    if (isRevoked(comm))
      return Result::InvalidUsage;
    if (current->groupDepth > 0)
      current->atGroupEnd.emplace_back([=] { launchGather(send, recv, count, own, comm, stream); });
    else
      launchGather(send, recv, count, own, comm, stream);
    return Result::Success;
  }
  /// As a kernel of NCCL's: it waits where it is until all ranks have come.
  static void launchGather(const void *send, void *recv, size_t count, const Member &own, Comm comm,
                           ncclapi::Stream stream) {
    World &world = *own.world;
    const auto rank = static_cast<size_t>(own.rank);
    const size_t number = world.gathered[rank]++;
    if (world.gathers.size() <= number)
      world.gathers.push_back({.data = std::vector<std::vector<std::byte>>(static_cast<size_t>(world.ranks))});
    World::Gather &gather = world.gathers[number];
    if (gather.bytes.value_or(count) != count)
      std::abort(); // NCCL takes them to be alike
    gather.bytes = count;
    current->cuda.enqueue(reinterpret_cast<cuda::Stream>(stream), [=, &gather, &world] {
      return [=, &gather, &world, begun = false]() mutable {
        if (!begun) {
          const auto *bytes = static_cast<const std::byte *>(send);
          gather.data[rank].assign(bytes, bytes + count);
          ++gather.arrived;
          ++current->gathersBegun;
          begun = true;
        }
        if (gather.arrived != world.ranks)
          return isRevoked(comm);
        for (size_t r = 0; r < gather.data.size(); ++r)
          std::memcpy(static_cast<std::byte *>(recv) + r * count, gather.data[r].data(), count);
        return true;
      };
    });
  }

  static Result allocate(void **memory, size_t bytes) {
    if (current->cuda.fails())
      return failure;
    const int file = memfd_create("symmetric", 0);
    if (file < 0 || ftruncate(file, static_cast<off_t>(pages(bytes))) != 0)
      std::abort();
    *memory = mmap(nullptr, pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    std::memset(*memory, 0xcd, bytes);
    current->allocations[*memory] = {file, current->cuda.currentDevice};
    current->sizes[*memory] = bytes;
    return Result::Success;
  }
  static Result release(void *memory) {
    const auto known = current->allocations.find(memory);
    if (known == current->allocations.end())
      std::abort();
    munmap(memory, pages(current->sizes[memory]));
    close(known->second.file);
    current->allocations.erase(known);
    return Result::Success;
  }

  /// Shows the memory a second time; all ranks do so, with as many bytes.
  static Result enroll(Comm comm, void *memory, size_t bytes, Window *window, int) {
    const Member &own = member(comm);
    World &world = *own.world;
    const Allocation &allocation = current->allocations.at(memory);
    if (allocation.device != own.device)
      std::abort();
    ++current->registrations;
    const auto rank = static_cast<size_t>(own.rank);
    const size_t number = world.registrations[rank].size();
    world.registrations[rank].emplace_back(memory, bytes);
    for (const auto &others : world.registrations)
      if (others.size() > number && others[number].second != bytes)
        std::abort(); // NCCL 2.28 takes them to be alike
    if (world.flat.size() <= number)
      world.flat.push_back(static_cast<std::byte *>(mmap(nullptr, static_cast<size_t>(world.ranks) * gap4G, PROT_NONE,
                                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)));
    (void)mmap(world.flat[number] + rank * gap4G, pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
               allocation.file, 0);
    if (current->cuda.fails())
      return failure;
    const ncclapi::Team team = teamLsa(comm);
    if (current->windows == Windows::Null || (current->windows == Windows::OneTeam && team.ranks != world.ranks))
      return Result::Success;
    const int firstOfTeam = own.rank - team.rank * team.stride;
    const Head head{.flatBase = world.flat[number] + static_cast<size_t>(firstOfTeam) * gap4G,
                    .lsaRank = team.rank,
                    .worldRank = own.rank,
                    .stride4G = static_cast<uint32_t>(team.stride)};
    const int before = std::exchange(current->cuda.currentDevice, own.device); // whichever is current
    void *handle = current->windows != Windows::Other ? current->cuda.allocate(sizeof head) : std::malloc(sizeof head);
    current->cuda.currentDevice = before;
    std::memcpy(handle, &head, sizeof head);
    *window = static_cast<Window>(handle);
    current->registered[*window] = memory;
    current->owners[*window] = comm;
    world.numbers[handle] = number;
    ++current->windowsMade;
    return Result::Success;
  }
  static Result withdraw(Comm comm, Window window) {
    member(comm);
    if (current->registered.erase(window) != 1 || current->owners[window] != comm)
      std::abort();
    if (current->windows != Windows::Other)
      current->cuda.release(reinterpret_cast<std::byte *>(window));
    else
      std::free(window);
    return Result::Success;
  }
  static Result pointer(Window window, size_t offset, int lsaRank, void **pointer) {
    member(current->owners.at(window));
    const auto &head = *reinterpret_cast<const Head *>(window);
    *pointer = head.flatBase + static_cast<size_t>(lsaRank) * head.stride4G * gap4G + offset;
    return current->cuda.fails() ? failure : Result::Success;
  }
};

const gin::Part *FakeWindows::part() {
  static gin::Part part{
      .gc3 = GC3_VERSION,
      .nccl = 0,
      .commBytes = sizeof(NetworkEnd),
      .create =
          [](ncclapi::signature::DevCommCreate *function, Comm comm, uint32_t signals, void *deviceComm) {
            ++current->partCalls;
            return function(comm, &signals, deviceComm);
          },
      .destroy = [](ncclapi::signature::DevCommDestroy *function, Comm comm,
                    const void *deviceComm) { return function(comm, deviceComm); },
      .contexts = [](const void *deviceComm) { return static_cast<const NetworkEnd *>(deviceComm)->contexts; },
      .interpreters = FakeCuda::networkInterpreters()};
  part.nccl = current->partFor;
  return &part;
}

void *FakeWindows::function(const std::string &name) {
  static const std::map<std::string, void *> functions{
      {"AllGather", reinterpret_cast<void *>(&Functions::allGather)},
      {"CommAbort", reinterpret_cast<void *>(&Functions::abort)},
      {"CommCount", reinterpret_cast<void *>(&Functions::count)},
      {"CommCuDevice", reinterpret_cast<void *>(&Functions::device)},
      {"CommDestroy", reinterpret_cast<void *>(&Functions::destroy)},
      {"CommRevoke", reinterpret_cast<void *>(&Functions::revoke)},
      {"CommSplit", reinterpret_cast<void *>(&Functions::split)},
      {"CommUserRank", reinterpret_cast<void *>(&Functions::rank)},
      {"CommWindowDeregister", reinterpret_cast<void *>(&Functions::withdraw)},
      {"CommWindowRegister", reinterpret_cast<void *>(&Functions::enroll)},
      {"DevCommCreate", reinterpret_cast<void *>(&Functions::createNetwork)},
      {"DevCommDestroy", reinterpret_cast<void *>(&Functions::destroyNetwork)},
      {"GetLsaDevicePointer", reinterpret_cast<void *>(&Functions::pointer)},
      {"GetVersion", reinterpret_cast<void *>(&Functions::version)},
      {"GroupEnd", reinterpret_cast<void *>(&Functions::groupEnd)},
      {"GroupStart", reinterpret_cast<void *>(&Functions::groupStart)},
      {"MemAlloc", reinterpret_cast<void *>(&Functions::allocate)},
      {"MemFree", reinterpret_cast<void *>(&Functions::release)},
      {"TeamLsa", reinterpret_cast<void *>(&Functions::teamLsa)},
  };
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

ncclapi::Nccl FakeWindows::table() const {
  ncclapi::Nccl nccl;
  if (!ncclapi::Nccl::find(function, nccl).ok())
    std::abort();
  return nccl;
}

} // namespace gc3::test
