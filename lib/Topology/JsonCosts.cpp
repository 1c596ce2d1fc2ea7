// SPDX-License-Identifier: Apache-2.0
#include "JsonCosts.h"

namespace gc3::topology {

/// Reads the additional latencies of messages by the kind of their link.
static void readHops(JsonReader &reader, const Value &value, ProtocolCosts &costs) {
  auto members = reader.object(value, {"other", "nvlink", "nvswitch", "xgmi", "pcie", "network"});
  if (!members)
    return;
  for (unsigned kind = 0; kind < LinkKinds; ++kind)
    if (auto hop = reader.member(*members, llvm::StringRef(name(static_cast<LinkKind>(kind)))))
      costs.hop[kind] = reader.quantity(*hop, "a latency in microseconds");
}

static ProtocolCosts readProtocol(JsonReader &reader, const Value &value) {
  ProtocolCosts costs;
  auto members = reader.object(value, {"copy", "reduce", "grain", "hop"});
  if (!members)
    return costs;
  if (auto copy = reader.member(*members, "copy"))
    costs.copy = reader.rate(*copy, "a rate in GB/s");
  if (auto reduce = reader.member(*members, "reduce"))
    costs.reduce = reader.rate(*reduce, "a rate in GB/s");
  if (auto grain = reader.member(*members, "grain"))
    costs.grain = reader.quantity(*grain, "a number of bytes");
  if (auto hop = reader.member(*members, "hop"))
    readHops(reader, *hop, costs);
  return costs;
}

static Processors readProcessors(JsonReader &reader, const Value &value) {
  Processors processors;
  auto members = reader.object(value, {"count", "cache", "miss"});
  if (!members)
    return processors;
  if (auto count = reader.member(*members, "count", true))
    processors.count = reader.number(*count, 1, 1 << 20, "a number of processors");
  if (auto cache = reader.member(*members, "cache"))
    processors.cache = reader.rate(*cache, "a number of bytes above 0");
  if (auto miss = reader.member(*members, "miss"))
    processors.miss = reader.quantity(*miss, "a time in microseconds per million bytes");
  return processors;
}

Costs readCosts(JsonReader &reader, const Value &value) {
  Costs costs;
  auto members =
      reader.object(value, {"launch", "step", "prepare", "wait", "memory", "processors", "simple", "ll", "ll128"});
  if (!members)
    return costs;
  const std::pair<const char *, double *> times[] = {
      {"launch", &costs.launch}, {"step", &costs.step}, {"prepare", &costs.prepare}, {"wait", &costs.wait}};
  for (const auto &[name, target] : times)
    if (auto time = reader.member(*members, name))
      *target = reader.quantity(*time, "a time in microseconds");
  if (auto memory = reader.member(*members, "memory"))
    costs.memory = reader.rate(*memory, "a bandwidth in GB/s");
  if (auto processors = reader.member(*members, "processors"))
    costs.processors = readProcessors(reader, *processors);
  for (unsigned protocol = 0; protocol < ProtocolCount; ++protocol)
    if (auto own = reader.member(*members, llvm::StringRef(ProtocolNames[protocol])))
      costs.protocols[protocol] = readProtocol(reader, *own);
  return costs;
}

NetworkCards readNetwork(JsonReader &reader, const Value &value) {
  NetworkCards network;
  auto members = reader.object(value, {"cards", "bandwidth", "scale", "alpha", "beta"});
  if (!members)
    return network;
  if (auto cards = reader.member(*members, "cards"))
    network.cards = reader.number(*cards, 1, Topology::MaxRanks, "the number of network cards");
  if (auto bandwidth = reader.member(*members, "bandwidth"))
    network.bandwidth = reader.number(*bandwidth, 1, 1 << 20, "a bandwidth");
  if (auto scale = reader.member(*members, "scale"))
    network.scale = reader.number(*scale, 1, 1000, "a scale");
  if (auto alpha = reader.member(*members, "alpha"))
    network.alpha = reader.quantity(*alpha, "a latency in microseconds");
  if (auto beta = reader.member(*members, "beta"))
    network.beta = reader.quantity(*beta, "a time in microseconds per million bytes");
  return network;
}

std::vector<Source> readSources(JsonReader &reader, const Value &value) {
  std::vector<Source> sources;
  for (const Value &one : reader.array(value)) {
    auto members = reader.object(one, {"figure", "source"});
    if (!members)
      break;
    auto figure = reader.member(*members, "figure", true), source = reader.member(*members, "source", true);
    if (figure && source)
      sources.push_back({reader.line(*figure), reader.line(*source)});
  }
  return sources;
}

} // namespace gc3::topology
