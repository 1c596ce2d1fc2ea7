// SPDX-License-Identifier: Apache-2.0
#include "net/Exchanger.h"

#include "net/Dial.h"
#include "net/Interfaces.h"
#include "net/Reception.h"
#include "net/Station.h"

#include <algorithm>

namespace gc3::net {

using core::Outcome;

namespace {

/// Calls a function that may throw. Returns its outcome, or the exception as an error.
template <typename Function>
Outcome guard(Function function) {
  try {
    return function();
  } catch (const std::exception &exception) {
    return {gc3SystemError, std::string("online selection: ranks can't exchange times: ") + exception.what()};
  }
}

} // namespace

struct Exchanger::Parts {
  explicit Parts(const Identity &own) : station(own.rank, own.ranks) {}
  Outcome connect(const Identity &own, const Endpoint &hub, Clock::time_point deadline,
                  const CheckInterruption &checkInterruption);

  std::unique_ptr<Reception> reception; ///< from listen() to connect()
  Station station;
};

Exchanger::Exchanger(const Identity &identity) : identity(identity) {}

Exchanger::~Exchanger() = default;

core::Result<Endpoint> Exchanger::listen(std::string_view interfaces) {
  Endpoint endpoint;
  const Outcome outcome = guard([&] {
    parts = std::make_unique<Parts>(identity);
    parts->reception = std::make_unique<Reception>(identity.ranks);
    std::vector<InterfaceAddress> addresses = findAddresses();
    sortAddresses(addresses, interfaces);
    addresses.resize(std::min<size_t>(addresses.size(), Endpoint::mostAddresses));
    for (const InterfaceAddress &each : addresses)
      endpoint.addresses[endpoint.addressCount++] = each.address;
    endpoint.host = identity.host;
    return parts->reception->open(endpoint);
  });
  if (!outcome.ok())
    return outcome;
  return endpoint;
}

Outcome Exchanger::connect(const Endpoint &hub, std::chrono::milliseconds timeout,
                           const CheckInterruption &checkInterruption) {
  return guard([&] {
    if (identity.rank != 0)
      parts = std::make_unique<Parts>(identity);
    return parts->connect(identity, hub, Clock::now() + timeout, checkInterruption);
  });
}

Outcome Exchanger::Parts::connect(const Identity &own, const Endpoint &hub, Clock::time_point deadline,
                                  const CheckInterruption &checkInterruption) {
  if (own.rank != 0) {
    Dial dial(hub, own.rank, own.ranks, own.host);
    Outcome outcome = dial.connect(deadline, checkInterruption);
    if (outcome.ok())
      station.add(0, dial.moveSocket(station.socketContext()));
    return outcome;
  }
  Outcome outcome = reception->acceptAll(deadline, checkInterruption);
  for (uint32_t rank = 1; outcome.ok() && rank < own.ranks; ++rank)
    station.add(rank, reception->moveSocket(rank, station.socketContext()));
  reception.reset();
  return outcome;
}

Outcome Exchanger::start(ReadTimes readTimes, LookBack lookBack) {
  return guard([&] {
    parts->station.start(std::move(readTimes), std::move(lookBack));
    return Outcome{};
  });
}

void Exchanger::begin(const select::Message &message) {
  parts->station.mailbox.begin(message);
  parts->station.wake();
}

bool Exchanger::takeWithin(std::chrono::microseconds time, select::Exchange &result) {
  return parts->station.mailbox.takeWithin(time, result);
}

void Exchanger::hurry(uint64_t exchange) {
  if (parts->station.mailbox.hurry(exchange))
    parts->station.wake();
}

Outcome Exchanger::error() const {
  return parts ? parts->station.mailbox.error() : Outcome{};
}

void Exchanger::beginComparison() {
  if (parts->station.mailbox.beginComparison())
    parts->station.compare();
}

std::optional<std::string> Exchanger::comparison() const {
  return parts->station.mailbox.comparison();
}

void Exchanger::stop() {
  if (parts)
    parts->station.stop();
}

} // namespace gc3::net
