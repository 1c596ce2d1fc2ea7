// SPDX-License-Identifier: Apache-2.0
#include "ReadTopology.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Topology/Families.h"
#include "gc3/Topology/Import.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
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

/// Returns true for the name of a file. No family has a dot or a slash in its name.
static bool isFile(llvm::StringRef name) {
  return name.find_first_of("./\\") != llvm::StringRef::npos;
}

std::optional<topology::Topology> driver::readTopology(const std::string &name, std::string &error,
                                                       topology::SwitchLinks switchLinks) {
  std::string inner = name;
  const std::optional<uint32_t> machines = topology::splitMachines(inner);
  if (!isFile(inner)) {
    std::optional<topology::Topology> topology = topology::named(name, error, switchLinks);
    error += topology ? "" : suggestFamily(name);
    return topology;
  }
  auto file = llvm::MemoryBuffer::getFile(inner);
  if (!file) {
    error = "cannot read '" + inner + "': " + file.getError().message();
    return {};
  }
  std::optional<topology::Topology> topology =
      topology::parseFile((*file)->getBuffer().str(), llvm::sys::path::stem(inner).str(), error);
  if (topology && machines)
    topology = topology::repeated(*topology, *machines, error, switchLinks);
  if (topology && !topology->warning.empty())
    topology->warning = inner + ": " + topology->warning;
  error = inner + ": " + error;
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
