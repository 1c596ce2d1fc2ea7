// SPDX-License-Identifier: Apache-2.0
// The hardware of a link.
#pragma once

#include <cstdint>
#include <string_view>

namespace gc3::topology {

enum class LinkKind : uint8_t { Other, NvLink, NvSwitch, Xgmi, Pcie, Network };
inline constexpr unsigned LinkKinds = 6;

/// Returns the spelling in JSON: "other", "nvlink", "nvswitch", "xgmi", "pcie" or "network".
std::string_view name(LinkKind kind);

} // namespace gc3::topology
