// SPDX-License-Identifier: Apache-2.0
// The programs of a bundle, grouped by collective.
#pragma once

#include "bundle/BundleFile.h"
#include "core/Program.h"
#include "core/Wiring.h"
#include "gc3/Topology/Topology.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gc3::sim {

/// Programs of one collective, in the order of the bundle.
struct Group {
  std::string label;              ///< the form of the collective, such as "shift(n = 4, by = 1)"
  int root = -1;                  ///< of a standard collective that has one, else -1
  std::vector<uint32_t> programs; ///< numbers in the bundle
};

class Groups {
public:
  /// `wiring` is how the ranks are distributed over nodes; unknown: select() leaves out the programs for nodes. `file`
  /// must outlive this object.
  explicit Groups(const bundle::BundleFile &file, core::Wiring wiring = {})
      : file(file), wiring(std::move(wiring)), programs(file.programCount()) {}

  /// Loads and groups the programs of a collective (empty: of all), and with a name (empty: all). If `name` is not
  /// empty, each program has its own group. Returns an error text, or an empty string.
  std::string find(const std::string &collective, const std::string &name);

  const std::vector<Group> &all() const { return groups; }
  /// Returns a loaded program: one in a group.
  const core::Program &program(uint32_t index) const { return *programs[index]; }
  /// Returns the program that runtimes select for calls of this size, or nothing.
  std::optional<uint32_t> select(const Group &group, uint64_t bytes) const;
  /// Returns the group of programs for the same collective, ranks and root as a program of another bundle, or null.
  const Group *findLike(const core::Program &other, int root) const;

private:
  bool haveOneCollective(const Group &group, const bundle::fbs::Program &program, int root) const;

  const bundle::BundleFile &file;
  const core::Wiring wiring;
  std::vector<std::unique_ptr<core::Program>> programs; ///< by number in the bundle; null: not loaded
  std::vector<Group> groups;
};

/// Returns how the ranks of a topology are distributed over nodes.
core::Wiring wiringOf(const topology::Topology &topology);

} // namespace gc3::sim
