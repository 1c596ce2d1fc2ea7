// SPDX-License-Identifier: Apache-2.0
// Has the library in front find the machine's CUDA instead of the runtime that it is linked with.
#include "Machine.h"

const gc3::cuda::Cuda *gc3::cuda::linkedCuda() {
  return &gc3::test::machineCuda();
}
