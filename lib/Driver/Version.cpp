// SPDX-License-Identifier: Apache-2.0
// The version of the build.
#include "Version.h"

std::string gc3::driver::version() {
  return "gc3c " GC3_VERSION;
}
