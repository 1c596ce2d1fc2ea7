// SPDX-License-Identifier: Apache-2.0
// Synthesis problems for tests.
#pragma once

#include "gc3/Algorithm/Print.h"
#include "gc3/Sema/Sema.h"
#include "gc3/Topology/Families.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

namespace gc3::algorithm {

/// A topology and a collective with its demand.
struct Problem {
  topology::Topology topology;
  std::string implements;
  ir::Collective collective;
  Demand demand;

  Problem(const std::string &topologyName, const std::string &implements) : implements(implements) {
    std::string error;
    topology = topology::named(topologyName, error).value();
    SourceManager sources;
    Diagnostics diags(sources);
    const std::string text = "param inplace: bool = true; program p implements " + implements + " { }";
    collective = sema::analyzeCollective(sources, diags, "-", text, {}).value();
    demand = demandOf(collective, error).value();
  }

  /// Returns the number of the link from a rank to another.
  uint32_t link(uint32_t from, uint32_t to) const {
    for (uint32_t i = 0; i < topology.linkCount(); ++i)
      if (topology.links[i].from == from && topology.links[i].to == to)
        return i;
    ADD_FAILURE() << "no link from " << from << " to " << to;
    return 0;
  }
  std::string findError(const Algorithm &algorithm) const { return algorithm::findError(topology, demand, algorithm); }
  std::string program(const Algorithm &algorithm, size_t mostLines = 50'000) const {
    std::string text;
    llvm::raw_string_ostream out(text);
    print(out, topology, collective, demand, algorithm,
          {{"A test."}, {}, "p", implements, true, "at", true, "", mostLines});
    return out.str();
  }
};

/// Returns the diagnostics of the compiler's front end for the program, in place and out of place. The front end also
/// checks the promise of the collective.
inline std::string complaints(const std::string &program) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const char *inplace : {"true", "false"}) {
    SourceManager sources;
    Diagnostics diags(sources);
    sema::SemaOptions options;
    options.defines = {{"inplace", inplace}};
    sema::analyze(sources, diags, "-", program, options);
    diags.print(out, false);
  }
  return out.str();
}

} // namespace gc3::algorithm
