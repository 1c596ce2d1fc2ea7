// SPDX-License-Identifier: Apache-2.0
// Prints topologies as JSON. A switch is printed as a switch, without its links and bounds.
#include "gc3/Topology/Json.h"
#include "gc3/Topology/Topology.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

namespace gc3::topology {

namespace {

namespace json = llvm::json;

std::string text(const json::Value &value) {
  return llvm::formatv("{0}", value).str();
}
std::string quoted(std::string_view word) {
  return text(llvm::StringRef(word.data(), word.size()));
}

/// Prints an array over several lines, with one entry a line. Prints nothing if it is empty, unless it is needed.
class Entries {
public:
  Entries(llvm::raw_ostream &out, const char *name, bool isNeeded = false) : out(out), name(name) {
    if (isNeeded)
      begin();
  }
  ~Entries() {
    if (isBegun)
      out << (isEmpty ? "]" : "\n  ]");
  }
  llvm::raw_ostream &next() {
    begin();
    out << (isEmpty ? "\n    " : ",\n    ");
    isEmpty = false;
    return out;
  }

private:
  void begin() {
    if (!isBegun)
      out << ",\n  \"" << name << "\": [";
    isBegun = true;
  }
  llvm::raw_ostream &out;
  const char *name;
  bool isBegun = false, isEmpty = true;
};

/// Returns true if `next` is the same link in the opposite direction; then both are printed on one line.
bool isBack(const Link &link, const Link &next) {
  return link.from == next.to && link.to == next.from && link.bandwidth == next.bandwidth && link.kind == next.kind &&
         link.alpha == next.alpha && link.beta == next.beta && next.ofSwitch == Link::NoSwitch;
}

void printLinks(llvm::raw_ostream &out, const Topology &topology) {
  Entries entries(out, "links", topology.switches.empty());
  for (size_t i = 0; i < topology.links.size(); ++i) {
    const Link &link = topology.links[i];
    if (link.ofSwitch != Link::NoSwitch)
      continue;
    entries.next() << "{\"from\": " << link.from << ", \"to\": " << link.to << ", \"bandwidth\": " << link.bandwidth
                   << ", \"kind\": " << quoted(name(link.kind)) << ", \"alpha\": " << text(link.alpha)
                   << ", \"beta\": " << text(link.beta);
    if (i + 1 < topology.links.size() && isBack(link, topology.links[i + 1])) {
      out << ", \"both\": true";
      ++i;
    }
    out << "}";
  }
}

void printPorts(llvm::raw_ostream &out, const Switch &from) {
  for (uint32_t port = 0; port < from.ports(); ++port) {
    const uint32_t begin = from.portBegin[port], end = from.portBegin[port + 1];
    out << (port ? ", " : "") << (end - begin > 1 ? "[" : "");
    for (uint32_t i = begin; i < end; ++i)
      out << (i > begin ? ", " : "") << from.portRanks[i];
    out << (end - begin > 1 ? "]" : "");
  }
}

void printSwitches(llvm::raw_ostream &out, const Topology &topology) {
  Entries entries(out, "switches");
  for (const Switch &from : topology.switches) {
    entries.next() << "{\"kind\": " << quoted(name(from.kind)) << ", \"bandwidth\": " << from.bandwidth
                   << ", \"alpha\": " << text(from.alpha) << ", \"beta\": " << text(from.beta);
    if (from.rails)
      out << ", \"rails\": " << from.rails;
    if (from.trunkPorts)
      out << ", \"trunk\": {\"ports\": " << from.trunkPorts << ", \"bandwidth\": " << from.trunkBandwidth << "}";
    out << ", \"ports\": [";
    printPorts(out, from);
    out << "]}";
  }
}

void printBounds(llvm::raw_ostream &out, const Topology &topology) {
  Entries entries(out, "bounds", topology.switches.empty());
  for (uint32_t bound = 0; bound < topology.boundCount(); ++bound) {
    if (topology.boundSwitch[bound] != Link::NoSwitch)
      continue;
    entries.next() << "{\"bandwidth\": " << topology.boundBandwidth[bound];
    const uint32_t begin = topology.boundBegin[bound], end = topology.boundBegin[bound + 1];
    const auto links = [&](uint32_t i) -> const Link & { return topology.links[topology.boundLinks[i]]; };
    bool isOneKind = true;
    for (uint32_t i = begin; i < end; ++i)
      isOneKind &= links(i).kind == links(begin).kind;
    if (isOneKind)
      out << ", \"kind\": " << quoted(name(links(begin).kind));
    out << ", \"links\": [";
    for (uint32_t i = begin; i < end; ++i)
      out << (i > begin ? ", " : "") << "[" << links(i).from << ", " << links(i).to << "]";
    out << "]}";
  }
}

void printProtocol(llvm::raw_ostream &out, const ProtocolCosts &costs) {
  const char *separator = "";
  const auto field = [&](const char *name, double value) {
    out << separator << "\"" << name << "\": " << text(value);
    separator = ", ";
  };
  if (std::isfinite(costs.copy))
    field("copy", costs.copy);
  if (std::isfinite(costs.reduce))
    field("reduce", costs.reduce);
  if (costs.grain != 0)
    field("grain", costs.grain);
  out << separator << "\"hop\": {";
  separator = "";
  for (unsigned kind = 0; kind < LinkKinds; ++kind)
    if (costs.hop[kind] != 0)
      field(std::string(name(static_cast<LinkKind>(kind))).c_str(), costs.hop[kind]);
  out << "}";
}

void printProcessors(llvm::raw_ostream &out, const Processors &processors) {
  out << ",\n    \"processors\": {\"count\": " << text(processors.count);
  if (std::isfinite(processors.cache))
    out << ", \"cache\": " << text(processors.cache);
  if (processors.miss != 0)
    out << ", \"miss\": " << text(processors.miss);
  out << "}";
}

void printCosts(llvm::raw_ostream &out, const Costs &costs) {
  out << ",\n  \"costs\": {\n    \"launch\": " << text(costs.launch) << ", \"step\": " << text(costs.step)
      << ", \"prepare\": " << text(costs.prepare) << ", \"wait\": " << text(costs.wait);
  if (std::isfinite(costs.memory))
    out << ", \"memory\": " << text(costs.memory);
  if (std::isfinite(costs.processors.count))
    printProcessors(out, costs.processors);
  for (unsigned protocol = 0; protocol < ProtocolCount; ++protocol) {
    out << ",\n    " << quoted(ProtocolNames[protocol]) << ": {";
    printProtocol(out, costs.protocols[protocol]);
    out << "}";
  }
  out << "\n  }";
}

} // namespace

void printJson(llvm::raw_ostream &out, const Topology &topology) {
  out << "{\n  \"name\": " << quoted(topology.name);
  if (!topology.description.empty())
    out << ",\n  \"description\": " << quoted(topology.description);
  out << ",\n  \"ranks\": " << topology.ranks;
  if (topology.host != 0)
    out << ",\n  \"host\": " << topology.host;
  for (size_t i = 0; i < topology.lattice.size(); ++i)
    out << (i ? ", " : ",\n  \"lattice\": [") << topology.lattice[i];
  out << (topology.lattice.empty() ? "" : "]");
  printLinks(out, topology);
  printSwitches(out, topology);
  printBounds(out, topology);
  if (topology.network)
    out << ",\n  \"network\": {\"cards\": " << topology.network->cards
        << ", \"bandwidth\": " << topology.network->bandwidth << ", \"scale\": " << topology.network->scale
        << ", \"alpha\": " << text(topology.network->alpha) << ", \"beta\": " << text(topology.network->beta) << "}";
  if (topology.costs.isSet())
    printCosts(out, topology.costs);
  {
    Entries entries(out, "sources");
    for (const Source &source : topology.sources)
      entries.next() << "{\"figure\": " << quoted(source.figure) << ", \"source\": " << quoted(source.origin) << "}";
  }
  out << "\n}\n";
}

} // namespace gc3::topology
