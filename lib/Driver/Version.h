// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gc3::driver {

/// Returns text such as "gc3c 0.1.0". A bundle stores this text as the name of its producer.
std::string version();

} // namespace gc3::driver
