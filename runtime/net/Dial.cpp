// SPDX-License-Identifier: Apache-2.0
#include "net/Dial.h"

#include <algorithm>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

namespace gc3::net {

using core::Outcome;

namespace {

using std::chrono::milliseconds;

/// From the begin of one attempt to the next, if neither an answer nor an error arrives.
constexpr milliseconds patience(250);
/// From an error to the next try of the same endpoint. The time doubles from try to try.
constexpr milliseconds firstPause(20), longestPause(1000);

/// Returns whether an error of a connection attempt is a lack of this process's resources.
bool lacksResources(asio::error_code error) {
  return error == asio::error::no_descriptors || error == asio::error::no_memory ||
         error == asio::error::no_buffer_space || error == std::errc::too_many_files_open_in_system;
}

/// Consecutive ports of an address with one error.
struct FailedPorts {
  asio::ip::address address;
  std::string error;
  uint32_t firstPort = 0, lastPort = 0;
};

void addTo(std::vector<FailedPorts> &failures, FailedPorts one) {
  const auto same = std::ranges::find_if(failures, [&](const FailedPorts &other) {
    return other.address == one.address && other.error == one.error && other.lastPort + 1 == one.firstPort;
  });
  if (same == failures.end())
    failures.push_back(std::move(one));
  else
    same->lastPort = one.lastPort;
}

/// Returns a text such as "10.0.0.1:4000 (Connection refused)".
std::string describe(const FailedPorts &failure) {
  const std::string address = failure.address.to_string();
  return (failure.address.is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(failure.firstPort) +
         (failure.firstPort == failure.lastPort ? "" : "-" + std::to_string(failure.lastPort)) + " (" + failure.error +
         ")";
}

constexpr Address loopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};

} // namespace

std::vector<Tcp::endpoint> targetsOf(const Endpoint &rank0, uint64_t host) {
  const auto port = static_cast<uint16_t>(rank0.port);
  std::vector<Tcp::endpoint> targets;
  if (host != 0 && host == rank0.host)
    targets.emplace_back(toAsio(loopback), port);
  for (uint32_t i = 0; i < std::min(rank0.addressCount, Endpoint::mostAddresses); ++i)
    targets.emplace_back(toAsio(rank0.addresses[i]), port);
  return targets;
}

struct Dial::Attempt {
  enum class Reached : uint8_t {
    Nothing, ///< the network has no way to the endpoint, or its machine refuses the connection
    System,  ///< this machine can't try it
    Program, ///< a program, which may be rank 0
  };

  Attempt(asio::io_context &context, size_t index, const Tcp::endpoint &endpoint)
      : index(index), endpoint(endpoint), socket(context), timer(context) {}
  const size_t index;
  const Tcp::endpoint endpoint;
  Tcp::socket socket;
  asio::steady_timer timer;
  milliseconds pause = firstPause;
  bool hasBegun = false;
  Greeting own; ///< the next one to send, or the last one
  GreetingBytes bytes{};
  Reached reached = Reached::Nothing;
  std::string error = "no answer";
};

Dial::Dial(const std::vector<Tcp::endpoint> &targets, const Key &key, uint32_t rank, uint32_t ranks, std::string advice)
    : key(key), rank(rank), ranks(ranks), advice(std::move(advice)) {
  for (const Tcp::endpoint &target : targets)
    attempts.push_back(std::make_unique<Attempt>(context, attempts.size(), target));
}

Dial::~Dial() = default;

Outcome Dial::connect(Clock::time_point deadline, const std::function<Outcome()> &checkInterruption) {
  begin(0);
  Outcome outcome = runUntil(
      context, [this] { return isConnected; }, deadline, checkInterruption);
  const bool isUnreachable =
      std::ranges::all_of(attempts, [](const auto &attempt) { return attempt->reached == Attempt::Reached::Nothing; });
  if (outcome.code == gc3Timeout && outcome.text.empty())
    outcome.text = listErrors() + (isUnreachable ? advice : "");
  return outcome;
}

Tcp::socket Dial::moveSocket(asio::io_context &to) {
  return moveTo(to, chosen->socket);
}

/// Lists the endpoints with their errors; if programs have answered, only theirs. Consecutive ports of an address with
/// one error become a range.
std::string Dial::listErrors() const {
  const auto isAnswered = [](const auto &attempt) { return attempt->reached == Attempt::Reached::Program; };
  const bool isAnyAnswered = std::ranges::any_of(attempts, isAnswered);
  std::vector<FailedPorts> failures;
  for (const auto &attempt : attempts)
    if (!isAnyAnswered || isAnswered(attempt))
      addTo(failures,
            {attempt->endpoint.address(), attempt->error, attempt->endpoint.port(), attempt->endpoint.port()});
  std::string text;
  for (const FailedPorts &failure : failures)
    text += (text.empty() ? ": " : ", ") + describe(failure);
  return text.empty() ? ", because its machine has no address" : text;
}

/// Begins an attempt, unless it has begun or there are no more addresses. The next one begins after an error, or after
/// some time without an answer.
void Dial::begin(size_t index) {
  if (index >= attempts.size() || attempts[index]->hasBegun)
    return;
  attempts[index]->hasBegun = true;
  connectTo(*attempts[index]);
  if (index + 1 == attempts.size())
    return;
  asio::steady_timer &timer = attempts[index + 1]->timer;
  timer.expires_after(patience);
  timer.async_wait([this, index](asio::error_code error) {
    if (!error && !chosen)
      begin(index + 1);
  });
}

void Dial::connectTo(Attempt &attempt) {
  attempt.socket.async_connect(attempt.endpoint, [this, &attempt](asio::error_code error) {
    if (error) {
      attempt.reached = lacksResources(error) ? Attempt::Reached::System : Attempt::Reached::Nothing;
      return retry(attempt, error.message());
    }
    noteProgram(attempt);
    prepare(attempt.socket);
    sendHello(attempt);
  });
}

/// Notes that a program accepts connections. It may have said more in an earlier connection.
void Dial::noteProgram(Attempt &attempt) {
  if (attempt.reached == Attempt::Reached::Program)
    return;
  attempt.reached = Attempt::Reached::Program;
  attempt.error = "no answer";
}

void Dial::sendHello(Attempt &attempt) {
  attempt.own = Greeting{};
  attempt.own.rank = rank;
  attempt.own.ranks = ranks;
  attempt.own.tag = key.tag();
  attempt.own.nonce = makeNonce();
  attempt.bytes = writeGreeting(attempt.own);
  asio::async_write(attempt.socket, asio::buffer(attempt.bytes), [this, &attempt](asio::error_code error, size_t) {
    if (error)
      return retry(attempt, error.message());
    readAcknowledgement(attempt);
  });
}

void Dial::readAcknowledgement(Attempt &attempt) {
  asio::async_read(attempt.socket, asio::buffer(attempt.bytes), [this, &attempt](asio::error_code error, size_t) {
    if (error)
      return retry(attempt,
                   error == asio::error::eof ? "another program answers, or ends the connection" : error.message());
    handleAcknowledgement(attempt);
  });
}

void Dial::handleAcknowledgement(Attempt &attempt) {
  const std::optional<Greeting> greeting = readGreeting(attempt.bytes);
  if (!greeting || greeting->tag != key.tag())
    return retry(attempt, "another program answers");
  if (greeting->version != Greeting::currentVersion)
    return retry(attempt, "rank 0 " + describeDifference(Greeting::Reason::OtherVersion, *greeting, attempt.own));
  if (greeting->kind == Greeting::Kind::Refusal)
    return retry(attempt, "rank 0 " + describeDifference(greeting->reason, *greeting, attempt.own));
  if (greeting->kind != Greeting::Kind::Acknowledgement)
    return retry(attempt, "another program answers");
  const Key::Statement statement{Key::Side::Rank0, rank, ranks, attempt.own.nonce, greeting->nonce};
  if (!key.isProven(statement, greeting->proof))
    return refuse(attempt, Greeting::Reason::OtherSecret, *greeting);
  if (chosen)
    return;
  attempt.own.proof = key.prove({Key::Side::Other, rank, ranks, attempt.own.nonce, greeting->nonce});
  confirm(attempt);
}

void Dial::confirm(Attempt &attempt) {
  chosen = &attempt;
  attempt.own.kind = Greeting::Kind::Confirmation;
  attempt.bytes = writeGreeting(attempt.own);
  asio::async_write(attempt.socket, asio::buffer(attempt.bytes), [this, &attempt](asio::error_code error, size_t) {
    isConnected = !error;
    if (!error)
      return;
    chosen = nullptr;
    retry(attempt, error.message());
  });
}

/// Sends the reason to rank 0, so that its error also names it.
void Dial::refuse(Attempt &attempt, Greeting::Reason reason, const Greeting &other) {
  const std::string text = "rank 0 " + describeDifference(reason, other, attempt.own);
  attempt.own.kind = Greeting::Kind::Refusal;
  attempt.own.reason = reason;
  attempt.bytes = writeGreeting(attempt.own);
  asio::async_write(attempt.socket, asio::buffer(attempt.bytes),
                    [this, &attempt, text](asio::error_code, size_t) { retry(attempt, text); });
}

void Dial::retry(Attempt &attempt, const std::string &error) {
  asio::error_code ignored;
  attempt.socket.close(ignored);
  attempt.error = error;
  attempt.timer.expires_after(attempt.pause);
  attempt.pause = std::min(2 * attempt.pause, longestPause);
  attempt.timer.async_wait([this, &attempt](asio::error_code cancelled) {
    if (!cancelled && !chosen)
      connectTo(attempt);
  });
  begin(attempt.index + 1);
}

} // namespace gc3::net
