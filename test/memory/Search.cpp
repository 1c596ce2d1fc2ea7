// SPDX-License-Identifier: Apache-2.0
// Chooses a store for each load, polls first, and drops a branch as soon as the model rejects it. Then it chooses an
// order for each pair of fence.sc, and for each pair of stores that causality does not order.
#include "Search.h"

#include <algorithm>

namespace gc3::memory {

namespace {

using Pair = std::pair<uint32_t, uint32_t>;

class Enumeration {
public:
  Enumeration(const Program &program, bool hasNoThinAir, bool checkRaces)
      : program(program), events(program.events), model(program, hasNoThinAir), checkRaces(checkRaces) {
    choices.reads.assign(events.size(), Choices::unknown);
    for (uint32_t load = 0; load < events.size(); ++load)
      if (events[load].kind == Kind::Load)
        loads.push_back(load);
    std::stable_partition(loads.begin(), loads.end(), [&](uint32_t load) { return events[load].least != lowest; });
    for (uint32_t a = 0; a < events.size(); ++a)
      for (uint32_t b = a + 1; b < events.size(); ++b)
        if (events[a].order == Order::Sc && events[b].order == Order::Sc && model.areMorallyStrong(a, b))
          fences.push_back({a, b});
  }

  Result run() {
    chooseReads(0);
    return std::move(result);
  }

private:
  /// Each function returns true if the search must stop.
  bool chooseReads(size_t depth) {
    if (depth == loads.size())
      return chooseFences(0);
    const uint32_t load = loads[depth];
    for (const uint32_t store : candidates(load)) {
      choices.reads[load] = store;
      if (model.allows(choices) && chooseReads(depth + 1))
        return true;
    }
    choices.reads[load] = Choices::unknown;
    return false;
  }

  /// Returns the stores from which a load may read, those with the value that it must read first.
  std::vector<uint32_t> candidates(uint32_t load) const {
    std::vector<uint32_t> stores;
    const Event &event = events[load];
    const auto fits = [&](int value) { return event.least <= value && value <= event.most; };
    for (uint32_t store = 0; store < events.size(); ++store)
      if (events[store].kind == Kind::Store && program.locationOf(events[store]) == program.locationOf(event) &&
          (events[store].source != none || fits(events[store].value)))
        stores.push_back(store);
    if (fits(0))
      stores.push_back(Choices::initial);
    const auto isRight = [&](uint32_t store) {
      return event.isChecked && (store == Choices::initial ? 0 : events[store].value) == event.value;
    };
    std::stable_partition(stores.begin(), stores.end(), isRight);
    return stores;
  }

  bool chooseFences(size_t depth) {
    if (depth == fences.size())
      return chooseWrites();
    const auto [first, second] = fences[depth];
    for (const Pair &order : {Pair{first, second}, Pair{second, first}}) {
      choices.fences.push_back(order);
      const bool stops = model.allows(choices) && chooseFences(depth + 1);
      choices.fences.pop_back();
      if (stops)
        return true;
    }
    return false;
  }

  /// Orders the first pair of morally strong stores that have no order, in both ways.
  bool chooseWrites() {
    const Model::Orders orders = model.ordersOf(choices);
    for (uint32_t a = 0; a < events.size(); ++a)
      for (uint32_t b = a + 1; b < events.size(); ++b) {
        if (events[a].kind != Kind::Store || events[b].kind != Kind::Store || !model.areMorallyStrong(a, b) ||
            orders.coherence.holds(a, b) || orders.coherence.holds(b, a))
          continue;
        for (const Pair &order : {Pair{a, b}, Pair{b, a}}) {
          choices.writes.push_back(order);
          const bool stops = model.allows(choices) && chooseWrites();
          choices.writes.pop_back();
          if (stops)
            return true;
        }
        return false;
      }
    return judge(orders);
  }

  bool judge(const Model::Orders &orders) {
    Execution execution{choices, std::vector<int>(events.size()), {}};
    if (!evaluate(execution.values))
      return false;
    ++result.executions;
    for (const uint32_t load : loads)
      if (events[load].isChecked && execution.values[load] != events[load].value) {
        result.wrong = std::move(execution);
        return true;
      }
    execution.race = raceIn(orders);
    if (checkRaces && execution.race && !result.wrong)
      result.wrong = std::move(execution);
    return false;
  }

  /// Computes the values of loads and stores. Returns false if an assumption does not hold, or if a value depends on
  /// itself.
  bool evaluate(std::vector<int> &values) const {
    std::vector<bool> isKnown(events.size());
    const auto settle = [&](uint32_t at, uint32_t from) {
      if (from < events.size() && !isKnown[from])
        return false;
      values[at] = from == Choices::initial ? 0 : from == none ? events[at].value : values[from];
      isKnown[at] = true;
      return true;
    };
    for (bool grows = true; grows;) {
      grows = false;
      for (uint32_t at = 0; at < events.size(); ++at)
        if (!isKnown[at] && events[at].isMemory())
          grows |= settle(at, events[at].kind == Kind::Load ? choices.reads[at] : events[at].source);
    }
    return std::all_of(loads.begin(), loads.end(), [&](uint32_t load) {
      return isKnown[load] && events[load].least <= values[load] && values[load] <= events[load].most;
    });
  }

  std::optional<Pair> raceIn(const Model::Orders &orders) const {
    for (uint32_t a = 0; a < events.size(); ++a)
      for (uint32_t b = a + 1; b < events.size(); ++b)
        if (events[a].isMemory() && events[b].isMemory() &&
            (events[a].kind == Kind::Store || events[b].kind == Kind::Store) &&
            program.locationOf(events[a]) == program.locationOf(events[b]) && !model.areMorallyStrong(a, b) &&
            !orders.causality.holds(a, b) && !orders.causality.holds(b, a))
          return Pair{a, b};
    return std::nullopt;
  }

  const Program &program;
  const std::vector<Event> &events;
  const Model model;
  const bool checkRaces;
  std::vector<uint32_t> loads;
  std::vector<Pair> fences;
  Choices choices;
  Result result;
};

} // namespace

Result search(const Program &program, bool hasNoThinAir, bool checkRaces) {
  return Enumeration(program, hasNoThinAir, checkRaces).run();
}

std::string summaryOf(const Program &program, const Execution &execution) {
  const auto placeOf = [&](const Event &event) { return program.threads[event.thread].name; };
  for (size_t at = 0; at < program.events.size(); ++at) {
    const Event &event = program.events[at];
    if (event.isChecked && execution.values[at] != event.value)
      return placeOf(event) + " reads " + program.addresses[event.address].name + " = " +
             std::to_string(execution.values[at]) + ", not " + std::to_string(event.value);
  }
  if (!execution.race)
    return "";
  const Event &first = program.events[execution.race->first], &second = program.events[execution.race->second];
  return "race at " + program.addresses[first.address].name + " between " + placeOf(first) + " and " + placeOf(second);
}

std::string textOf(const Program &program, const Execution &execution) {
  std::string text;
  for (uint32_t thread = 0; thread < program.threads.size(); ++thread) {
    const Thread &place = program.threads[thread];
    text += place.name + (place.gpu == host ? ", host" : ", GPU " + std::to_string(place.gpu)) + ", block " +
            std::to_string(place.block) + "\n";
    for (size_t at = 0; at < program.events.size(); ++at) {
      const Event &event = program.events[at];
      if (event.thread != thread)
        continue;
      text += "  " + textOf(program, event);
      if (event.isMemory())
        text += (event.kind == Kind::Load ? " = " : ", ") + std::to_string(execution.values[at]);
      if (event.isChecked && execution.values[at] != event.value)
        text += "   <- must be " + std::to_string(event.value);
      text += "\n";
    }
  }
  return text;
}

} // namespace gc3::memory
