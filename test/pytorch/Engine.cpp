// SPDX-License-Identifier: Apache-2.0
// The machine's CUDA, for the engine in front of NCCL.
#include "Machine.h"

const gc3::cuda::Cuda *gc3::cuda::linkedCuda() {
  return &gc3::test::machineCuda();
}
