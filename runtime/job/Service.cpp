// SPDX-License-Identifier: Apache-2.0
#include "job/Service.h"

#include "job/ProcessState.h"
#include "net/BlockedSignals.h"
#include "select/RankList.h"

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>

namespace gc3::job {

using core::Outcome;
using std::chrono::milliseconds;

namespace {

/// Limits on the time in which the other side ends its connection after this side has left, and answers a question.
constexpr std::chrono::seconds longestFarewell(1), longestAnswer(1);

net::SendQueue::Sendable makeSendable(const Message &message) {
  return std::make_shared<const std::vector<uint8_t>>(writeMessage(message));
}

Message messageOf(const Loss &loss) {
  switch (loss.kind) {
  case Loss::Kind::Left: return {Message::Kind::Left, loss.rank, 0, {}};
  case Loss::Kind::Ended: return {Message::Kind::Ended, loss.rank, 0, bytesOf(loss.text)};
  case Loss::Kind::Failed: break;
  }
  return {Message::Kind::Failed, loss.rank, 0, bytesOf(loss.text)};
}

/// Returns the loss that a message reports; nothing if it reports none.
std::optional<Loss> lossOf(const Message &message) {
  switch (message.kind) {
  case Message::Kind::Left: return Loss{message.rank, Loss::Kind::Left, "which has left"};
  case Message::Kind::Ended: return Loss{message.rank, Loss::Kind::Ended, textOf(message.bytes)};
  case Message::Kind::Failed: return Loss{message.rank, Loss::Kind::Failed, textOf(message.bytes)};
  case Message::Kind::Data:
  case Message::Kind::Gathered:
  case Message::Kind::Question:
  case Message::Kind::Answer: break;
  }
  return std::nullopt;
}

} // namespace

Service::Service(uint32_t rank, const Identity &identity, LossBoard &losses, std::shared_ptr<asio::io_context> context,
                 net::Reception *reception)
    : rank(rank), identity(identity), losses(losses), context(std::move(context)), reception(reception),
      center(losses.ranks()), channels(losses.ranks()), identities(losses.ranks()) {}

void Service::accept(const net::Key &key) {
  reception->start(key, static_cast<uint32_t>(channels.size()), [this](uint32_t other, net::Tcp::socket socket) {
    add(other, std::move(socket));
    if (reception->isComplete())
      reception->close();
  });
}

void Service::add(uint32_t other, net::Tcp::socket socket) {
  channels[other] = std::make_unique<Channel>(
      std::move(socket), static_cast<uint32_t>(channels.size()),
      [this, other](Message &message) { return handle(other, message); },
      [this, other](Channel::End end, const std::string &text) { handleEnd(other, end, text); });
  channels[other]->start();
}

void Service::start() {
  const net::BlockedSignals blocked;
  thread = std::thread([this] { run(); });
}

core::Result<Service::Gathered> Service::gather(std::span<const uint8_t> own, const Wait &wait) {
  const uint64_t round = nextRound++;
  if (!losses.any())
    asio::post(*context, [this, data = Message{Message::Kind::Data, rank, round, {own.begin(), own.end()}}]() mutable {
      contribute(std::move(data));
    });
  Outcome outcome = inbox.wait(wait, [this] { return inbox.hasGathered() || losses.any(); });
  if (outcome.ok()) {
    if (std::optional<Gathered> result = inbox.take())
      return std::move(*result);
    return Outcome{gc3RemoteError, describe(*losses.any())};
  }
  if (outcome.code == gc3Timeout && outcome.text.empty())
    outcome = explain(wait, round);
  report(outcome);
  return outcome;
}

/// Returns the error of a gather that has not ended in time.
Outcome Service::explain(const Wait &wait, uint64_t round) {
  std::optional<std::string> answer;
  if (rank == 0) {
    answer = ask([this, round] { inbox.putAnswer(describeMissing(round)); });
  } else {
    answer = ask([this, round] { channels[0]->send(makeSendable({Message::Kind::Question, rank, round, {}})); });
    if (!answer)
      answer = ask([this] { inbox.putAnswer("rank 0 does not answer" + stoppedDetail(0)); });
  }
  if (const Loss *loss = losses.any())
    return {gc3RemoteError, describe(*loss)};
  return {gc3Timeout, "after " + std::to_string(wait.limits.timeout.count()) + " ms, " +
                          answer.value_or("the thread of this rank's connections does not answer")};
}

/// Calls a function that makes an answer on the service's thread. Returns the answer; nothing if it does not come in
/// time, or a rank is lost.
std::optional<std::string> Service::ask(std::function<void()> question) {
  (void)inbox.takeAnswer();
  asio::post(*context, std::move(question));
  (void)inbox.wait(Wait({longestAnswer, {}}), [this] { return inbox.hasAnswer() || losses.any(); });
  return inbox.takeAnswer();
}

void Service::report(const Outcome &error) {
  const Loss own{rank, Loss::Kind::Failed, error.text.substr(0, mostTextBytes)};
  if (hasLeft || losses.first() || !losses.add(own))
    return;
  inbox.notify();
  asio::post(*context, [this, own] { spread(own); });
}

const Loss *Service::waitForLoss(milliseconds time) {
  (void)inbox.wait(Wait({time, {}}), [this] { return losses.first() != nullptr; });
  return losses.first();
}

bool Service::haveOthersLeft() const {
  for (uint32_t other = 0; other < losses.ranks(); ++other)
    if (other != rank && !losses.of(other))
      return false;
  return true;
}

void Service::leave(milliseconds linger) noexcept {
  if (hasLeft.exchange(true) || !thread.joinable())
    return;
  try {
    if (rank == 0)
      (void)inbox.wait(Wait({linger, {}}), [this] { return haveOthersLeft(); });
    asio::post(*context, [this] { finish(); });
  } catch (const std::exception &) { // such as no memory
    context->stop();
  }
  thread.join();
}

void Service::run() noexcept {
  try {
    const auto work = asio::make_work_guard(*context); // finish() stops the context
    context->run();
  } catch (const std::exception &exception) {
    losses.add({rank, Loss::Kind::Failed, std::string("the thread of its connections fails: ") + exception.what()});
    inbox.notify();
    for (auto &channel : channels) // so that other ranks do not wait
      channel.reset();
  }
}

void Service::contribute(Message data) {
  awaited = data.round;
  if (rank != 0)
    return channels[0]->send(makeSendable(data));
  if (data.round == 0)
    noteIdentity(0, data.bytes);
  center.add(0, data.round, std::move(data.bytes));
  publish();
}

/// Sends the result of a gather, if it has the bytes of all ranks.
void Service::publish() {
  const uint64_t round = center.round();
  std::optional<Gathered> result = center.takeComplete();
  if (!result)
    return;
  Message message{Message::Kind::Gathered, 0, round, writeGathered(*result)};
  if (message.bytes.size() > mostGatheredBytes)
    return report({gc3InvalidArgument, "a gather of " + std::to_string(message.bytes.size()) +
                                           " bytes exceeds the limit of " + std::to_string(mostGatheredBytes)});
  sendToAll(message);
  awaited.reset();
  inbox.put(std::move(*result));
}

/// Returns false if the other rank must not send this message now.
bool Service::handle(uint32_t other, Message &message) {
  return rank == 0 ? handleOfRank(other, message) : handleOfRank0(message);
}

bool Service::handleOfRank(uint32_t other, Message &message) {
  if (message.rank != other)
    return false;
  switch (message.kind) {
  case Message::Kind::Data:
    if ((message.round == 0 && !noteIdentity(other, message.bytes)) ||
        !center.add(other, message.round, std::move(message.bytes)))
      return false;
    publish();
    return true;
  case Message::Kind::Question:
    channels[other]->send(
        makeSendable({Message::Kind::Answer, other, message.round, bytesOf(describeMissing(message.round))}));
    return true;
  case Message::Kind::Left:
  case Message::Kind::Failed: lose(*lossOf(message)); return true;
  case Message::Kind::Gathered:
  case Message::Kind::Answer:
  case Message::Kind::Ended: break;
  }
  return false;
}

bool Service::handleOfRank0(Message &message) {
  if (std::optional<Loss> loss = lossOf(message)) {
    lose(*loss);
    return true;
  }
  if (message.kind == Message::Kind::Answer) {
    inbox.putAnswer(textOf(message.bytes));
    return true;
  }
  const auto ranks = static_cast<uint32_t>(channels.size());
  if (message.kind != Message::Kind::Gathered || awaited != message.round)
    return false;
  std::optional<Gathered> result = readGathered(message.bytes, ranks);
  if (!result || (message.round == 0 && !noteIdentities(*result)))
    return false;
  awaited.reset();
  inbox.put(std::move(*result));
  return true;
}

/// The first gather exchanges the identities. Returns false if the bytes are no identity.
bool Service::noteIdentity(uint32_t of, net::Bytes bytes) {
  identities[of] = readIdentity(bytes);
  if (!identities[of])
    return false;
  watch(of);
  return true;
}

bool Service::noteIdentities(const Gathered &gathered) {
  std::vector<std::optional<Identity>> all;
  for (const std::vector<uint8_t> &bytes : gathered)
    all.push_back(readIdentity(bytes));
  if (!std::ranges::all_of(all, [](const auto &each) { return each.has_value(); }))
    return false;
  identities = std::move(all);
  watch(0);
  return true;
}

/// Watches the process of a rank that this rank has a connection to, if both are on one host.
void Service::watch(uint32_t other) {
  if (other != rank && shareHost(identity, *identities[other]) && identities[other]->process != identity.process)
    watches.push_back(std::make_unique<ProcessWatch>(*context, identities[other]->process,
                                                     [this, other] { handleEnd(other, Channel::End::Closed, {}); }));
}

void Service::handleEnd(uint32_t other, Channel::End end, const std::string &text) {
  const std::string process = "whose " + describeRank(other);
  switch (end) {
  case Channel::End::Closed: lose({other, Loss::Kind::Ended, process + " has ended"}); break;
  case Channel::End::Unreachable: lose({other, Loss::Kind::Ended, process + " does not answer: " + text}); break;
  case Channel::End::Damaged: lose({other, Loss::Kind::Ended, process + " has sent damaged data"}); break;
  }
  stopIfFinished();
}

std::string Service::describeRank(uint32_t of) const {
  return identities[of] ? describe(*identities[of]) : "process";
}

/// Does nothing if the rank has a loss.
void Service::lose(const Loss &loss) {
  if (isFinishing || !losses.add(loss))
    return;
  inbox.notify();
  if (rank == 0)
    spread(loss);
}

/// Sends the loss to rank 0, or from rank 0 to all.
void Service::spread(const Loss &loss) {
  sendToAll(messageOf(loss));
}

void Service::sendToAll(const Message &message) {
  const net::SendQueue::Sendable sendable = makeSendable(message);
  for (const auto &channel : channels)
    if (channel)
      channel->send(sendable);
}

/// Returns a text such as "rank 3 has not joined".
std::string Service::describeMissing(uint64_t round) const {
  select::RankList missing;
  std::string details;
  for (uint32_t other = 0; round == center.round() && other < channels.size(); ++other) {
    if (!center.isMissing(other))
      continue;
    missing.add(other);
    if (missing.size() > 16)
      continue;
    if (const std::string remark = reception->remarkOn(other); !remark.empty())
      details += "; " + remark;
    details += stoppedDetail(other);
  }
  if (missing.size() == 0)
    return "the result of a gather is on its way";
  const std::string has = missing.size() == 1 ? " has not " : " have not ";
  if (round == 0)
    details += reception->describeError();
  return missing.str() + has + (round == 0 ? "joined" : "taken part in a gather") + details;
}

/// Returns a text if the rank's process is on this host and stopped, else nothing.
std::string Service::stoppedDetail(uint32_t of) const {
  const std::optional<Identity> &other = identities[of];
  const bool isStopped =
      other && shareHost(identity, *other) && stateOfProcess(other->process) == ProcessState::Stopped;
  return isStopped ? "; " + describe(*other) + " is stopped" : "";
}

/// Ends the connections in order.
void Service::finish() {
  isFinishing = true;
  if (reception)
    reception->close();
  sendToAll({Message::Kind::Left, rank, 0, {}});
  for (const auto &channel : channels)
    if (channel)
      channel->finish();
  stopTimer.expires_after(longestFarewell);
  stopTimer.async_wait([this](asio::error_code) { context->stop(); });
  stopIfFinished();
}

void Service::stopIfFinished() {
  if (isFinishing && std::ranges::all_of(channels, [](const auto &each) { return !each || each->hasEnded(); }))
    context->stop();
}

} // namespace gc3::job
