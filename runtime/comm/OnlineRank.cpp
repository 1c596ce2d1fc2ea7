// SPDX-License-Identifier: Apache-2.0
#include "comm/OnlineRank.h"

#include "core/LearnedTimes.h"

#include <algorithm>
#include <utility>

namespace gc3::comm {

using core::Outcome;

namespace {

constexpr uint8_t inPlaceFlag = 1, sharedFlag = 2, costlyFlag = 4;
constexpr uint32_t mostTimed = 256; ///< calls that are timed at once

/// Returns whether each rank needs data of every other rank. Then the call takes the time of the last rank to arrive,
/// which the other ranks' times include.
bool needsAllRanks(const core::Request &request) {
  const common::StandardCollective *standard = common::findStandard(request.name);
  return standard && !standard->hasRoot();
}

core::TuneOptions optionsOf(core::TuneOptions options, uint32_t rank) {
  options.logsChanges = rank == 0;
  return options;
}

} // namespace

OnlineRank::OnlineRank(const cuda::Cuda &cuda, ProgramTable &table, Terms terms, const cuda::InFlight &inFlight,
                       std::unique_ptr<net::Exchanger> connected)
    : options(optionsOf(terms.options, terms.rank)), rank(terms.rank),
      selection(table, options, terms.shape, std::move(terms.earlier), table.shapes()), cuda(cuda), callTimes(cuda),
      inFlight(inFlight), exchanger(std::move(connected)) {}

OnlineRank::~OnlineRank() {
  stop();
}

void OnlineRank::stop() {
  if (exchanger)
    exchanger->stop();
}

Outcome OnlineRank::start() {
  if (!exchanger)
    return {};
  if (Outcome outcome = cuda::outcomeOf(cuda, cuda.getDevice(&device), "querying the current device"); !outcome.ok())
    return outcome;
  if (Outcome outcome = callTimes.prepare(mostTimed); !outcome.ok())
    return outcome;
  if (Outcome outcome = callTimes.prepareKernels(); !outcome.ok())
    return outcome;
  return exchanger->start([this](select::Message &message) { return readTimes(message); },
                          [this](uint64_t asked) { return lookBack(asked); });
}

OnlineRank::Kind OnlineRank::find(const core::Request &request) {
  std::lock_guard lock(mutex);
  return selection.find(request);
}

/// Reads the exchanger's error before it takes results, because a result can arrive before the error.
core::Result<bool> OnlineRank::mustWait() {
  if (!exchanger)
    return false;
  std::lock_guard lock(mutex);
  const Outcome error = exchanger->error();
  for (select::Exchange ended; exchanger->take(ended);)
    schedule.end(std::move(ended));
  while (schedule.isDue()) {
    if (!schedule.hasEnded()) {
      exchanger->hurry(schedule.dueExchange());
      return error.ok() ? core::Result<bool>(true) : error;
    }
    if (!schedule.error().empty())
      return Outcome{gc3InvalidUsage, schedule.error()};
    schedule.apply([this](const select::Call &call, float sample, uint8_t flagsOfAll) {
      const auto isSet = [&](uint8_t flag) { return (flagsOfAll & flag) != 0; };
      if (call.isTimed)
        selection.add(call, sample, core::CallConditions::of(isSet(inPlaceFlag), isSet(sharedFlag)),
                      isSet(costlyFlag) ? select::Timing::Costly : select::Timing::Cheap);
    });
  }
  return false;
}

core::Arm OnlineRank::choose(const Kind &kind, const core::Request &request) {
  std::lock_guard lock(mutex);
  const select::Call call = selection.choose(kind);
  if (!exchanger)
    return selection.armOf(call);
  const uint64_t number = schedule.nextCall();
  timedCall = call.isTimed ? std::optional(number) : std::nullopt;
  flags[number % flags.size()] = flagsOf(call, request);
  if (schedule.record(call))
    beginExchange();
  return selection.armOf(call);
}

/// Only the conditions of timed calls count.
uint8_t OnlineRank::flagsOf(const select::Call &call, const core::Request &request) const {
  return static_cast<uint8_t>((core::isInPlace(request, rank) ? inPlaceFlag : 0) |
                              (call.isTimed && inFlight.areOthers() ? sharedFlag : 0) |
                              (needsAllRanks(request) ? 0 : select::longestFlag));
}

void OnlineRank::beginExchange() {
  select::Message message = schedule.begin(selection.digest());
  for (uint32_t i = 0; i < message.count; ++i)
    message.flags[i] = flags[(message.call - message.count + i) % flags.size()];
  exchanger->begin(message);
}

/// Runs on the exchanger's thread, and sets its device. Otherwise, CUDA would make a context on device 0. Calls end in
/// their order, so the first unknown time ends the search.
bool OnlineRank::readTimes(select::Message &message) {
  if (!std::exchange(isOnDevice, true))
    cuda.setDevice(device);
  const uint64_t first = message.call - message.count;
  callTimes.forget(first);
  std::fill(message.times.begin(), message.times.end(), select::noTime);
  for (uint32_t i = 0; i < message.count; ++i) {
    const std::optional<cuda::CallTimes::Time> time = callTimes.find(first + i);
    if (!time)
      return false;
    message.times[i] = time->microseconds;
    if (time->byEvents)
      message.flags[i] |= costlyFlag;
  }
  return true;
}

/// Runs on the exchanger's thread.
net::Answer OnlineRank::lookBack(uint64_t asked) {
  std::lock_guard lock(mutex);
  const std::optional<uint64_t> choices = schedule.lookBack(asked);
  return choices ? net::Answer{asked, schedule.nextCall(), *choices} : net::Answer{asked, 0, 0};
}

void OnlineRank::beginComparison() {
  if (exchanger)
    exchanger->beginComparison();
}

std::optional<std::string> OnlineRank::comparison() const {
  return exchanger ? exchanger->comparison() : std::string();
}

core::Arm OnlineRank::favourite(const Kind &kind) {
  std::lock_guard lock(mutex);
  return selection.favourite(kind);
}

void OnlineRank::exclude(uint32_t program) {
  std::lock_guard lock(mutex);
  selection.exclude(program);
}

core::OnlineSelection::Counters OnlineRank::counters() {
  std::lock_guard lock(mutex);
  return selection.counters();
}

select::TuneFile OnlineRank::learned() {
  std::lock_guard lock(mutex);
  return selection.learned();
}

Outcome OnlineRank::save(const char *path) {
  return core::saveLearned(options, path, learned());
}

void OnlineRank::saveAtEnd() noexcept {
  if (rank == 0)
    core::saveLearnedAtEnd(options, [this] { return learned(); });
}

} // namespace gc3::comm
