// SPDX-License-Identifier: Apache-2.0
#include "ReadTopology.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Topology/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;

/// Returns a suggestion of the family that the user may have meant. Returns an empty string if the family exists, or if
/// no family has a similar name.
static std::string suggestFamily(llvm::StringRef name) {
  const llvm::StringRef wanted = name.substr(name.find('*') + 1).split(':').first;
  std::vector<std::string> families;
  const std::string help = topology::familiesHelp();
  for (llvm::StringRef rest = help; !rest.empty(); rest = rest.split('\n').second)
    families.push_back(rest.split('\t').first.split(':').first.str());
  return llvm::is_contained(families, wanted.str()) ? "" : suggestion(wanted, families);
}

std::optional<topology::Topology> driver::readTopology(const std::string &name, std::string &error,
                                                       topology::SwitchLinks switchLinks) {
  if (!llvm::StringRef(name).endswith(".json")) {
    std::optional<topology::Topology> topology = topology::named(name, error, switchLinks);
    error += topology ? "" : suggestFamily(name);
    return topology;
  }
  auto file = llvm::MemoryBuffer::getFile(name);
  if (!file) {
    error = "cannot read '" + name + "': " + file.getError().message();
    return {};
  }
  std::optional<topology::Topology> topology = topology::parseJson((*file)->getBuffer().str(), error);
  error = name + ": " + error;
  return topology;
}

void driver::listTopologies() {
  llvm::SmallVector<llvm::StringRef> lines;
  const std::string help = topology::familiesHelp();
  llvm::StringRef(help).split(lines, '\n', -1, false);
  for (llvm::StringRef line : lines) {
    const auto [name, text] = line.split('\t');
    llvm::outs() << name;
    llvm::outs().indent(static_cast<unsigned>(name.size() < 16 ? 16 - name.size() : 1)) << text << '\n';
  }
}
