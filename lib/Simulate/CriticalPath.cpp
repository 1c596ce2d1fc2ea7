// SPDX-License-Identifier: Apache-2.0
// Walks from the step that ends last to the condition that each step waited for last.
#include "gc3/Simulate/CriticalPath.h"
#include <algorithm>
#include <map>

namespace gc3::simulate {

namespace {

class Walk {
public:
  explicit Walk(const Prediction &prediction) : events(prediction.events), rest(prediction.time) {}

  CriticalPath run() {
    if (events.all.empty()) {
      addPart(PartKind::Launch, 0);
      return result();
    }
    uint64_t number = events.last;
    addPart(PartKind::End, std::max(at(number).end, at(number).putEnd));
    addPut(number);
    for (;;) {
      const Event &event = at(number);
      const bool isByMessage = event.awaitsEnd && rest >= event.end; // else its end does not matter
      const Cause cause = isByMessage ? Cause::Message : event.cause;
      path.steps.push_back({static_cast<uint32_t>(number % events.steps), number / events.steps, cause, event.ready,
                            event.begin, event.end});
      if (!isByMessage) {
        addTransfer(event.limiter, event.begin);
        addPart(PartKind::Step, event.ready);
      }
      if (cause == Cause::Launch)
        break;
      number = isByMessage ? event.sentBy : event.causedBy;
      follow(cause, number);
    }
    addPart(PartKind::Launch, 0);
    std::reverse(path.steps.begin(), path.steps.end());
    return result();
  }

private:
  const Event &at(uint64_t number) const { return events.all[number]; }

  /// Counts the time from `begin` to the part before.
  void addPart(PartKind kind, double begin, uint32_t resource = Fabric::None) {
    if (begin >= rest)
      return;
    times[{kind, resource}] += rest - begin;
    rest = begin;
  }
  void addTransfer(uint32_t limiter, double begin) {
    addPart(limiter == Fabric::None ? PartKind::Block : PartKind::Resource, begin, limiter);
  }

  /// Counts the time of a message over a network, from the end of its step.
  void addPut(uint64_t number) {
    const Event &event = at(number);
    if (event.putEnd == 0 || event.putBegin >= rest)
      return;
    addTransfer(event.putLimiter, event.putBegin);
    addPart(PartKind::Queue, event.end);
  }

  /// Counts the time between a step and the step that waited for it. Under LL and LL128, the receiver of a message can
  /// begin before its sender has ended.
  void follow(Cause cause, uint64_t number) {
    const Event &event = at(number);
    const bool isPut = cause == Cause::Message && event.putEnd > 0;
    const double end = isPut ? event.putEnd : event.end > rest ? event.begin : event.end;
    switch (cause) {
    case Cause::Message: addPart(PartKind::Latency, end); break;
    case Cause::Wait: addPart(PartKind::Wait, end); break;
    case Cause::Slot: addPart(PartKind::Slot, end); break;
    case Cause::Order: addPart(PartKind::Prepare, end); break;
    case Cause::Launch: break;
    }
    if (isPut)
      addPut(number);
  }

  CriticalPath result() {
    for (const auto &[key, time] : times)
      path.parts.push_back({key.first, key.second, time});
    std::stable_sort(path.parts.begin(), path.parts.end(),
                     [](const PathPart &a, const PathPart &b) { return a.time > b.time; });
    return std::move(path);
  }

  const Events &events;
  double rest; ///< the time before this is not counted yet
  std::map<std::pair<PartKind, uint32_t>, double> times;
  CriticalPath path;
};

} // namespace

CriticalPath criticalPath(const Prediction &prediction) {
  return Walk(prediction).run();
}

} // namespace gc3::simulate
