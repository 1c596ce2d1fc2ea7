// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gc3::driver {

/// "gc3c 0.1.0": also what a bundle says of its producer.
std::string version();

} // namespace gc3::driver
