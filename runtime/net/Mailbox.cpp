// SPDX-License-Identifier: Apache-2.0
#include "net/Mailbox.h"

namespace gc3::net {

void Mailbox::begin(const select::Message &message) {
  const std::lock_guard lock(mutex);
  begun.push_back(message);
  ranges.push_back({message.call, message.count});
}

bool Mailbox::takeWithin(std::chrono::microseconds time, select::Exchange &result) {
  if (time.count() == 0 && resultCount == 0)
    return false;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, time, [this] { return !results.empty() || !firstError.ok(); });
  if (results.empty())
    return false;
  result = std::move(results.front());
  results.pop_front();
  --resultCount;
  return true;
}

bool Mailbox::hurry(uint64_t exchange) {
  const std::lock_guard lock(mutex);
  if (exchange < hurried)
    return false;
  hurried = exchange + 1;
  return true;
}

uint64_t Mailbox::hurriedExchanges() const {
  const std::lock_guard lock(mutex);
  return hurried;
}

core::Outcome Mailbox::error() const {
  const std::lock_guard lock(mutex);
  return firstError;
}

bool Mailbox::beginComparison() {
  const std::lock_guard lock(mutex);
  if (hasAsked || (verdict && !verdict->empty()))
    return false;
  hasAsked = true;
  verdict.reset(); // it can be older than the choices of this rank
  return true;
}

std::optional<std::string> Mailbox::comparison() const {
  const std::lock_guard lock(mutex);
  return verdict || firstError.ok() ? verdict : std::string();
}

void Mailbox::setVerdict(const std::string &difference) {
  const std::lock_guard lock(mutex);
  if (!verdict || verdict->empty())
    verdict = difference;
}

uint64_t Mailbox::collect(std::deque<select::Message> &messages) {
  const std::lock_guard lock(mutex);
  messages.insert(messages.end(), begun.begin(), begun.end());
  begun.clear();
  return hurried;
}

bool Mailbox::addResult(uint64_t exchange, select::Exchange result) {
  const std::lock_guard lock(mutex);
  if (exchange != ended || ranges.empty())
    return false;
  const Range range = ranges.front();
  // A result has the range of rank 0. If the rank's own range differs, the result must say so.
  if (result.error.empty() && (result.call != range.call || result.count != range.count))
    return false;
  result.call = range.call;
  result.count = range.count;
  ranges.pop_front();
  ++ended;
  results.push_back(std::move(result));
  ++resultCount;
  changed.notify_all();
  return true;
}

void Mailbox::fail(const std::string &text) {
  const std::lock_guard lock(mutex);
  if (firstError.ok())
    firstError = {gc3SystemError, text};
  changed.notify_all();
}

} // namespace gc3::net
