// SPDX-License-Identifier: Apache-2.0
#include "net/Exchanger.h"

#include "net/Dial.h"
#include "net/Interfaces.h"
#include "net/Proof.h"
#include "net/Reception.h"
#include "net/Station.h"

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
  Outcome acceptAll(const Identity &own, Clock::time_point deadline, const CheckInterruption &checkInterruption);

  /// Rank 0's open port, from listen() to connect().
  struct Door {
    asio::io_context context{1};
    Reception reception{context};
  };
  std::unique_ptr<Door> door;
  Token token{};
  Station station;
};

Exchanger::Exchanger(const Identity &identity) : identity(identity) {}

Exchanger::~Exchanger() = default;

core::Result<Endpoint> Exchanger::listen(std::string_view interfaces) {
  Endpoint endpoint;
  const Outcome outcome = guard([&] {
    parts = std::make_unique<Parts>(identity);
    parts->door = std::make_unique<Parts::Door>();
    endpoint = describeThisMachine(identity.host, interfaces);
    fillRandomly(std::as_writable_bytes(std::span(endpoint.token)));
    parts->token = endpoint.token;
    Outcome opened = parts->door->reception.open(0, 1);
    if (opened.ok())
      endpoint.port = parts->door->reception.port();
    return opened;
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
  if (own.rank == 0)
    return acceptAll(own, deadline, checkInterruption);
  Dial dial(targetsOf(hub, own.host), Key(hub.token, own.secret), own.rank, own.ranks, targetAdvice);
  Outcome outcome = dial.connect(deadline, checkInterruption);
  if (outcome.ok())
    station.add(0, dial.moveSocket(station.socketContext()));
  else if (outcome.code == gc3Timeout)
    outcome.text =
        "online selection: rank " + std::to_string(own.rank) + " did not reach rank 0 in time" + outcome.text;
  return outcome;
}

Outcome Exchanger::Parts::acceptAll(const Identity &own, Clock::time_point deadline,
                                    const CheckInterruption &checkInterruption) {
  Reception &reception = door->reception;
  reception.start(Key(token, own.secret), own.ranks, [this](uint32_t rank, Tcp::socket socket) {
    station.add(rank, moveTo(station.socketContext(), socket));
  });
  Outcome outcome = runUntil(
      door->context, [&] { return reception.isComplete(); }, deadline, checkInterruption);
  if (outcome.code == gc3Timeout && outcome.text.empty())
    outcome.text = "online selection: " + reception.describeMissing();
  door.reset();
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
