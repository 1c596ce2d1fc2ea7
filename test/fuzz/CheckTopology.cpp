// SPDX-License-Identifier: Apache-2.0
#include "CheckTopology.h"
#include "gc3/Simulate/Fabric.h"
#include "gc3/Topology/Import.h"
#include "gc3/Topology/Json.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::test {

static std::string print(const topology::Topology &topology) {
  std::string text;
  llvm::raw_string_ostream out(text);
  topology::printJson(out, topology);
  return out.str();
}

std::string checkTopology(const std::string &text, uint32_t &accepted) {
  std::string error;
  const std::optional<topology::Topology> topology = topology::parseFile(text, "file", error);
  if (!topology)
    return error.empty() ? "a refused text has no error" : "";
  ++accepted;
  const std::string printed = print(*topology);
  const std::optional<topology::Topology> again = topology::parseJson(printed, error);
  if (!again)
    return "the printed form is refused: " + error;
  if (print(*again) != printed)
    return "the printed form changes when it is read";
  const simulate::Fabric fabric(*topology);
  for (const topology::Link &link : topology->links)
    if (!fabric.route(link.from, link.to))
      return "a link has no route";
  for (uint32_t i = 0; i < fabric.resources().size(); ++i)
    if (!(fabric.resources()[i].capacity > 0) || fabric.nameOf(i).empty())
      return "a resource has no capacity or no name";
  return {};
}

} // namespace gc3::test
