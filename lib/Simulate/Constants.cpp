// SPDX-License-Identifier: Apache-2.0
#include "gc3/Simulate/Constants.h"
#include <array>
#include <cmath>
#include <functional>

namespace gc3::simulate {

using topology::LinkKind;
using topology::LinkKinds;
using topology::Topology;

namespace {

/// Receives the name of a constant, its places in the topology, and whether it is a rate.
using Visit = std::function<void(const std::string &name, const std::vector<double *> &places, bool isRate)>;

/// The places of alpha and beta, by kind of link.
struct LinkPlaces {
  std::array<std::vector<double *>, LinkKinds> alpha, beta;

  explicit LinkPlaces(Topology &topology) {
    for (topology::Switch &each : topology.switches)
      add(each.kind, each.alpha, each.beta);
    for (topology::Link &link : topology.links)
      add(link.kind, link.alpha, link.beta);
    if (topology.network)
      add(LinkKind::Network, topology.network->alpha, topology.network->beta);
  }
  bool has(unsigned kind) const { return !alpha[kind].empty(); }

private:
  void add(LinkKind kind, double &latency, double &time) {
    alpha[static_cast<size_t>(kind)].push_back(&latency);
    beta[static_cast<size_t>(kind)].push_back(&time);
  }
};

void visitConstants(Topology &topology, const Visit &visit) {
  topology::Costs &costs = topology.costs;
  visit("launch", {&costs.launch}, false);
  visit("step", {&costs.step}, false);
  visit("prepare", {&costs.prepare}, false);
  visit("wait", {&costs.wait}, false);
  const LinkPlaces links(topology);
  const auto nameOf = [](unsigned kind) { return std::string(name(static_cast<LinkKind>(kind))); };
  for (unsigned kind = 0; kind < LinkKinds; ++kind)
    if (links.has(kind)) {
      visit(nameOf(kind) + ".alpha", links.alpha[kind], false);
      visit(nameOf(kind) + ".beta", links.beta[kind], false);
    }
  visit("memory", {&costs.memory}, true);
  if (std::isfinite(costs.processors.count)) {
    visit("processors.cache", {&costs.processors.cache}, true);
    visit("processors.miss", {&costs.processors.miss}, false);
  }
  for (unsigned protocol = 0; protocol < topology::ProtocolCount; ++protocol) {
    topology::ProtocolCosts &own = costs.protocols[protocol];
    const std::string prefix = std::string(topology::ProtocolNames[protocol]) + ".";
    visit(prefix + "copy", {&own.copy}, true);
    visit(prefix + "reduce", {&own.reduce}, true);
    if (protocol != 0) // Simple stores and forwards
      visit(prefix + "grain", {&own.grain}, false);
    for (unsigned kind = 0; kind < LinkKinds; ++kind)
      if (links.has(kind))
        visit(prefix + "hop." + nameOf(kind), {&own.hop[kind]}, false);
  }
}

} // namespace

std::vector<Constant> constantsOf(const Topology &topology) {
  Topology copy = topology;
  std::vector<Constant> constants;
  visitConstants(copy, [&](const std::string &name, const std::vector<double *> &places, bool isRate) {
    constants.push_back({name, *places.front(), isRate});
  });
  return constants;
}

void setConstant(Topology &topology, const std::string &name, double value) {
  visitConstants(topology, [&](const std::string &each, const std::vector<double *> &places, bool) {
    if (each != name)
      return;
    const double before = *places.front();
    for (double *place : places)
      *place = before > 0 && places.size() > 1 ? *place * (value / before) : value;
  });
}

} // namespace gc3::simulate
