// SPDX-License-Identifier: Apache-2.0
#include "Baseline.h"

namespace gc3::sim {

bool Baseline::read(std::string &error) {
  if (isNccl()) {
    nccl = simulate::findNcclSystem(fabric.topology());
    return true;
  }
  if (!programs.read(error))
    return false;
  groups.emplace(programs.bundle(), wiringOf(fabric.topology()));
  if (std::string problem = groups->find("", ""); !problem.empty())
    error = line.baseline + ": " + problem;
  return error.empty();
}

std::string Baseline::check(const Group &group, const core::Program &program) const {
  if (isNccl()) {
    const bool isKnown = chooseNccl(nccl, program.info().collective()->string_view(), 0).has_value();
    return isKnown ? ""
                   : "NCCL's model has no time for " + group.label + " on topology '" + line.topology +
                         "'; choose a bundle as the baseline, or other programs with --collective";
  }
  return groups->findLike(program, group.root)
             ? ""
             : "baseline '" + line.baseline + "' has no program for " + group.label + " on " +
                   std::to_string(program.ranks()) + " ranks" +
                   (group.root >= 0 ? " with root " + std::to_string(group.root) : "");
}

std::string Baseline::time(const Group &group, const core::Program &program, uint64_t count, uint64_t bytes,
                           std::optional<BaselineTime> &result) const {
  result.reset();
  if (isNccl()) {
    const std::optional<simulate::NcclChoice> choice =
        chooseNccl(nccl, program.info().collective()->string_view(), bytes);
    result = {choice->time, "nccl " + std::string(name(choice->algorithm)) + " " +
                                std::string(topology::ProtocolNames[choice->protocol])};
    return {};
  }
  const std::optional<uint32_t> index = groups->select(*groups->findLike(program, group.root), bytes);
  if (!index)
    return {};
  simulate::Prediction prediction;
  const core::Program &other = groups->program(*index);
  if (std::string problem = simulate::simulate(callOf(other, count, fabric, line), fabric, {}, prediction);
      !problem.empty())
    return "baseline: " + problem;
  result = {prediction.time,
            other.info().name()->str() + (whySimple(other, fabric, line).empty() ? "" : " under Simple")};
  return {};
}

} // namespace gc3::sim
