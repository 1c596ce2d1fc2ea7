// SPDX-License-Identifier: Apache-2.0
#include "net/Dial.h"

#include <algorithm>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <set>

namespace gc3::net {

using core::Outcome;

namespace {

using std::chrono::milliseconds;

/// From the begin of one attempt to the next, if neither an answer nor an error arrives.
constexpr milliseconds patience(250);
/// From an error to the next try of the same endpoint. The time doubles from try to try.
constexpr milliseconds firstPause(20), longestPause(1000);

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
  std::string error = "no answer";
};

Dial::Dial(std::vector<Tcp::endpoint> targets, const Key &key, uint32_t rank, uint32_t ranks)
    : key(key), rank(rank), ranks(ranks) {
  for (const Tcp::endpoint &target : targets)
    attempts.push_back(std::make_unique<Attempt>(context, attempts.size(), target));
}

Dial::~Dial() = default;

Outcome Dial::connect(Clock::time_point deadline, const std::function<Outcome()> &checkInterruption) {
  begin(0);
  Outcome outcome = runUntil(
      context, [this] { return isConnected; }, deadline, checkInterruption);
  if (outcome.code == gc3Timeout && outcome.text.empty())
    outcome.text = listErrors() + "; NCCL_SOCKET_IFNAME can name the network interface";
  return outcome;
}

Tcp::socket Dial::moveSocket(asio::io_context &to) {
  return moveTo(to, chosen->socket);
}

/// Lists each address once with each of its errors: it can have several ports.
std::string Dial::listErrors() const {
  std::string text;
  std::set<std::string> listed;
  for (const auto &attempt : attempts)
    if (const std::string line = attempt->endpoint.address().to_string() + " (" + attempt->error + ")";
        listed.insert(line).second)
      text += (text.empty() ? ": " : ", ") + line;
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
    if (error)
      return retry(attempt, error.message());
    prepare(attempt.socket);
    sendHello(attempt);
  });
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
