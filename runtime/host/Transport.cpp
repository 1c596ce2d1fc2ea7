// SPDX-License-Identifier: Apache-2.0
// Order: a message is copied to the receiver's Fifo before `sent` counts it, and the wire has read a slot before
// `received` frees it. Both are stores with release order, as of the ranks of one host.
#include "host/Transport.h"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/random.h>
#include <thread>

namespace gc3::host {

using core::Outcome;
using Kind = WireHeader::Kind;

namespace {

/// How many bytes of messages of calls that are not prepared yet this process keeps.
constexpr uint64_t mostEarlyBytes = 1ull << 30;
/// A message of at most this size is copied to a batch. A send is a system call, which costs more than the copy.
constexpr size_t mostBatchedBytes = 16 << 10;
constexpr size_t fullBatch = 32 << 10;               ///< a batch of this size is sent at once
constexpr std::chrono::milliseconds linger{1000};    ///< at the end, for the other processes
constexpr std::chrono::milliseconds lossGrace{1000}; ///< see findLoss()
constexpr std::chrono::microseconds longestSleep{1000};

uint64_t randomToken() {
  uint64_t token = 0;
  while (token == 0 && ::getrandom(&token, sizeof token, 0) == sizeof token)
    ;
  return token;
}

/// Calls are prepared in the order of these numbers, on all processes.
uint64_t sequenceOf(uint64_t call) {
  return static_cast<uint32_t>(call);
}

template <typename End>
End *findEnd(std::vector<End> &ends, uint32_t connection) {
  const auto found = std::lower_bound(ends.begin(), ends.end(), connection,
                                      [](const End &end, uint32_t wanted) { return end.connection < wanted; });
  return found != ends.end() && found->connection == connection ? &*found : nullptr;
}

} // namespace

Transport::Transport(std::unique_ptr<Wire> ownWire, Reach reached, std::span<const uint32_t> ownRanks,
                     std::function<std::string(uint32_t)> describeRank)
    : wire(std::move(ownWire)), reach(std::move(reached)), self(ownRanks[0]), token(randomToken()),
      describe(std::move(describeRank)) {
  for (const uint32_t process : reach.processes)
    if (process != none)
      peers[process];
  for (const uint32_t rank : ownRanks)
    announced[rank] = 0;
}

Transport::~Transport() {
  close(false);
}

std::vector<uint8_t> Transport::address() const {
  const Wire::Bytes own = wire->address();
  std::vector<uint8_t> bytes(sizeof token + own.size());
  std::memcpy(bytes.data(), &token, sizeof token);
  std::ranges::copy(std::span(reinterpret_cast<const uint8_t *>(own.data()), own.size()), bytes.begin() + sizeof token);
  return bytes;
}

WireHeader Transport::headerTo(uint32_t process, Kind kind, uint32_t place) const {
  WireHeader header;
  header.kind = kind, header.token = peers.at(process).token;
  header.process = self, header.place = place;
  return header;
}

/// Sends a header and a copy of its data with the next batch. Requires the lock, like the functions that follow.
void Transport::post(uint32_t process, WireHeader header, Wire::Bytes data) {
  Peer &peer = peers.at(process);
  header.bytes = data.size();
  if (peer.batched++ == 0)
    peer.first = header;
  const HeaderImage image = writeHeader(header);
  const auto *const begin = reinterpret_cast<const std::byte *>(&image);
  peer.batch.insert(peer.batch.end(), begin, begin + sizeof image);
  peer.batch.insert(peer.batch.end(), data.begin(), data.end());
  ++sends;
  if (peer.batch.size() >= fullBatch)
    sendBatch(process, peer);
}

void Transport::sendBatch(uint32_t process, Peer &peer) {
  if (peer.batched == 1)
    wire->send(process, peer.first, std::span(peer.batch).subspan(sizeof(HeaderImage)));
  else if (peer.batched != 0)
    wire->send(process, headerTo(process, Kind::Batch), peer.batch);
  peer.batched = 0;
  peer.batch.clear();
}

void Transport::sendBatches() {
  for (auto &[process, peer] : peers)
    sendBatch(process, peer);
}

/// Works until over() returns true, with the lock, or until the deadline. Returns the last value of over().
template <typename Over>
bool Transport::waitUntil(Clock::time_point deadline, Over over) {
  for (;;) {
    {
      const std::lock_guard lock(mutex);
      advance();
      if (over())
        return true;
    }
    const auto now = Clock::now();
    if (now >= deadline)
      return false;
    if (!sleepUntil(std::min(deadline, now + longestSleep)))
      std::this_thread::yield();
  }
}

Outcome Transport::connect(std::span<const std::vector<uint8_t>> addresses, Clock::time_point deadline,
                           const std::function<Outcome()> &interrupt) {
  {
    const std::lock_guard lock(mutex);
    for (auto &[process, peer] : peers) {
      const std::vector<uint8_t> &address = addresses[process];
      if (address.size() < sizeof peer.token)
        return {gc3RemoteError, "rank " + std::to_string(process) + " has sent no address of its process"};
      std::memcpy(&peer.token, address.data(), sizeof peer.token);
      if (Outcome outcome = wire->connect(process, std::as_bytes(std::span(address)).subspan(sizeof peer.token));
          !outcome.ok())
        return {outcome.code, "there is no connection to rank " + std::to_string(process) + " (" + describe(process) +
                                  "): " + outcome.text};
      post(process, headerTo(process, Kind::Hello), {});
    }
  }
  Outcome outcome;
  const bool isOver = waitUntil(deadline, [&] {
    outcome = interrupt();
    const bool haveAllAnswered = std::all_of(peers.begin(), peers.end(), [](const auto &entry) {
      return entry.second.hasGreeted || entry.second.lossReason;
    });
    return !outcome.ok() || (haveAllAnswered && isDrained(sends)); // the others wait for this process's answer
  });
  const std::lock_guard lock(mutex);
  for (const auto &[process, peer] : peers) {
    if (!outcome.ok() || peer.hasGreeted)
      continue;
    if (peer.lossReason)
      outcome = lossOf(process);
    else if (!isOver)
      outcome = {gc3Timeout,
                 "there is no connection to rank " + std::to_string(process) + " (" + describe(process) + ")"};
  }
  return outcome;
}

void Transport::announce(uint32_t rank, uint64_t number, Wire::Bytes data) {
  const std::lock_guard lock(mutex);
  announced[rank] = oldest = number;
  for (const auto &[each, last] : announced)
    oldest = std::min(oldest, last);
  for (const uint32_t process : reach.listeners)
    postAnnouncement(process, rank, number, data);
}

void Transport::announceToRest(uint32_t rank, uint64_t number, Wire::Bytes data) {
  const std::lock_guard lock(mutex);
  for (const auto &[process, peer] : peers)
    if (std::ranges::find(reach.listeners, process) == reach.listeners.end())
      postAnnouncement(process, rank, number, data);
}

/// Requires the lock.
void Transport::postAnnouncement(uint32_t process, uint32_t rank, uint64_t number, Wire::Bytes data) {
  WireHeader header = headerTo(process, Kind::Announcement, rank);
  header.number = number;
  post(process, header, data);
}

void Transport::attach(Mirror &mirror) {
  const std::lock_guard lock(mutex);
  mirrors.push_back(&mirror);
  newestAttached = std::max(newestAttached, sequenceOf(mirror.call));
  if (const auto found = early.find(mirror.call); found != early.end())
    for (const EarlyMessage &message : found->second)
      deliver(mirror, message.header, message.data);
  std::erase_if(early, [&](const auto &entry) {
    if (sequenceOf(entry.first) > newestAttached)
      return false;
    for (const EarlyMessage &message : entry.second)
      earlyBytes -= message.data.size();
    return true;
  });
}

void Transport::detach(Mirror &mirror) {
  const std::lock_guard lock(mutex);
  std::erase(mirrors, &mirror);
}

Mirror *Transport::find(uint64_t call) {
  const auto found =
      std::find_if(mirrors.begin(), mirrors.end(), [&](const Mirror *each) { return each->call == call; });
  return found == mirrors.end() ? nullptr : *found;
}

bool Transport::progress() {
  const std::unique_lock lock(mutex, std::try_to_lock);
  return lock && advance();
}

/// Requires the lock, like the functions that follow.
void Transport::sendAll() {
  for (Mirror *mirror : mirrors)
    if (mirror->lastCall.load(std::memory_order_relaxed) >= oldest)
      exchange(*mirror);
  sendBatches();
}

bool Transport::advance() {
  if (isClosed)
    return false;
  sendAll();
  const bool hasArrived = wire->progress(*this);
  if (wire->isFlushed())
    flushed = flushing;
  return hasArrived;
}

void Transport::exchange(Mirror &mirror) {
  for (OutgoingMirror &end : mirror.outgoing)
    sendMessages(mirror, end);
  for (IncomingMirror &end : mirror.incoming)
    sendCredits(mirror, end);
}

void Transport::sendMessages(Mirror &mirror, OutgoingMirror &end) {
  const uint64_t sent = end.fifo->sent.load(std::memory_order_acquire);
  for (; end.posted != sent; ++end.posted) {
    const Wire::Bytes data(end.fifo->slotOf(end.posted), end.bytes[end.posted % end.fifo->slots]);
    WireHeader header = headerTo(end.process, Kind::Message, end.connection);
    header.call = mirror.call, header.number = end.posted;
    header.callNumber = mirror.lastCall.load(std::memory_order_relaxed);
    if (data.size() <= mostBatchedBytes && end.completed == end.posted) {
      post(end.process, header, data);
      ++end.completed;
      continue;
    }
    sendBatch(end.process, peers.at(end.process)); // keeps the order
    wire->sendInPlace(end.process, header, data, end.completed);
    ++sends;
  }
  const uint64_t begun = mirror.begun.load(std::memory_order_relaxed);
  const uint64_t ofEarlierCalls = begun == 0 ? 0 : (begun - 1) * end.perCall;
  const uint64_t free = std::min(std::max(end.credited, ofEarlierCalls), end.completed);
  if (free != end.fifo->received.load(std::memory_order_relaxed))
    end.fifo->received.store(free, std::memory_order_release);
}

/// Sends credits if the sender may need them in this call: it has messages for which it may have no slot otherwise.
void Transport::sendCredits(Mirror &mirror, IncomingMirror &end) {
  const uint64_t received = end.fifo->received.load(std::memory_order_acquire);
  if (received == end.credited)
    return;
  const uint64_t earlierCalls = (received - 1) / end.perCall * end.perCall; // messages of calls before this one
  const uint64_t known = std::max(end.credited, earlierCalls);
  if (received == known || known + end.fifo->slots >= earlierCalls + end.perCall)
    return;
  end.credited = received;
  WireHeader header = headerTo(end.process, Kind::Credit, end.connection);
  header.call = mirror.call, header.number = received;
  post(end.process, header, {});
}

void Transport::receive(Wire::Bytes bytes, Wire::Bytes data) {
  const std::optional<WireHeader> header = readHeader(bytes);
  if (!header || header->token != token)
    return; // from a stranger
  if (!peers.contains(header->process))
    return reject(header->process, "it is on this host, and sends over the network");
  if (header->kind == Kind::Batch)
    openBatch(*header, data);
  else
    dispatch(*header, data);
}

void Transport::openBatch(const WireHeader &batch, Wire::Bytes frames) {
  while (!frames.empty()) {
    const std::optional<WireHeader> header = readHeader(frames.first(std::min(frames.size(), sizeof(HeaderImage))));
    if (!header || header->kind == Kind::Batch || header->process != batch.process ||
        header->bytes > frames.size() - sizeof(HeaderImage))
      return reject(batch.process, "it sends a wrong batch");
    dispatch(*header, frames.subspan(sizeof(HeaderImage), header->bytes));
    frames = frames.subspan(sizeof(HeaderImage) + header->bytes);
  }
}

void Transport::dispatch(const WireHeader &header, Wire::Bytes data) {
  Peer &peer = peers[header.process];
  if (peer.hasLeft || peer.hasGreeted == (header.kind == Kind::Hello))
    return reject(header.process, "it sends out of order");
  switch (header.kind) {
  case Kind::Hello: peer.hasGreeted = true; break;
  case Kind::Bye: peer.hasLeft = true; break;
  case Kind::Announcement:
    if (header.place >= reach.processes.size() || reach.processes[header.place] != header.process || !announcements ||
        !announcements->receive(header.place, header.number, data))
      reject(header.process, "it sends a wrong announcement");
    break;
  case Kind::Message: receiveMessage(header, data); break;
  case Kind::Credit: receiveCredit(header); break;
  case Kind::Batch: break; // see receive()
  }
}

/// Drops a message that a rank has sent ahead in a call that then used another program.
void Transport::receiveMessage(const WireHeader &header, Wire::Bytes data) {
  if (header.callNumber < oldest)
    return;
  if (Mirror *const mirror = find(header.call))
    deliver(*mirror, header, data);
  else if (sequenceOf(header.call) > newestAttached)
    keep(header, data);
}

void Transport::keep(const WireHeader &header, Wire::Bytes data) {
  earlyBytes += data.size();
  if (earlyBytes > mostEarlyBytes)
    return reject(header.process, "it sends too many messages of calls that have not begun");
  early[header.call].push_back({header, {data.begin(), data.end()}});
}

/// Copies a message to its slot in the receiver's Fifo.
void Transport::deliver(Mirror &mirror, const WireHeader &header, Wire::Bytes data) {
  IncomingMirror *const end = findEnd(mirror.incoming, header.place);
  if (!end || end->process != header.process || header.number != end->arrived || data.size() > end->fifo->slotBytes)
    return reject(header.process, "it sends a wrong message");
  if (end->arrived - end->fifo->received.load(std::memory_order_acquire) >= end->fifo->slots)
    return reject(header.process, "it sends a message without a free slot");
  std::ranges::copy(data, end->fifo->slotOf(end->arrived));
  end->fifo->sent.store(++end->arrived, std::memory_order_release);
}

void Transport::receiveCredit(const WireHeader &header) {
  Mirror *const mirror = find(header.call);
  if (!mirror && sequenceOf(header.call) <= newestAttached)
    return; // no rank can be in the call
  OutgoingMirror *const end = mirror ? findEnd(mirror->outgoing, header.place) : nullptr;
  if (!end || end->process != header.process || header.number <= end->credited || header.number > end->posted)
    return reject(header.process, "it sends a wrong credit");
  end->credited = header.number;
}

void Transport::reject(uint32_t process, const std::string &what) {
  if (hasViolation.load(std::memory_order_relaxed))
    return;
  violationText = "rank " + std::to_string(process) +
                  (process < reach.processes.size() ? " (" + describe(process) + ")" : "") +
                  " does not follow gc3's protocol between hosts: " + what;
  hasViolation.store(true, std::memory_order_release);
}

Outcome Transport::violation() const {
  return hasViolation.load(std::memory_order_acquire) ? Outcome{gc3RemoteError, violationText} : Outcome{};
}

void Transport::lose(uint32_t process, const std::string &reason) {
  if (const auto found = peers.find(process); found != peers.end() && !found->second.isDone()) {
    found->second.lossReason = reason;
    found->second.lostAt = Clock::now();
  }
  hasLoss.store(true, std::memory_order_release);
}

Outcome Transport::findLoss(const std::function<bool(uint32_t)> &isExcused) const {
  if (!hasLoss.load(std::memory_order_acquire))
    return {};
  const std::lock_guard lock(mutex);
  for (const auto &[process, peer] : peers)
    if (peer.lossReason && Clock::now() - peer.lostAt >= lossGrace && !isExcused(process))
      return lossOf(process);
  return {};
}

/// Requires the lock.
Outcome Transport::lossOf(uint32_t process) const {
  return {gc3RemoteError, "the connection to rank " + std::to_string(process) + " (" + describe(process) +
                              ") is lost: " + peers.at(process).lossReason.value_or("")};
}

bool Transport::sleepUntil(Clock::time_point deadline) {
  if (isSleeping.exchange(true, std::memory_order_acquire))
    return false;
  bool isArmed = false;
  if (const std::unique_lock lock(mutex, std::try_to_lock); lock)
    isArmed = !isClosed && !advance() && wire->arm();
  if (const auto rest = deadline - Clock::now(); isArmed && rest > Clock::duration::zero()) {
    pollfd event{wire->event(), POLLIN, 0};
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(rest);
    const timespec time{seconds.count(), std::chrono::nanoseconds(rest - seconds).count()};
    ::ppoll(&event, 1, &time, nullptr);
  }
  isSleeping.store(false, std::memory_order_release);
  return true;
}

/// Requires the lock. Begins a flush if that is necessary.
bool Transport::isDrained(uint64_t ticket) {
  if (flushed < ticket && wire->isFlushed()) {
    sendBatches();
    flushing = sends;
    wire->beginFlush();
    if (wire->isFlushed())
      flushed = flushing;
  }
  return flushed >= ticket || hasViolation.load(std::memory_order_relaxed);
}

Outcome Transport::drain(std::chrono::milliseconds limit) {
  uint64_t ticket = 0;
  {
    const std::lock_guard lock(mutex);
    if (!isClosed)
      sendAll();
    ticket = sends;
    if (isDrained(ticket))
      return violation();
  }
  if (waitUntil(Clock::now() + limit, [&] { return isDrained(ticket); }))
    return violation();
  return {gc3Timeout, "after " + std::to_string(limit.count()) +
                          " ms, a process of another host still does not receive what this process has sent"};
}

void Transport::close(bool inOrder) {
  {
    const std::lock_guard lock(mutex);
    if (isClosed)
      return;
    if (inOrder)
      for (const auto &[process, peer] : peers)
        if (peer.hasGreeted)
          post(process, headerTo(process, Kind::Bye), {});
    sendBatches();
  }
  // A process that closes a connection before it has read everything can destroy what it has sent.
  if (inOrder)
    waitUntil(Clock::now() + linger, [&] {
      return std::all_of(peers.begin(), peers.end(), [](const auto &entry) { return entry.second.isDone(); }) &&
             isDrained(sends);
    });
  const std::lock_guard lock(mutex);
  isClosed = true;
  wire->close();
  mirrors.clear();
}

} // namespace gc3::host
