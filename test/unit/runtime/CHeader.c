/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles gc3.h as C11 and calls the functions that need no bundle. */
#include "gc3.h"

#include <stdio.h>

int main(void) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  gc3GpuConfig_t gpuConfig = GC3_GPU_CONFIG_INITIALIZER;
  gc3Bundle_t bundle = NULL;
  gc3RedOp_t op = gc3Sum;
  const float scalar = 2;
  int version = 0;
  if (config.size != sizeof config || gpuConfig.size != sizeof gpuConfig || gpuConfig.ll128 != gc3LL128Default)
    return 1;
  if (gc3GetVersion(&version) != gc3Success || version != GC3_VERSION)
    return 1;
  if (gc3BundleLoadMemory(&bundle, "", 0) != gc3BundleTruncated)
    return 1;
  if (gc3RedOpCreatePreMulSum(&op, &scalar, gc3Float32, gc3ScalarHostImmediate, NULL) != gc3InvalidArgument ||
      gc3RedOpDestroy(op, NULL) != gc3InvalidArgument)
    return 1;
  if (gc3CommAddWindow(NULL, NULL, &scalar, sizeof scalar) != gc3InvalidArgument ||
      gc3CommRemoveWindow(NULL, NULL) != gc3InvalidArgument)
    return 1;
  puts(gc3GetLastError(NULL));
  return 0;
}
