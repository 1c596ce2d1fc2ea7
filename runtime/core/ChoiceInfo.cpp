// SPDX-License-Identifier: Apache-2.0
#include "core/ChoiceInfo.h"

#include "bundle/Container.h"
#include "core/Log.h"

namespace gc3::core {

static uint64_t digestOf(const std::string &text) {
  return bundle::checksum(text.data(), text.size());
}

ChoiceInfo ChoiceInfo::of(const ChoiceOptions &choice, const TuneOptions &tune) {
  ChoiceInfo info;
  info.programs = digestOf(choice.programs);
  info.name = Choice::dependsOnName(choice.programs) ? digestOf(choice.name) : 0;
  info.nodes = choice.nodes;
  info.explorable = tune.explorable;
  info.tuner = choice.tuner != nullptr;
  if (tune.isOnline)
    info.tune = 1U + 2U * tune.keepsBits + 4U * tune.hasShapes;
  return info;
}

std::string ChoiceInfo::differenceFrom(const ChoiceInfo &rank0) const {
  if (programs != rank0.programs)
    return "has another GC3_PROGRAM than rank 0";
  if (name != rank0.name)
    return "has another name of the communicator than rank 0, and GC3_PROGRAM depends on the name";
  if (nodes != rank0.nodes)
    return "has another number of nodes in its config than rank 0";
  if (tuner != rank0.tuner)
    return std::string("has ") + (tuner != 0 ? "a" : "no") + " tuner, unlike rank 0";
  if (tune != rank0.tune)
    return "has another GC3_TUNE than rank 0";
  if (explorable != rank0.explorable)
    return "has another GC3_TUNE_BUDGET than rank 0";
  return {};
}

uint64_t digestOf(const select::TuneFile &learned) {
  return learned.rows.empty() ? 0 : digestOf(select::writeTuneText(learned));
}

void ignoreLearned(select::TuneFile &learned) {
  logOnce("GC3_TUNE_FILE: ranks of a communicator have loaded different contents, and begin without them");
  learned.contexts.clear();
  learned.rows.clear();
}

} // namespace gc3::core
