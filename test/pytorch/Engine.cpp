// SPDX-License-Identifier: Apache-2.0
// Makes the interposer use the CUDA functions of the emulated machine instead of the linked runtime.
#include "Machine.h"

const gc3::cuda::Cuda *gc3::cuda::linkedCuda() {
  return &gc3::test::machineCuda();
}
