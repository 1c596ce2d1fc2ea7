// SPDX-License-Identifier: Apache-2.0
// Functions for symmetric memory, its windows, and the network between teams.
#include "FakeNcclState.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace gc3::test {

using ncclapi::Window;
using Member = FakeNccl::Member;
using World = FakeNccl::World;

ncclapi::Team teamOf(const Member &member) {
  const FakeNccl &fake = state().fake;
  const int all = member.world->ranks, size = fake.teamSize != 0 ? std::min(fake.teamSize, all) : all;
  const int stride = size == all ? 1 : fake.teamStride;
  return {size, member.rank / stride % size, stride};
}

namespace {

constexpr size_t alignment = 4096;

size_t pages(size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The first fields of a window, in the layout that NCCL's device code reads.
struct Head {
  uint64_t unused = 0xdddddddddddddddd;
  std::byte *flatBase;
  int lsaRank, worldRank;
  uint32_t stride4G = 1, rest = 0xdddddddd;
};

/// Frees a window's handle. The handle is host memory if the communicator has no windows, else device memory.
void freeHandle(Window window) {
  if (state().fake.windows != FakeNccl::Windows::Other)
    state().cuda.release(reinterpret_cast<std::byte *>(window));
  else
    std::free(window);
}

Result memAlloc(By by, void **memory, size_t bytes) {
  const Monitor::Lock lock;
  if (by == By::Gc3 && state().cuda.failsOn(FakeCuda::currentDevice, "NCCL MemAlloc"))
    return FakeNccl::failure;
  if (const Result planned = takePlanned("MemAlloc"); isError(planned))
    return planned;
  const int file = memfd_create("symmetric", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(pages(bytes))) != 0)
    Monitor::fail("no memory");
  *memory = mmap(nullptr, pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (*memory == MAP_FAILED)
    Monitor::fail("no memory");
  std::memset(*memory, 0xcd, bytes);
  state().allocations[*memory] = {file, FakeCuda::currentDevice, bytes};
  state().mappings.emplace_back(*memory, pages(bytes));
  return Result::Success;
}

/// Frees symmetric memory, but keeps it mapped, because kernels of peers can still read it.
Result memFree(By, void *memory) {
  const Monitor::Lock lock;
  const auto known = state().allocations.find(memory);
  if (known == state().allocations.end())
    Monitor::fail("MemFree of freed memory, or of memory that MemAlloc did not allocate");
  for (const auto &[window, registered] : state().registered)
    if (registered.memory == memory)
      Monitor::fail("MemFree of memory that is registered with " + text(registered.owner->handle()));
  close(known->second.file);
  state().allocations.erase(known);
  return takePlanned("MemFree");
}

/// Maps a rank's memory into the window's address space. Returns the number of the window.
size_t registerWindow(Member &member, void *memory, size_t bytes) {
  World &world = *member.world;
  const auto found = state().allocations.find(memory);
  if (found == state().allocations.end() || found->second.device != member.device)
    Monitor::fail("CommWindowRegister of memory that is not symmetric memory of the rank's device");
  const auto rank = static_cast<size_t>(member.rank);
  const size_t number = world.registrations[rank].size();
  world.registrations[rank].emplace_back(memory, bytes);
  for (const auto &others : world.registrations)
    if (others.size() > number && others[number].second != bytes)
      Monitor::fail("CommWindowRegister of other sizes on other ranks"); // NCCL 2.28 requires equal sizes
  if (world.flat.size() <= number) {
    void *base = mmap(nullptr, static_cast<size_t>(world.ranks) * gap4G, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
      Monitor::fail("no address space");
    world.flat.push_back(static_cast<std::byte *>(base));
  }
  (void)mmap(world.flat[number] + rank * gap4G, pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             found->second.file, 0);
  return number;
}

Window makeWindow(Member &member, void *memory, size_t number) {
  FakeNccl::State &all = state();
  FakeNccl &fake = all.fake;
  World &world = *member.world;
  const ncclapi::Team team = teamOf(member);
  if (fake.windows == FakeNccl::Windows::Null ||
      (fake.windows == FakeNccl::Windows::OneTeam && team.ranks != world.ranks))
    return nullptr;
  const int firstOfTeam = member.rank - team.rank * team.stride;
  const Head head{.flatBase = world.flat[number] + static_cast<size_t>(firstOfTeam) * gap4G,
                  .lsaRank = team.rank,
                  .worldRank = member.rank,
                  .stride4G = static_cast<uint32_t>(team.stride)};
  const int before = std::exchange(FakeCuda::currentDevice, member.device); // NCCL allows any current device
  void *handle = fake.windows != FakeNccl::Windows::Other ? all.cuda.allocate(sizeof head) : std::malloc(sizeof head);
  FakeCuda::currentDevice = before;
  std::memcpy(handle, &head, sizeof head);
  all.registered[static_cast<Window>(handle)] = {memory, &member, number};
  world.numbers[handle] = number;
  ++fake.windowsMade;
  return static_cast<Window>(handle);
}

Result commWindowRegister(By by, Comm comm, void *memory, size_t bytes, Window *window, int) {
  const NcclCall call(by, "CommWindowRegister", comm, NcclCall::Kind::Counted);
  if (call.hasEnded() && !call.failsLate())
    return call.result();
  Member *member = &call.member();
  const auto number = std::make_shared<size_t>(0);
  Operation operation = meetAllRanks(
      "CommWindowRegister", {.member = member}, [](World &, SetUp &) {},
      [=, fails = call.hasEnded()](SetUp &) {
        if (fails)
          return FakeNccl::failure;
        *window = makeWindow(*member, memory, *number);
        return Result::Success;
      });
  operation.arrive = [=, arrive = operation.arrive] {
    ++state().fake.registrations;
    *number = registerWindow(*member, memory, bytes);
    arrive();
  };
  return submit(std::move(operation));
}

Result commWindowDeregister(By by, Comm comm, Window window) {
  const NcclCall call(by, "CommWindowDeregister", comm, NcclCall::Kind::Local);
  if (call.hasEnded())
    return call.result();
  const auto node = state().registered.extract(window);
  if (!node || node.mapped().owner != &call.member())
    Monitor::fail("CommWindowDeregister of a window that is not registered with " + text(comm));
  const size_t number = node.mapped().number;
  World &world = *call.member().world;
  freeHandle(window);
  world.deregistered[number].insert(call.member().rank);
  Monitor::change();
  const bool isDone = !state().fake.deregisterWaits || await("NCCL CommWindowDeregister", call.member(), [&] {
    return world.deregistered[number].size() == static_cast<size_t>(world.ranks);
  });
  return isDone ? Result::Success : Result::InternalError;
}

Result getLsaDevicePointer(By by, Window window, size_t offset, int lsaRank, void **pointer) {
  const Monitor::Lock lock;
  const auto found = state().registered.find(window);
  if (found == state().registered.end())
    Monitor::fail("GetLsaDevicePointer of a window that is not registered");
  const NcclCall call(by, "GetLsaDevicePointer", found->second.owner->handle(), NcclCall::Kind::Counted);
  if (call.hasEnded())
    return call.result();
  const auto &head = *reinterpret_cast<const Head *>(window);
  *pointer = head.flatBase + static_cast<size_t>(lsaRank) * head.stride4G * gap4G + offset;
  return call.result();
}

/// Waits until all ranks of the team have called, because NCCL makes the switch's mapping then.
Result getLsaMultimemDevicePointer(By by, Window window, size_t offset, void **pointer) {
  const Monitor::Lock lock;
  const auto found = state().registered.find(window);
  if (found == state().registered.end())
    Monitor::fail("GetLsaMultimemDevicePointer of a window that is not registered");
  Member &member = *found->second.owner;
  const NcclCall call(by, "GetLsaMultimemDevicePointer", member.handle(), NcclCall::Kind::Counted);
  *pointer = nullptr;
  if (call.hasEnded() || !state().fake.hasSwitch)
    return call.result();
  World &world = *member.world;
  const size_t number = found->second.number;
  const ncclapi::Team team = teamOf(member);
  const int first = member.rank - team.rank * team.stride;
  World::SwitchMap &map = world.switchMaps[{number, first}];
  map.ranks.insert(member.rank);
  if (!map.address) {
    const size_t bytes = pages(world.registrations[static_cast<size_t>(member.rank)][number].second);
    map.address = static_cast<std::byte *>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    state().mappings.emplace_back(map.address, bytes);
    std::vector<std::byte *> parts;
    for (int rank = 0; rank < team.ranks; ++rank)
      parts.push_back(world.flat[number] + static_cast<size_t>(first + rank * team.stride) * gap4G);
    FakeSwitch::add(map.address, bytes, parts);
  }
  Monitor::change();
  if (!await("NCCL GetLsaMultimemDevicePointer", member,
             [&] { return map.ranks.size() == static_cast<size_t>(team.ranks); }))
    return Result::InternalError;
  *pointer = map.address + offset;
  return Result::Success;
}

ncclapi::Team teamLsa(By by, Comm comm) {
  const NcclCall call(by, "TeamLsa", comm, NcclCall::Kind::Local);
  return comm ? teamOf(call.member()) : ncclapi::Team{};
}

/// Creates a device communicator. `requirements` points to the number of signals, which must be equal on all ranks.
Result devCommCreate(By by, Comm comm, const void *requirements, void *deviceComm) {
  const NcclCall call(by, "DevCommCreate", comm, NcclCall::Kind::Counted);
  if (call.hasEnded())
    return call.result();
  FakeNccl::State &all = state();
  Member *member = &call.member();
  const auto signals = *static_cast<const uint32_t *>(requirements);
  FakeNetwork &network = member->world->network;
  if (network.signalCount != UINT32_MAX && network.signalCount != signals)
    Monitor::fail("DevCommCreate with other signals on other ranks");
  network.signalCount = signals;
  all.lastNetwork = member->world;
  const auto contexts = all.fake.contexts.find(member->rank);
  const NetworkEnd end{&network, static_cast<uint32_t>(member->rank),
                       contexts == all.fake.contexts.end() ? 4 : contexts->second};
  return submit({.name = "DevCommCreate", .member = member, .finish = [=] {
                   std::memcpy(deviceComm, &end, sizeof end);
                   state().networks[deviceComm] = member;
                   ++state().fake.networksMade;
                   return Result::Success;
                 }});
}

Result devCommDestroy(By by, Comm comm, const void *deviceComm) {
  const NcclCall call(by, "DevCommDestroy", comm, NcclCall::Kind::Local);
  if (call.hasEnded())
    return call.result();
  const auto node = state().networks.extract(deviceComm);
  if (!node || node.mapped() != &call.member())
    Monitor::fail("DevCommDestroy of a device communicator that was not created with " + text(comm));
  return call.result();
}

} // namespace

void freeWindowsOf(Member &member) {
  std::erase_if(state().registered, [&](const auto &window) {
    if (window.second.owner != &member)
      return false;
    freeHandle(window.first);
    return true;
  });
  std::erase_if(state().networks, [&](const auto &network) { return network.second == &member; });
}

void addWindows(FunctionTable &table) {
  table["MemAlloc"] = PairOf<memAlloc>::pair();
  table["MemFree"] = PairOf<memFree>::pair();
  table["CommWindowRegister"] = PairOf<commWindowRegister>::pair();
  table["CommWindowDeregister"] = PairOf<commWindowDeregister>::pair();
  table["GetLsaDevicePointer"] = PairOf<getLsaDevicePointer>::pair();
  table["GetLsaMultimemDevicePointer"] = PairOf<getLsaMultimemDevicePointer>::pair();
  table["TeamLsa"] = PairOf<teamLsa>::pair();
  table["DevCommCreate"] = PairOf<devCommCreate>::pair();
  table["DevCommDestroy"] = PairOf<devCommDestroy>::pair();
}

} // namespace gc3::test
