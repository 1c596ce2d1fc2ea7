// SPDX-License-Identifier: Apache-2.0
#include "Mutants.h"

#include <algorithm>
#include <utility>

namespace gc3::memory {

namespace {

/// Makes an event have no effect.
bool drop(Event &event) {
  if (event.kind != Kind::Fence && event.kind != Kind::AliasFence && event.kind != Kind::Barrier)
    return false;
  event.kind = Kind::Fence;
  event.order = Order::Weak;
  return true;
}

bool narrow(Event &event) {
  if (!event.isStrong() || event.scope == Scope::Cta)
    return false;
  event.scope = event.scope == Scope::Sys ? Scope::Gpu : Scope::Cta;
  return true;
}

bool weaken(Event &event) {
  if (!event.isMemory() || !event.isStrong())
    return false;
  event.order = event.order == Order::Relaxed ? Order::Weak : Order::Relaxed;
  return true;
}

} // namespace

std::vector<Mutant> mutantsOf(const Program &program) {
  std::vector<std::string> labels;
  for (const Event &event : program.events)
    if (std::find(labels.begin(), labels.end(), event.label) == labels.end())
      labels.push_back(event.label);
  std::vector<Mutant> mutants;
  for (const std::string &label : labels)
    for (const auto change : {drop, narrow, weaken}) {
      Mutant mutant{label, "", "", program};
      for (Event &event : mutant.program.events) {
        const std::string before = nameOf(event);
        if (event.label == label && change(event) && mutant.operation.empty()) {
          mutant.operation = before;
          mutant.change = change == drop ? "dropped" : nameOf(event);
        }
      }
      if (!mutant.operation.empty())
        mutants.push_back(std::move(mutant));
    }
  return mutants;
}

Mutant withoutBoth(const Program &program, const std::string &first, const std::string &second) {
  Mutant mutant{first + ", and " + second, "", "both dropped", program};
  for (Event &event : mutant.program.events)
    if (event.label == first || event.label == second) {
      mutant.operation = nameOf(event);
      drop(event);
    }
  return mutant;
}

} // namespace gc3::memory
