// SPDX-License-Identifier: Apache-2.0
// A new call takes these stages: compare the ranks' requests, select the program, find or prepare the call, determine
// the placements.
#include "host/CallTable.h"

#include "select/Digest.h"

#include <algorithm>
#include <functional>

namespace gc3::host {

using namespace core;

namespace {

/// If all ranks together have fewer bytes than this, one thread finishes the call before another thread has woken up.
constexpr uint64_t bytesWorthHelpers = 1 << 20;
/// Limits on the number and the memory of the prepared calls that are kept. They do not count the call that is being
/// prepared.
constexpr size_t mostCalls = 64;
constexpr size_t mostOnlineCalls = 512; ///< each arm has its own prepared calls
constexpr uint64_t mostMemory = 512ull << 20;

} // namespace

CallTable::CallTable(const bundle::BundleFile &bundleFile, const Site &ranks, const CallOptions &chosen)
    : file(bundleFile), site(ranks), options(chosen),
      selection(file, ranks.ranks(), chosen.allowUnproven, chosen.choice), random(chosen.seed) {
  selection.setWiring(options.wiring);
  if (options.trace)
    timeline.emplace(*options.trace, std::vector(site.ownRanks().begin(), site.ownRanks().end()));
}

uint32_t CallTable::helpers(const PreparedCall &call) const {
  const auto own = static_cast<uint32_t>(site.ownRanks().size());
  const uint32_t threads = std::min(options.workers ? options.workers : machineThreads(), own);
  return call.dataBytes() < bytesWorthHelpers ? 0 : threads - 1;
}

/// Moves the calls in `entered` to `dropped`. Destroys the calls that a deadlock has stopped, because no rank is in
/// them.
void CallTable::retire(std::span<const PreparedCall *const> entered) {
  drop(dropped);
  dropped.reserve(calls.size()); // if memory runs out, no call is dropped
  const size_t before = calls.size();
  for (auto &call : calls)
    if (std::find(entered.begin(), entered.end(), call.get()) != entered.end())
      dropped.push_back(std::move(call));
  std::erase_if(calls, [](const auto &call) { return !call || call->stopped(); });
  if (calls.size() != before)
    retired.fetch_add(1, std::memory_order_release);
}

/// Destroys calls that no rank may enter again.
void CallTable::drop(std::vector<std::unique_ptr<PreparedCall>> &unneeded) {
  for (const auto &call : unneeded)
    call->discard();
  unneeded.clear();
}

/// Returns a number that differs from all others of this process. In another process, it is only equal if it is for the
/// same program and tile, and as many calls were prepared before it.
uint64_t CallTable::nextId(const LoadedProgram &program, int8_t tile) {
  const uint64_t run = select::mix(program.program->info().digest(), static_cast<uint8_t>(tile));
  return (run << 32) | ++lastId;
}

const PreparedCall *CallTable::withId(uint64_t id) const {
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const auto &call) { return call->id() == id; });
  return found == calls.end() ? nullptr : found->get();
}

/// If the calls reach a limit, drops those that ranks have entered least recently, until a quarter of the limit is
/// free.
void CallTable::evict() {
  const size_t most = options.tune.isOnline ? mostOnlineCalls : mostCalls;
  uint64_t memory = 0;
  for (const auto &call : calls)
    memory += call->memoryBytes();
  if (calls.size() < most && memory <= mostMemory)
    return;
  const auto lastEntered = [this](const auto &call) { return call->lastEntered(site.ownRanks()[0]); };
  std::ranges::sort(calls, std::greater(), lastEntered);
  while (!calls.empty() && (calls.size() > most / 4 * 3 || memory > mostMemory / 4 * 3)) {
    memory -= calls.back()->memoryBytes();
    calls.back()->discard();
    calls.pop_back();
  }
  retired.fetch_add(1, std::memory_order_release);
}

/// The user's choice of a tile size takes precedence. In adversarial order, tiles have random sizes.
ShapeRule CallTable::shapes() {
  if (options.layout.slotBytes != 0 || options.layout.tileElements != 0 || options.adversarial)
    return {};
  const auto differ = [this](const Arm &arm, uint32_t elementBytes, uint64_t bytes) {
    return differs(arm, elementBytes, bytes);
  };
  return {{{.tile = -2}, {.tile = 2}}, differ};
}

bool CallTable::differs(const Arm &arm, uint32_t elementBytes, uint64_t bytes) {
  const LoadedProgram &loaded = selection.use(arm.program);
  const Program &program = *loaded.program;
  LayoutOptions layout = options.layout;
  if (PreparedCall::isWorthSharing(loaded, site, bytes, PreparedCall::bytesWorthSharing))
    layout = PreparedCall::sharingLayout(layout, site, false);
  const uint64_t count = countOf(program, bytes, elementBytes);
  const uint64_t byDefault = tileElementsOf(program, count, elementBytes, layout);
  layout.tile = arm.shape.tile;
  return tileElementsOf(program, count, elementBytes, layout) != byDefault;
}

LayoutOptions CallTable::layoutFor(const LoadedProgram &loaded, const Request &request, int8_t tile) {
  LayoutOptions wanted = options.layout;
  wanted.tile = tile;
  const auto &info = loaded.program->info();
  if (!options.adversarial)
    return wanted;
  if (wanted.slots == 0)
    wanted.slots = info.min_fifo_slots();
  if (wanted.tileElements == 0) // at most 16 tiles
    wanted.tileElements = 1 + request.count / slotsPerBlock(info) / (1 + random.below(16));
  return wanted;
}

/// Returns the smallest number of bytes per rank with which messages can skip their slots. In adversarial order,
/// chooses at random whether messages can skip their slots at any size or at none.
uint64_t CallTable::sharingFrom() {
  return !options.adversarial ? PreparedCall::bytesWorthSharing : random.below(2) ? 0 : UINT64_MAX;
}

Result<const LoadedProgram *> CallTable::programFor(const Request &request, std::optional<Arm> arm) {
  if (!arm)
    return selection.select(request);
  return &selection.use(arm->program);
}

/// Finds the prepared call for the request, or prepares it. Returns null if the call has no elements.
Result<PreparedCall *> CallTable::find(const Request &request, std::optional<Arm> arm, bool isMapped) {
  const auto isWanted = [&](const PreparedCall &call) {
    return call.serves(request) &&
           (!arm || (&call.loadedProgram() == &selection.use(arm->program) && call.tile() == arm->shape.tile));
  };
  for (const auto &known : calls)
    if (isWanted(*known))
      return known.get();
  const Result<const LoadedProgram *> selected = programFor(request, arm);
  if (!selected.ok())
    return selected.outcome();
  if (request.count == 0)
    return nullptr;
  const LoadedProgram &program = **selected;
  evict();
  const LayoutOptions layout = layoutFor(program, request, arm ? arm->shape.tile : int8_t{0});
  Result<std::unique_ptr<PreparedCall>> fresh =
      PreparedCall::prepare(program, site, request, {layout, sharingFrom(), nextId(program, layout.tile), isMapped});
  if (!fresh.ok())
    return fresh.outcome();
  PreparedCall &call = *calls.emplace_back(std::move(*fresh));
  if (options.adversarial)
    call.expectAdversary();
  if (timeline)
    call.record(*timeline);
  return &call;
}

/// Lets the ranks of this process enter the call. Returns the sharing that the placements of all ranks allow.
Result<Sharing> CallTable::enter(std::span<const Request> requests, uint64_t number, PreparedCall &call) {
  std::vector<Placement> placements(site.ranks());
  bool memory = true;
  Sharing sharing = Sharing::Either;
  for (uint32_t r = 0; r < site.ranks(); ++r) {
    if (Outcome outcome = call.place(r, requests[r]).moveTo(placements[r]); !outcome.ok())
      return outcome;
    memory &= call.hasMemoryFor(r, placements[r]);
    sharing = sharing & call.sharing(r, placements[r]);
  }
  if (!memory)
    if (Outcome outcome = call.reserve(); !outcome.ok())
      return outcome;
  for (const uint32_t r : site.ownRanks())
    call.enter(r, number, requests[r], placements[r]);
  return site.isWhole() ? sharing : Sharing::None; // processes do not know each other's new memory
}

Result<Entered> CallTable::begin(std::span<const Request> requests, uint64_t number,
                                 std::span<const PreparedCall *const> entered, std::optional<Arm> arm, bool isMapped) {
  retire(entered);
  if (Outcome outcome = checkRequests(requests); !outcome.ok())
    return outcome;
  const Request &request = requests[0];
  if (isEmpty(request))
    return Entered{};
  const Result<PreparedCall *> found = find(request, arm, isMapped);
  if (!found.ok())
    return found.outcome();
  if (!*found)
    return Entered{};
  PreparedCall &call = **found;
  const Result<Sharing> sharing = enter(requests, number, call);
  if (!options.adversarial)
    return sharing.ok() ? Result<Entered>(Entered{&call, *sharing}) : sharing.outcome();
  const Outcome outcome = sharing.ok() ? call.runAdversarial(number, *sharing, random.next()) : sharing.outcome();
  dropped = std::move(calls); // the next call chooses its own tile size
  calls.clear();
  if (!outcome.ok())
    return outcome;
  return Entered{};
}

} // namespace gc3::host
