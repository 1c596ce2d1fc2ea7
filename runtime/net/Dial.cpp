// SPDX-License-Identifier: Apache-2.0
#include "net/Dial.h"

#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

namespace gc3::net {

using core::Outcome;

namespace {

/// From one attempt to the next, and from an error to the next try of the same address.
constexpr std::chrono::milliseconds patience(250);

constexpr Address loopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};

} // namespace

struct Dial::Attempt {
  Attempt(asio::io_context &context, size_t index, const Address &address, uint32_t port)
      : index(index), endpoint(toAsio(address), static_cast<uint16_t>(port)), socket(context), timer(context) {}
  const size_t index;
  const Tcp::endpoint endpoint;
  Tcp::socket socket;
  asio::steady_timer timer;
  bool hasBegun = false;
  GreetingBytes bytes{};
  std::string error = "no answer";
};

Dial::Dial(const Endpoint &hub, uint32_t rank, uint32_t ranks, uint64_t host) : hub(hub), rank(rank), ranks(ranks) {
  if (host != 0 && host == hub.host)
    attempts.push_back(std::make_unique<Attempt>(context, 0, loopback, hub.port));
  for (uint32_t i = 0; i < std::min(hub.addressCount, Endpoint::mostAddresses); ++i)
    attempts.push_back(std::make_unique<Attempt>(context, attempts.size(), hub.addresses[i], hub.port));
}

Dial::~Dial() = default;

Outcome Dial::connect(Clock::time_point deadline, const std::function<Outcome()> &checkInterruption) {
  begin(0);
  Outcome outcome = runUntil(
      context, [this] { return isConnected; }, deadline, checkInterruption);
  if (outcome.code == gc3Timeout && outcome.text.empty())
    outcome.text = "online selection: rank " + std::to_string(rank) + " did not reach rank 0 in time" + listErrors() +
                   "; NCCL_SOCKET_IFNAME can name the network interface";
  return outcome;
}

Tcp::socket Dial::moveSocket(asio::io_context &to) {
  return moveTo(to, chosen->socket);
}

std::string Dial::listErrors() const {
  std::string text;
  for (const auto &attempt : attempts)
    text += (text.empty() ? ": " : ", ") + attempt->endpoint.address().to_string() + " (" + attempt->error + ")";
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
  attempt.bytes = writeGreeting({Greeting::Kind::Hello, rank, ranks, hub.token[0]});
  asio::async_write(attempt.socket, asio::buffer(attempt.bytes), [this, &attempt](asio::error_code error, size_t) {
    if (error)
      return retry(attempt, error.message());
    readAcknowledgement(attempt);
  });
}

void Dial::readAcknowledgement(Attempt &attempt) {
  asio::async_read(attempt.socket, asio::buffer(attempt.bytes), [this, &attempt](asio::error_code error, size_t) {
    if (error)
      return retry(attempt, error.message());
    const std::optional<Greeting> greeting = readGreeting(attempt.bytes);
    if (!greeting || greeting->kind != Greeting::Kind::Acknowledgement || greeting->proof != hub.token[1])
      return retry(attempt, "another program answers");
    if (!chosen)
      confirm(attempt);
  });
}

void Dial::confirm(Attempt &attempt) {
  chosen = &attempt;
  attempt.bytes = writeGreeting({Greeting::Kind::Confirmation, rank, ranks, hub.token[0]});
  asio::async_write(attempt.socket, asio::buffer(attempt.bytes), [this, &attempt](asio::error_code error, size_t) {
    isConnected = !error;
    if (!error)
      return;
    chosen = nullptr;
    retry(attempt, error.message());
  });
}

void Dial::retry(Attempt &attempt, const std::string &error) {
  asio::error_code ignored;
  attempt.socket.close(ignored);
  attempt.error = error;
  attempt.timer.expires_after(patience);
  attempt.timer.async_wait([this, &attempt](asio::error_code cancelled) {
    if (!cancelled && !chosen)
      connectTo(attempt);
  });
  begin(attempt.index + 1);
}

} // namespace gc3::net
