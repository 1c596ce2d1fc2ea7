// SPDX-License-Identifier: Apache-2.0
#include "Model.h"

namespace gc3::memory {

Model::Model(const Program &program, bool hasNoThinAir)
    : program(program), events(program.events), hasNoThinAir(hasNoThinAir), strong(events.size()),
      fixed(events.size()) {
  for (uint32_t a = 0; a < events.size(); ++a)
    for (uint32_t b = 0; b < events.size(); ++b) {
      const Event &first = events[a], &second = events[b];
      const bool reach = isBefore(a, b) || isBefore(b, a) ||
                         (first.isStrong() && second.isStrong() && program.includes(first, second.thread) &&
                          program.includes(second, first.thread));
      if (a != b && reach && (!first.isMemory() || !second.isMemory() || overlap(a, b)))
        strong.add(a, b);
      const Thread &thread = program.threads[first.thread], &other = program.threads[second.thread];
      const bool joins = a != b && first.kind == Kind::Barrier && second.kind == Kind::Barrier &&
                         first.group == second.group && thread.gpu == other.gpu && thread.block == other.block;
      const bool follows = first.kind == Kind::End && second.kind == Kind::Begin && first.group == second.group;
      if (isBefore(a, b) || joins || follows)
        fixed.add(a, b);
    }
  findPatterns();
}

bool Model::overlap(uint32_t a, uint32_t b) const {
  return events[a].isMemory() && events[b].isMemory() && events[a].address == events[b].address;
}

bool Model::isAt(uint32_t a, uint32_t b) const {
  return events[a].isMemory() && events[b].isMemory() && program.locationOf(events[a]) == program.locationOf(events[b]);
}

void Model::findPatterns() {
  for (uint32_t a = 0; a < events.size(); ++a)
    for (uint32_t b = a; b < events.size(); ++b) {
      const Event &first = events[a], &second = events[b];
      if (!first.isStrong() || !second.isStrong() || !(a == b || isBefore(a, b)))
        continue;
      const bool isSame = a == b || overlap(a, b);
      if (second.kind == Kind::Store && (first.kind == Kind::Fence || (first.order == Order::Release && isSame)))
        releases.push_back({b, a});
      if (first.kind == Kind::Load && (second.kind == Kind::Fence || (second.order == Order::Acquire && isSame)))
        acquires.push_back({a, b});
    }
}

Relation Model::baseOf(const Choices &choices) const {
  Relation base = fixed;
  for (const auto &[first, second] : choices.fences)
    base.add(first, second);
  for (const Pattern &acquire : acquires)
    for (const Pattern &release : releases) // without read-modify-writes, observation is a morally strong read
      if (choices.reads[acquire.access] == release.access && strong.holds(release.access, acquire.access) &&
          strong.holds(release.end, acquire.end))
        base.add(release.end, acquire.end);
  base.close();
  return base;
}

/// Base causality is preserved between accesses at one address. Between aliases it is preserved if an alias fence, or
/// the end of a kernel, is on the path. Observation may come first.
Relation Model::causalityOf(const Choices &choices, const Relation &base) const {
  const auto isPreserved = [&](uint32_t a, uint32_t b) {
    if (!base.holds(a, b) || !isAt(a, b))
      return false;
    if (overlap(a, b))
      return true;
    for (uint32_t via = 0; via < events.size(); ++via)
      if ((events[via].kind == Kind::AliasFence || events[via].kind == Kind::End) && base.holds(a, via) &&
          base.holds(via, b))
        return true;
    return false;
  };
  Relation causality(events.size());
  for (uint32_t a = 0; a < events.size(); ++a)
    for (uint32_t b = 0; b < events.size(); ++b)
      if (isPreserved(a, b)) {
        causality.add(a, b);
        const uint32_t store = choices.reads[a];
        if (events[a].kind == Kind::Load && store < events.size() && strong.holds(store, a))
          causality.add(store, b);
      }
  return causality;
}

Relation Model::coherenceOf(const Choices &choices, const Relation &causality) const {
  Relation coherence(events.size());
  for (uint32_t a = 0; a < events.size(); ++a)
    for (uint32_t b = 0; b < events.size(); ++b)
      if (events[a].kind == Kind::Store && events[b].kind == Kind::Store && isAt(a, b) && causality.holds(a, b))
        coherence.add(a, b);
  for (const auto &[first, second] : choices.writes)
    coherence.add(first, second);
  coherence.close();
  return coherence;
}

/// Returns whether the load reads a value that the store overwrites.
bool Model::isFromBefore(const Choices &choices, const Relation &coherence, uint32_t load, uint32_t store) const {
  const uint32_t from = choices.reads[load];
  return isAt(load, store) && events[store].kind == Kind::Store &&
         (from == Choices::initial || (from < events.size() && coherence.holds(from, store)));
}

/// SC-per-Location.
bool Model::isPerLocation(const Choices &choices, const Relation &coherence) const {
  Relation order(events.size());
  for (uint32_t a = 0; a < events.size(); ++a)
    for (uint32_t b = 0; b < events.size(); ++b)
      if ((overlap(a, b) && isBefore(a, b)) ||
          (strong.holds(a, b) && ((events[b].kind == Kind::Load && choices.reads[b] == a) || coherence.holds(a, b) ||
                                  (events[a].kind == Kind::Load && isFromBefore(choices, coherence, a, b)))))
        order.add(a, b);
  order.close();
  return !order.isReflexive();
}

/// Returns whether a value depends on itself. A store depends on the load whose value it stores, and on each earlier
/// poll of its thread.
bool Model::isThinAir(const Choices &choices) const {
  Relation order(events.size());
  for (uint32_t a = 0; a < events.size(); ++a) {
    if (events[a].kind != Kind::Load)
      continue;
    if (choices.reads[a] < events.size())
      order.add(choices.reads[a], a);
    for (uint32_t b = 0; b < events.size(); ++b)
      if (events[b].kind == Kind::Store && (events[b].source == a || (events[a].isPoll() && isBefore(a, b))))
        order.add(a, b);
  }
  order.close();
  return order.isReflexive();
}

Model::Orders Model::ordersOf(const Choices &choices) const {
  Relation base = baseOf(choices);
  Relation causality = causalityOf(choices, base);
  Relation coherence = coherenceOf(choices, causality);
  return {std::move(base), std::move(causality), std::move(coherence)};
}

bool Model::allows(const Choices &choices) const {
  const Orders orders = ordersOf(choices);
  for (const auto &[first, second] : choices.fences)
    if (orders.base.holds(second, first))
      return false; // Fence-SC
  if (orders.coherence.isReflexive())
    return false; // Coherence
  for (uint32_t load = 0; load < events.size(); ++load) {
    if (events[load].kind != Kind::Load)
      continue;
    for (uint32_t store = 0; store < events.size(); ++store)
      if ((choices.reads[load] == store && orders.causality.holds(load, store)) ||
          (orders.causality.holds(store, load) && isFromBefore(choices, orders.coherence, load, store)))
        return false; // Causality
  }
  return isPerLocation(choices, orders.coherence) && !(hasNoThinAir && isThinAir(choices));
}

} // namespace gc3::memory
