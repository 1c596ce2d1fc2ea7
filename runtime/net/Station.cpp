// SPDX-License-Identifier: Apache-2.0
#include "net/Station.h"

#include "net/BlockedSignals.h"

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>

namespace gc3::net {

namespace {

/// Limit on the time of stop().
constexpr std::chrono::seconds longestStop(1);

Link::Sendable makeSendable(const Frame &frame) {
  return std::make_shared<const std::vector<uint8_t>>(writeFrame(frame));
}

} // namespace

void Station::add(uint32_t otherRank, Tcp::socket socket) {
  links.push_back(std::make_unique<Link>(
      std::move(socket), [this, otherRank](Frame &frame) { return handle(otherRank, frame); },
      [this, otherRank](const std::string &reason) { handleEnd(otherRank, reason); }));
}

void Station::start(Outbox::ReadTimes readTimes, LookBack ownLookBack) {
  lookBack = std::move(ownLookBack);
  outbox.emplace(context, mailbox, std::move(readTimes),
                 [this](uint64_t exchange, const select::Message &message) { send(exchange, message); });
  for (const auto &link : links)
    link->start();
  const BlockedSignals blocked;
  thread = std::thread([this] { run(); });
}

void Station::run() noexcept {
  try {
    const auto work = asio::make_work_guard(context); // finish() stops the context
    context.run();
  } catch (const std::exception &exception) {
    mailbox.fail(std::string("online selection: the exchange of times fails: ") + exception.what());
    links.clear(); // so that other ranks do not wait
  }
}

void Station::wake() {
  if (isWoken.exchange(true))
    return;
  asio::post(context, [this] {
    isWoken = false;
    outbox->sendReady();
    spreadHurry();
  });
}

void Station::compare() {
  asio::post(context, [this] {
    if (isHub)
      beginSearch();
    else
      links[0]->send(makeSendable({0, Compare{}}));
  });
}

/// A search needs all ranks.
void Station::beginSearch() {
  search.begin(hub.equalCalls());
  if (hub.hasLost())
    search.stop();
  publish();
}

void Station::send(uint64_t exchange, const select::Message &message) {
  if (isHub) {
    hub.add(0, exchange, message);
    publish();
  } else {
    links[0]->send(makeSendable({exchange, message}));
  }
}

/// Returns false if the other rank must not send this frame now.
bool Station::handle(uint32_t otherRank, Frame &frame) {
  if (isFinishing)
    return true;
  if (std::holds_alternative<Hurry>(frame.content))
    return handleHurry(otherRank, frame.exchange);
  return isHub ? handleAtHub(otherRank, frame) : handleFromHub(frame);
}

bool Station::handleAtHub(uint32_t otherRank, const Frame &frame) {
  if (std::holds_alternative<Compare>(frame.content))
    return beginSearch(), true;
  const auto *message = std::get_if<select::Message>(&frame.content);
  const auto *answer = std::get_if<Answer>(&frame.content);
  const bool isExpected =
      (message && hub.add(otherRank, frame.exchange, *message)) || (answer && search.add(otherRank, *answer));
  publish();
  return isExpected;
}

/// Handles a frame that rank 0 has sent to all ranks, also on rank 0.
bool Station::handleFromHub(Frame &frame) {
  if (const auto *failure = std::get_if<Failure>(&frame.content)) {
    fail(failure->text);
    return true;
  }
  if (const auto *question = std::get_if<Question>(&frame.content)) {
    const Answer answer = lookBack(question->asked);
    if (isHub)
      return search.add(0, answer);
    links[0]->send(makeSendable({0, answer}));
    return true;
  }
  if (const auto *verdict = std::get_if<Verdict>(&frame.content)) {
    mailbox.setVerdict(verdict->difference);
    return true;
  }
  auto *result = std::get_if<select::Exchange>(&frame.content);
  return result && mailbox.addResult(frame.exchange, std::move(*result));
}

/// Rank 0 passes a hurry on to all ranks.
bool Station::handleHurry(uint32_t otherRank, uint64_t exchange) {
  if (isHub && !hub.mayHurry(otherRank, exchange))
    return false;
  mailbox.hurry(exchange);
  if (!isHub)
    spread = std::max(spread, exchange + 1);
  outbox->sendReady();
  spreadHurry();
  return true;
}

/// Sends a hurry to other ranks, because a call waits for an exchange: the message of any of them can still wait for
/// times.
void Station::spreadHurry() {
  const uint64_t hurried = mailbox.hurriedExchanges();
  if (hurried <= spread || isFinishing)
    return;
  spread = hurried;
  sendToAll({hurried - 1, Hurry{}});
}

void Station::handleEnd(uint32_t otherRank, const std::string &reason) {
  if (isHub) {
    hub.lose(otherRank, reason);
    search.stop();
    publish();
  } else {
    fail("online selection: rank 0 " + reason);
  }
  stopIfFinished();
}

/// Sends what the hub and the search have for all ranks, rank 0 included.
void Station::publish() {
  const auto next = [this] {
    std::optional<Frame> frame = hub.next();
    return frame ? frame : search.next();
  };
  while (std::optional<Frame> frame = next()) {
    sendToAll(*frame);
    handleFromHub(*frame);
  }
}

void Station::sendToAll(const Frame &frame) {
  const Link::Sendable sendable = makeSendable(frame);
  for (const auto &link : links)
    link->send(sendable);
}

void Station::fail(const std::string &text) {
  if (isFinishing)
    return;
  mailbox.fail(text);
  outbox->stop();
}

void Station::stop() noexcept {
  const std::lock_guard lock(stopping);
  if (!thread.joinable())
    return;
  try {
    asio::post(context, [this] { finish(); });
  } catch (const std::bad_alloc &) {
    context.stop();
  }
  thread.join();
}

void Station::finish() {
  isFinishing = true;
  outbox->stop();
  for (const auto &link : links)
    link->finish();
  stopTimer.expires_after(longestStop);
  stopTimer.async_wait([this](asio::error_code) { context.stop(); });
  stopIfFinished();
}

void Station::stopIfFinished() {
  if (isFinishing && std::all_of(links.begin(), links.end(), [](const auto &link) { return link->hasEnded(); }))
    context.stop();
}

} // namespace gc3::net
