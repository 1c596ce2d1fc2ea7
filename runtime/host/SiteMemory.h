// SPDX-License-Identifier: Apache-2.0
// Memory that all ranks of a site's communicator access: the process's own if it has all ranks, else a part of the file
// that processes share.
#pragma once

#include "host/Memory.h"
#include "host/Site.h"

namespace gc3::host {

class SiteMemory {
public:
  /// Allocates zeros, aligned to linePair. gc3SystemError: there is no memory.
  core::Outcome reserve(const Site &site, size_t bytes) {
    if (!site.isWhole())
      return site.memory().take(bytes).moveTo(shared);
    if (own.reserve(bytes))
      return {};
    return {gc3SystemError, "no memory for " + std::to_string(bytes) + " bytes"};
  }
  std::byte *data() const { return shared.data() ? shared.data() : own.data(); }
  size_t size() const { return shared.data() ? shared.size() : own.size(); }
  /// Releases the pages. No process may use the memory after this.
  void discard() { shared.discard(); }

private:
  Memory own;
  SharedPart shared;
};

} // namespace gc3::host
