// SPDX-License-Identifier: Apache-2.0
// The values of options that gc3-sim and gc3-tune share.
#pragma once

#include "core/Element.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gc3::sim {

using Defines = std::vector<std::pair<std::string, std::string>>; ///< names and values of params

/// Appends `name=value` to `defines`. Returns why the text of option `option` is wrong, or an empty string.
std::string addDefine(const std::string &option, const std::string &text, Defines &defines);

/// Returns the params of a file among `defines`, and adds their names to `used`. The file has `params`.
Defines ownDefines(const Defines &defines, const std::vector<std::string> &params, std::set<std::string> &used);
/// Returns an error text about the first of `defines` that is not among the names in `used`, or an empty string.
std::string findUnused(const Defines &defines, const std::set<std::string> &used);

/// Returns why there are no sizes from `least` to `most` bytes, those of -b and -e, or an empty string.
std::string checkSizes(uint64_t least, uint64_t most);

/// Returns the data type with this name, or nothing.
std::optional<core::ElementType> typeNamed(const std::string &name);

} // namespace gc3::sim
