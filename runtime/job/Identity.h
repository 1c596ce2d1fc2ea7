// SPDX-License-Identifier: Apache-2.0
// What a rank says about its process. All ranks have the identities of all ranks after they have joined.
#pragma once

#include "net/Frame.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc3::job {

struct Identity {
  /// Number of the host: processes with the same number share the kernel, the user, and the namespaces of processes,
  /// users and networks, and have the same GC3_HOSTID. So they can share memory and see each other's process ids. 0:
  /// unknown.
  uint64_t host = 0;
  uint32_t process = 0; ///< process id
  std::string hostName; ///< for texts: GC3_HOSTID, else the name of the machine

  bool operator==(const Identity &) const = default;
};

/// Returns true if processes of both identities can share memory.
inline bool shareHost(const Identity &a, const Identity &b) {
  return a.host != 0 && a.host == b.host;
}

/// Returns the identity of the calling process.
Identity identifyThisProcess();

/// Returns a text such as "process 4711 on host a".
std::string describe(const Identity &identity);

inline constexpr size_t mostHostNameBytes = 255; // writeIdentity() cuts the rest off

std::vector<uint8_t> writeIdentity(const Identity &identity);
/// Returns nothing if the bytes are no identity of this version.
std::optional<Identity> readIdentity(net::Bytes bytes);

} // namespace gc3::job
