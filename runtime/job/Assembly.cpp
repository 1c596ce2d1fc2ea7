// SPDX-License-Identifier: Apache-2.0
#include "job/Assembly.h"

#include "job/Resolve.h"
#include "job/Service.h"
#include "net/Dial.h"
#include "net/Interfaces.h"

#include <algorithm>

namespace gc3::job {

using core::Outcome;

namespace {

using Joined = core::Result<std::unique_ptr<Assembly>>;

/// Calls a function that may throw. Returns its result, or the exception as an error.
template <typename Function>
auto guard(Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception &exception) {
    return Outcome{gc3SystemError, std::string("ranks can't join: ") + exception.what()};
  }
}

Outcome check(const Member &member) {
  if (member.ranks >= 1 && member.rank < member.ranks)
    return {};
  return {gc3InvalidArgument, "rank " + std::to_string(member.rank) + " is out of range; there are " +
                                  std::to_string(member.ranks) + " ranks"};
}

} // namespace

struct Listener::Parts {
  std::shared_ptr<asio::io_context> context = std::make_shared<asio::io_context>(1);
  net::Reception reception{*context};
  net::Endpoint endpoint;
};

struct Assembly::Parts {
  static Joined accept(std::unique_ptr<Listener::Parts> listener, const Member &member, const Wait &wait);
  static Joined dial(net::Dial &&dial, const Member &member, const Wait &wait);
  static Joined exchangeIdentities(std::unique_ptr<Assembly> assembly, const Wait &wait);

  std::unique_ptr<Listener::Parts> listener; ///< only of rank 0
  Service service;
};

Listener::Listener(std::unique_ptr<Parts> parts) : parts(std::move(parts)) {}

Listener::~Listener() = default;

const net::Endpoint &Listener::endpoint() const {
  return parts->endpoint;
}

core::Result<std::unique_ptr<Listener>> Listener::open(std::string_view interfaces) {
  return guard([&]() -> core::Result<std::unique_ptr<Listener>> {
    auto made = std::make_unique<Parts>();
    if (Outcome outcome = made->reception.open(0, 1); !outcome.ok())
      return outcome;
    made->endpoint = net::describeThisMachine(identifyThisProcess().host, interfaces);
    made->endpoint.port = made->reception.port();
    net::fillRandomly(std::as_writable_bytes(std::span(made->endpoint.token)));
    return std::unique_ptr<Listener>(new Listener(std::move(made)));
  });
}

core::Result<std::unique_ptr<Listener>> Listener::open(const Launch &launch) {
  return guard([&]() -> core::Result<std::unique_ptr<Listener>> {
    auto made = std::make_unique<Parts>();
    if (Outcome outcome = made->reception.open(launch.firstPort, Launch::portCount, launch.rootHost); !outcome.ok())
      return outcome;
    made->endpoint.port = made->reception.port();
    made->endpoint.token = net::tokenOf(launch.key);
    return std::unique_ptr<Listener>(new Listener(std::move(made)));
  });
}

Assembly::Assembly(const Member &member) : board(member.ranks), known(member.ranks, member.identity), member(member) {}

Assembly::~Assembly() = default;

Joined Assembly::Parts::accept(std::unique_ptr<Listener::Parts> listener, const Member &member, const Wait &wait) {
  std::unique_ptr<Assembly> assembly(new Assembly(member));
  net::Reception &reception = listener->reception;
  const net::Key key(listener->endpoint.token, member.secret);
  const auto context = listener->context;
  assembly->parts.reset(new Parts{std::move(listener), {0, member.identity, assembly->board, context, &reception}});
  assembly->parts->service.accept(key);
  assembly->parts->service.start();
  return exchangeIdentities(std::move(assembly), wait);
}

Joined Assembly::Parts::dial(net::Dial &&dial, const Member &member, const Wait &wait) {
  Outcome outcome = dial.connect(wait.deadline, wait.limits.checkInterruption);
  if (outcome.code == gc3Timeout)
    outcome.text = "rank " + std::to_string(member.rank) + " did not reach rank 0 within " +
                   std::to_string(wait.limits.timeout.count()) + " ms" + outcome.text;
  if (!outcome.ok())
    return outcome;
  std::unique_ptr<Assembly> assembly(new Assembly(member));
  const auto context = std::make_shared<asio::io_context>(1);
  assembly->parts.reset(new Parts{nullptr, {member.rank, member.identity, assembly->board, context, nullptr}});
  assembly->parts->service.add(0, dial.moveSocket(*context));
  assembly->parts->service.start();
  return exchangeIdentities(std::move(assembly), wait);
}

Joined Assembly::Parts::exchangeIdentities(std::unique_ptr<Assembly> assembly, const Wait &wait) {
  const core::Result<Gathered> all = assembly->parts->service.gather(writeIdentity(assembly->member.identity), wait);
  if (!all.ok())
    return all.outcome();
  for (uint32_t rank = 0; rank < assembly->ranks(); ++rank)
    assembly->known[rank] = *readIdentity((*all)[rank]); // the service has checked it
  return assembly;
}

Joined Assembly::lead(std::unique_ptr<Listener> listener, const Member &member, const Wait &wait) {
  if (Outcome outcome = check(member); !outcome.ok())
    return outcome;
  return guard([&]() -> Joined {
    if (member.ranks == 1)
      return std::unique_ptr<Assembly>(new Assembly(member));
    return Parts::accept(std::move(listener->parts), member, wait);
  });
}

Joined Assembly::join(const net::Endpoint &rank0, const Member &member, const Wait &wait) {
  if (Outcome outcome = check(member); !outcome.ok())
    return outcome;
  return guard([&] {
    const net::Key key(rank0.token, member.secret);
    return Parts::dial({net::targetsOf(rank0, member.identity.host), key, member.rank, member.ranks, net::targetAdvice},
                       member, wait);
  });
}

Joined Assembly::join(const Launch &launch, const Member &other, const Wait &wait) {
  Member member = other;
  member.rank = launch.rank;
  member.ranks = launch.ranks;
  if (launch.rank == 0) {
    core::Result<std::unique_ptr<Listener>> listener = Listener::open(launch);
    return listener.ok() ? lead(std::move(*listener), member, wait) : Joined(listener.outcome());
  }
  if (Outcome outcome = check(member); !outcome.ok())
    return outcome;
  return guard([&]() -> Joined {
    core::Result<std::vector<net::Tcp::endpoint>> targets = resolve(launch, wait);
    if (!targets.ok())
      return targets.outcome();
    const net::Key key(net::tokenOf(launch.key), member.secret);
    return Parts::dial({*targets, key, member.rank, member.ranks}, member, wait);
  });
}

core::Result<Assembly::Gathered> Assembly::gather(Bytes own, const Wait &wait) {
  if (own.size() > mostGatherBytes)
    return Outcome{gc3InvalidArgument, "a gather of " + std::to_string(own.size()) +
                                           " bytes of a rank exceeds the limit of " + std::to_string(mostGatherBytes)};
  return guard([&]() -> core::Result<Gathered> {
    if (!parts)
      return Gathered{{own.begin(), own.end()}};
    return parts->service.gather(own, wait);
  });
}

const Loss *Assembly::waitForLoss(std::chrono::milliseconds time) {
  return parts ? parts->service.waitForLoss(time) : loss();
}

void Assembly::report(const Outcome &error) {
  (void)guard([&] {
    if (parts)
      parts->service.report(error);
    else
      board.add({0, Loss::Kind::Failed, error.text});
    return Outcome{};
  });
}

void Assembly::leave(std::chrono::milliseconds linger) {
  if (parts)
    parts->service.leave(linger);
}

} // namespace gc3::job
