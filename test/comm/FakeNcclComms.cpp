// SPDX-License-Identifier: Apache-2.0
// Functions that create communicators, from ids or from other communicators, and functions that query them.
#include "FakeNcclState.h"

#include <cstdio>

namespace gc3::test {

using ncclapi::Config;
using ncclapi::UniqueId;
using Member = FakeNccl::Member;
using World = FakeNccl::World;

std::shared_ptr<World> makeWorld(int ranks) {
  auto world = std::make_shared<World>();
  const auto count = static_cast<size_t>(ranks);
  world->ranks = ranks;
  world->members.resize(count);
  world->begun.resize(count);
  world->gathered.resize(count);
  world->registrations.resize(count);
  world->network.place = [at = world.get()](const void *window, uint32_t rank, uint64_t offset) {
    return static_cast<std::byte *>(at->registrations[rank].at(at->numbers.at(window)).first) + offset;
  };
  state().worlds.push_back(world);
  return world;
}

Member &makeMember(const std::shared_ptr<World> &world, int rank, int device, bool blocking, By by) {
  FakeNccl::State &all = state();
  const bool isChild = by == By::Gc3;
  std::shared_ptr<Member> member = isChild ? nullptr : std::exchange(all.reused, nullptr);
  if (!member)
    member = std::make_shared<Member>();
  *member = Member{};
  member->world = world.get();
  member->rank = rank;
  member->device = device;
  member->blocking = blocking;
  member->isChild = isChild;
  if (isChild)
    all.children.insert(member->handle());
  else
    member->number = all.nextNumber++;
  for (const auto &other : world->members)
    all.cuda.sharesGpus |= other && other->device == device;
  world->members.at(static_cast<size_t>(rank)) = member;
  all.members[member->handle()] = member;
  return *member;
}

namespace {

bool blocks(const Config *config, bool byDefault) {
  const std::optional<int> &always = state().fake.alwaysBlocking;
  if (always)
    return *always != 0;
  return !config || config->blocking == ncclapi::configUndefined ? byDefault : config->blocking != 0;
}

/// Begins a call that names no communicator: records it, adds it to the open group, and returns its planned result.
Result enter(const char *name, const std::string &event, bool blocking) {
  recordEvent(event);
  const Result result = takePlanned(name);
  if (openGroup.depth == 0 || isError(result))
    return result;
  if (openGroup.blocks.value_or(blocking) != blocking)
    return openGroup.error = Result::InvalidArgument;
  openGroup.blocks = blocking;
  return result;
}

/// Creates one rank, unless `result` is an error. Does not wait for the other ranks. Ranks with the same id form one
/// communicator.
Result makeRank(Result result, Comm *comm, int ranks, const UniqueId *id, int rank, bool blocking) {
  if (isError(result))
    return result;
  const auto slot = static_cast<size_t>(rank);
  std::shared_ptr<World> &world = state().worldsById[id ? std::string(id->bytes, sizeof id->bytes) : ""];
  if (!id || !world || world->ranks != ranks || world->members.at(slot))
    world = makeWorld(ranks);
  *comm = makeMember(world, rank, FakeCuda::currentDevice, blocking, By::Application).handle();
  return result;
}

Result getUniqueId(By, UniqueId *id) {
  const Monitor::Lock lock;
  recordEvent(eventText("GetUniqueId"));
  const Result result = takePlanned("GetUniqueId");
  *id = {};
  std::snprintf(id->bytes, sizeof id->bytes, "id %d", state().nextId++);
  return result;
}

Result commInitRank(By, Comm *comm, int ranks, UniqueId id, int rank) {
  const Monitor::Lock lock;
  const bool blocking = blocks(nullptr, true);
  const Result result = enter("CommInitRank", eventText("CommInitRank", ranks, id, rank), blocking);
  return makeRank(result, comm, ranks, &id, rank, blocking);
}

Result commInitRankConfig(By, Comm *comm, int ranks, UniqueId id, int rank, Config *config) {
  const Monitor::Lock lock;
  const bool blocking = blocks(config, true);
  const Result result = enter("CommInitRankConfig", eventText("CommInitRankConfig", ranks, id, rank, config), blocking);
  return makeRank(result, comm, ranks, &id, rank, blocking);
}

Result commInitRankScalable(By, Comm *comm, int ranks, int rank, int idCount, UniqueId *ids, Config *config) {
  const Monitor::Lock lock;
  const bool blocking = blocks(config, true);
  const Result result =
      enter("CommInitRankScalable", eventText("CommInitRankScalable", ranks, rank, idCount, ids, config), blocking);
  return makeRank(result, comm, ranks, ids, rank, blocking);
}

Result commInitAll(By, Comm *comms, int devices, const int *list) {
  const Monitor::Lock lock;
  const Result result =
      enter("CommInitAll", eventText("CommInitAll", devices, static_cast<const void *>(list)), blocks(nullptr, true));
  if (isError(result))
    return result;
  const std::shared_ptr<World> world = makeWorld(devices);
  for (int rank = 0; rank < devices; ++rank)
    comms[rank] = makeMember(world, rank, list ? list[rank] : rank, blocks(nullptr, true), By::Application).handle();
  return result;
}

/// Does not wait for the other ranks. Ranks with the same id form one communicator. Each rank without an id gets a
/// communicator of its own.
Result commGrow(By by, Comm parent, int ranks, const UniqueId *id, int rank, Comm *child, Config *config) {
  const Monitor::Lock lock;
  const std::string event = eventText("CommGrow", parent, ranks, id, rank, config);
  const bool blocking = blocks(config, true);
  if (!parent)
    return makeRank(enter("CommGrow", event, blocking), child, ranks, id, rank, blocking);
  const NcclCall call(by, "CommGrow", parent, NcclCall::Kind::Counted, [&] { return event; });
  if (call.hasEnded())
    return call.result();
  return makeRank(call.result(), child, ranks, id, call.member().rank, blocking);
}

/// Creates one communicator for each color. Orders its ranks by key, and ranks with equal keys by their rank in the
/// parent.
void makeChildren(World &, SetUp &setUp) {
  std::map<int, std::map<std::pair<int, int>, const Offer *>> colors;
  for (const auto &[rank, offer] : setUp.offers)
    if (offer.color >= 0)
      colors[offer.color][{offer.key, rank}] = &offer;
  for (const auto &[color, ranks] : colors) {
    const std::shared_ptr<World> world = makeWorld(static_cast<int>(ranks.size()));
    for (int rank = 0; const auto &[order, offer] : ranks) {
      Member &made = makeMember(world, rank++, offer->member->device, offer->blocking, offer->by);
      made.parent = offer->member;
      made.number = made.isChild ? offer->member->number : made.number;
      setUp.made[order.second] = &made;
    }
  }
}

/// Writes a handle atomically, because threads of the application can poll it.
void write(Comm *where, Comm comm) {
  __atomic_store_n(where, comm, __ATOMIC_RELEASE);
}

/// Writes the child's handle to `child`. Writes null if the rank gets no child, or if its call fails late.
Result handOver(SetUp &setUp, int rank, Comm *child, bool fails) {
  FakeNccl::State &all = state();
  const auto found = setUp.made.find(rank);
  Member *made = found == setUp.made.end() ? nullptr : found->second;
  if (made && fails) {
    made->isFreed = true;
    all.children.erase(made->handle());
  } else if (made && made->isChild) {
    ++all.fake.splits;
  }
  write(child, made && !fails ? made->handle() : nullptr);
  return fails ? FakeNccl::failure : Result::Success;
}

/// Splits or shrinks a communicator. Like NCCL, returns Success for a non-blocking parent, although the operation is
/// still in progress.
Result makeChild(const NcclCall &call, const char *name, const Offer &offer, Comm *child,
                 const std::set<int> &excluded) {
  if (call.hasEnded() && !call.failsLate())
    return call.result();
  const bool fails = call.hasEnded();
  Operation operation = meetAllRanks(
      name, offer, makeChildren,
      [=, rank = call.member().rank](SetUp &setUp) { return handOver(setUp, rank, child, fails); }, excluded);
  const Result result = submit(std::move(operation));
  const bool isLater = fails && result == Result::InProgress; // the parent's state will report the failure
  return isError(result) || isLater ? result : call.result();
}

Result commSplit(By by, Comm parent, int color, int key, Comm *child, Config *config) {
  const NcclCall call(by, "CommSplit", parent, NcclCall::Kind::Counted,
                      [&] { return eventText("CommSplit", parent, color, key, config); });
  write(child, nullptr);
  if (!parent)
    return call.result();
  Member &member = call.member();
  return makeChild(call, "CommSplit", {&member, color, key, blocks(config, member.blocking), by}, child, {});
}

Result commShrink(By by, Comm parent, int *excluded, int count, Comm *child, Config *config, int flags) {
  const NcclCall call(by, "CommShrink", parent, NcclCall::Kind::Counted,
                      [&] { return eventText("CommShrink", parent, count, config, flags); });
  write(child, nullptr);
  if (!parent)
    return call.result();
  Member &member = call.member();
  const Offer offer{&member, 0, member.rank, blocks(config, member.blocking), by};
  return makeChild(call, "CommShrink", offer, child, std::set<int>(excluded, excluded + (excluded ? count : 0)));
}

/// Queries a field of a communicator. Queries are not recorded as events.
template <auto Field>
Result query(By by, const char *name, Comm comm, int *value) {
  const NcclCall call(by, name, comm, NcclCall::Kind::Counted);
  if (!call.hasEnded())
    *value = Field(call.member());
  return call.result();
}

Result commCount(By by, Comm comm, int *ranks) {
  return query<[](const Member &member) { return member.world->ranks; }>(by, "CommCount", comm, ranks);
}

Result commUserRank(By by, Comm comm, int *rank) {
  return query<[](const Member &member) { return member.rank; }>(by, "CommUserRank", comm, rank);
}

Result commCuDevice(By by, Comm comm, int *device) {
  return query<[](const Member &member) { return member.device; }>(by, "CommCuDevice", comm, device);
}

Result getVersion(By, int *version) {
  const Monitor::Lock lock;
  *version = state().fake.version;
  return takePlanned("GetVersion");
}

} // namespace

void addCommunicators(FunctionTable &table) {
  table["GetUniqueId"] = PairOf<getUniqueId>::pair();
  table["CommInitRank"] = PairOf<commInitRank>::pair();
  table["CommInitRankConfig"] = PairOf<commInitRankConfig>::pair();
  table["CommInitRankScalable"] = PairOf<commInitRankScalable>::pair();
  table["CommInitAll"] = PairOf<commInitAll>::pair();
  table["CommGrow"] = PairOf<commGrow>::pair();
  table["CommSplit"] = PairOf<commSplit>::pair();
  table["CommShrink"] = PairOf<commShrink>::pair();
  table["CommCount"] = PairOf<commCount>::pair();
  table["CommUserRank"] = PairOf<commUserRank>::pair();
  table["CommCuDevice"] = PairOf<commCuDevice>::pair();
  table["GetVersion"] = PairOf<getVersion>::pair();
}

} // namespace gc3::test
