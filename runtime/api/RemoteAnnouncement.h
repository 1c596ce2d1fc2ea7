// SPDX-License-Identifier: Apache-2.0
// Announcements of ranks of other hosts, as bytes.
#pragma once

#include "api/Board.h"

#include <cstddef>
#include <span>
#include <vector>

namespace gc3::api {

/// Returns the bytes of an announcement. Its number is not among them.
std::vector<std::byte> writeAnnouncement(const Announcement &announcement);
/// Sets an announcement to what the bytes say, except its number. Returns false if they are no announcement of this
/// version. Requests have no scalars.
bool readAnnouncement(std::span<const std::byte> bytes, Announcement &announcement);

} // namespace gc3::api
