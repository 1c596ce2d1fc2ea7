// SPDX-License-Identifier: Apache-2.0
// gc3HostCommInitAll and what communicators say about themselves.
#include "api/Handles.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

using namespace gc3;
using host::Outcome;

/// As many as the language has: each costs memory before anything is known of a program.
static constexpr int mostRanks = 65536;

/// GC3_TIMEOUT_MS, or the default where it is unset or no number.
static uint32_t environmentTimeout() {
  constexpr uint32_t defaultTimeout = 60000;
  const char *text = std::getenv("GC3_TIMEOUT_MS");
  if (!text)
    return defaultTimeout;
  char *end = nullptr;
  unsigned long value = std::strtoul(text, &end, 10);
  return *text && !*end && value > 0 && value <= UINT32_MAX ? static_cast<uint32_t>(value) : defaultTimeout;
}

/// GC3_ALLOW_UNPROVEN: set to anything but 0.
static bool environmentAllowsUnproven() {
  const char *text = std::getenv("GC3_ALLOW_UNPROVEN");
  return text && *text && std::strcmp(text, "0") != 0;
}

/// Whether the collective promises anything of the program's output.
static Outcome promises(const bundle::BundleFile &file, uint32_t program, bool &anything) {
  bundle::CheckView view;
  if (bundle::BundleStatus status = file.check(program, view); !status.ok())
    return host::toOutcome(status);
  anything = std::any_of(view.rows.begin(), view.rows.end(), [](uint32_t value) { return value != 0; });
  return {};
}

/// Whether programs for so many ranks were proven to be well-formed, to end, to have no races, and to compute what
/// their collective promises, if it promises anything.
static Outcome checkProofs(const bundle::BundleFile &file, uint32_t ranks) {
  constexpr uint32_t always = 0b1011; // structure, no deadlock, no races (Bundle.fbs)
  constexpr uint32_t postcondition = 0b100;
  for (uint32_t i = 0; i != file.programCount(); ++i) {
    uint32_t verified = file.program(i).verified();
    if (file.program(i).ranks() != ranks)
      continue;
    bool proven = (verified & always) == always;
    if (proven && !(verified & postcondition)) {
      bool anything = false;
      if (Outcome outcome = promises(file, i, anything); !outcome.ok())
        return outcome;
      proven = !anything;
    }
    if (!proven)
      return {gc3BundleUnproven, "program '" + file.program(i).name()->str() +
                                     "' was compiled without verification, so it could hang or give wrong results; "
                                     "compile it without --verify=off, or set GC3_ALLOW_UNPROVEN=1"};
  }
  return {};
}

extern "C" gc3Result_t gc3HostCommInitAll(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle,
                                          const gc3HostConfig_t *config) {
  return api::guarded(nullptr, [&]() -> Outcome {
    if (!comms || !bundle)
      return {gc3InvalidArgument, "comms or bundle is null"};
    if (nranks < 1 || nranks > mostRanks)
      return {gc3InvalidArgument, std::to_string(nranks) + " ranks; there can be 1 to " + std::to_string(mostRanks)};
    gc3HostConfig_t chosen = GC3_HOST_CONFIG_INITIALIZER;
    if (config) {
      if (config->size == 0 || config->size > sizeof chosen)
        return {gc3InvalidArgument,
                "the config was not initialised with GC3_HOST_CONFIG_INITIALIZER or is of a newer gc3"};
      std::memcpy(&chosen, config,
                  config->size); // a caller of an older gc3 knows fewer fields; the others keep their defaults
    }
    if (chosen.order != gc3OrderFair && chosen.order != gc3OrderAdversarial)
      return {gc3InvalidArgument, "unknown order " + std::to_string(static_cast<int>(chosen.order))};
    if (!chosen.allowUnproven && !environmentAllowsUnproven())
      if (Outcome outcome = checkProofs(*bundle->file, static_cast<uint32_t>(nranks)); !outcome.ok())
        return outcome;
    api::WorldOptions options;
    options.call = {{chosen.slots, chosen.slotBytes, chosen.tileElements},
                    chosen.workers,
                    chosen.order == gc3OrderAdversarial,
                    chosen.seed};
    options.timeoutMs = chosen.timeoutMs ? chosen.timeoutMs : environmentTimeout();
    auto world = std::make_shared<api::World>(bundle->file, static_cast<uint32_t>(nranks), options);
    std::vector<std::unique_ptr<gc3Comm>> made;
    for (int r = 0; r < nranks; ++r)
      made.emplace_back(new gc3Comm{world, static_cast<uint32_t>(r), {}});
    for (int r = 0; r < nranks; ++r)
      comms[r] = made[static_cast<size_t>(r)].release();
    return {};
  });
}

extern "C" gc3Result_t gc3CommDestroy(gc3Comm_t comm) {
  delete comm;
  return gc3Success;
}

extern "C" gc3Result_t gc3CommCount(gc3Comm_t comm, int *count) {
  if (!comm || !count)
    return api::report(comm, gc3InvalidArgument, "comm or count is null");
  *count = static_cast<int>(comm->world->ranks());
  return gc3Success;
}

extern "C" gc3Result_t gc3CommUserRank(gc3Comm_t comm, int *rank) {
  if (!comm || !rank)
    return api::report(comm, gc3InvalidArgument, "comm or rank is null");
  *rank = static_cast<int>(comm->rank);
  return gc3Success;
}
