// SPDX-License-Identifier: Apache-2.0
#include "FakeNccl.h"

#include "FakeNcclState.h"
#include "gc3.h"

#include <sys/mman.h>
#include <unistd.h>

namespace gc3::test {

namespace {

FakeNccl *current = nullptr;
FakeNccl::State *currentState = nullptr;

const FunctionTable &functions() {
  static const auto &all = *new FunctionTable([] { // never destroyed: threads can call while the process exits
    FunctionTable table;
    addGroups(table);
    addCommunicators(table);
    addLifetimes(table);
    addCollectives(table);
    addWindows(table);
    return table;
  }());
  return all;
}

const FakeNetwork &networkOf(const FakeNccl::State &state) {
  return (state.lastNetwork ? state.lastNetwork : state.worlds.back().get())->network;
}

} // namespace

FakeNccl::State &state() {
  if (!currentState)
    Monitor::fail("there is no fake of NCCL");
  return *currentState;
}

FakeNccl::FakeNccl(FakeCuda &cuda) : state(new State(*this, cuda)) {
  const Monitor::Lock lock;
  current = this;
  currentState = state.get();
}

FakeNccl::~FakeNccl() {
  const Monitor::Lock lock;
  for (const auto &world : state->worlds)
    for (std::byte *base : world->flat)
      munmap(base, static_cast<size_t>(world->ranks) * gap4G);
  for (const auto &[memory, bytes] : state->mappings)
    munmap(memory, bytes);
  FakeSwitch::clear();
  for (const auto &[memory, allocation] : state->allocations)
    close(allocation.file);
  for (const auto &[handle, member] : state->members)
    member->isAborted = true; // the streams can outlive the fake, and their gathers must end
  current = nullptr;
  currentState = nullptr;
}

std::vector<Comm> FakeNccl::make(int ranks, bool blocking) {
  const Monitor::Lock lock;
  const std::shared_ptr<World> world = makeWorld(ranks);
  std::vector<Comm> comms;
  for (int rank = 0; rank < ranks; ++rank)
    comms.push_back(makeMember(world, rank, rank / ranksPerGpu, blocking, By::Application).handle());
  return comms;
}

void FakeNccl::free(Comm comm) {
  const Monitor::Lock lock;
  Member &member = *state->members.at(comm);
  if (hasOthers(member.inside))
    Monitor::fail(name(comm) + " is freed while another thread uses it");
  member.isFreed = true;
  member.world->left.insert(member.rank);
}

void FakeNccl::fail(const std::string &function, Result result) {
  const Monitor::Lock lock;
  state->planned[function] = result;
}

void FakeNccl::asyncError(Comm comm, Result result) {
  const Monitor::Lock lock;
  state->members.at(comm)->planned = result;
}

void FakeNccl::reuse(Comm comm) {
  const Monitor::Lock lock;
  state->reused = state->members.at(comm);
}

uint32_t FakeNccl::signals() const {
  const Monitor::Lock lock;
  return networkOf(*state).signalCount;
}

uint64_t FakeNccl::messagesInFlight() const {
  const Monitor::Lock lock;
  return networkOf(*state).leftBehind;
}

uint64_t FakeNccl::slotsReturned() const {
  const Monitor::Lock lock;
  return networkOf(*state).gaveBack;
}

std::string FakeNccl::leaks() const {
  const Monitor::Lock lock;
  std::string text = state->cuda.leaks();
  auto add = [&](size_t count, const char *what) {
    if (count != 0)
      text += std::to_string(count) + " " + what + " ";
  };
  add(state->allocations.size(), "pieces of symmetric memory");
  add(state->registered.size(), "windows");
  add(state->networks.size(), "device communicators");
  add(state->children.size(), "communicators");
  return text;
}

bool FakeNccl::isGroupOpen() {
  return openGroup.depth > 0;
}

std::vector<Comm> FakeNccl::children() const {
  const Monitor::Lock lock;
  std::vector<Comm> all;
  for (const auto &world : state->worlds) // in order of creation; the order of addresses is not deterministic
    for (const auto &member : world->members)
      if (member && state->children.contains(member->handle()))
        all.push_back(member->handle());
  return all;
}

std::string FakeNccl::name(Comm comm) const {
  const Monitor::Lock lock;
  const Member &member = *state->members.at(comm);
  return (member.isChild ? "child of c" : "c") + std::to_string(member.number);
}

std::vector<std::string> FakeNccl::takeEvents() {
  const Monitor::Lock lock;
  return std::exchange(state->events, {});
}

std::vector<std::string> FakeNccl::takeProbes() {
  const Monitor::Lock lock;
  return std::exchange(state->probes, {});
}

const gin::Plugin *FakeNccl::part() {
  static gin::Plugin part{
      .gc3 = GC3_VERSION,
      .nccl = 0,
      .commBytes = sizeof(NetworkEnd),
      .create =
          [](ncclapi::signature::DevCommCreate *function, Comm comm, uint32_t signals, void *deviceComm) {
            {
              const Monitor::Lock lock;
              ++current->partCalls;
            }
            return function(comm, &signals, deviceComm);
          },
      .destroy = [](ncclapi::signature::DevCommDestroy *function, Comm comm,
                    const void *deviceComm) { return function(comm, deviceComm); },
      .contexts = [](const void *deviceComm) { return static_cast<const NetworkEnd *>(deviceComm)->contexts; },
      .interpreters = FakeCuda::networkInterpreters()};
  const Monitor::Lock lock;
  if (part.nccl != current->partFor) // written only if it differs, because other threads can read it
    part.nccl = current->partFor;
  return &part;
}

void *FakeNccl::function(const std::string &name) {
  const auto found = functions().find(name);
  return found == functions().end() ? nullptr : found->second.gc3;
}

void *FakeNccl::applicationFunction(const std::string &name) {
  const auto found = functions().find(name);
  return found == functions().end() ? nullptr : found->second.application;
}

ncclapi::Nccl FakeNccl::table() const {
  ncclapi::Nccl nccl;
  if (!ncclapi::Nccl::find(function, nccl).ok())
    Monitor::fail("this version of NCCL is too old");
  return nccl;
}

} // namespace gc3::test
