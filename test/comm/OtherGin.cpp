// SPDX-License-Identifier: Apache-2.0
// A libgc3gin.so that belongs to another version of gc3.
#include "gc3.h"
#include "gin/Plugin.h"

extern "C" const gc3::gin::Plugin *gc3GinPlugin() {
  static const gc3::gin::Plugin part{GC3_VERSION + 1, 0, 0, nullptr, nullptr, nullptr, {}};
  return &part;
}
