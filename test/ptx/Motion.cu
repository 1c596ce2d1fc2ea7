// SPDX-License-Identifier: Apache-2.0
// The kernels of the test of data movement (test/device/MotionTest.cpp). Their names have the protocol and the size of
// an element.
#include "../device/MotionCall.h"
#include "kernel/PtxMachine.cuh"

namespace gc3::test {

/// The threads run one after another, so no two of them add at the same time.
template <kernel::Protocol P, uint32_t ElementBytes>
__global__ void move(const __grid_constant__ MotionCall call) {
  kernel::PtxMachine machine;
  if (!moveRun<P, ElementBytes>(machine, call.motion, call.run))
    ++*call.stopped;
}

template __global__ void move<kernel::Protocol::Simple, 1>(const __grid_constant__ MotionCall);
template __global__ void move<kernel::Protocol::Simple, 2>(const __grid_constant__ MotionCall);
template __global__ void move<kernel::Protocol::Simple, 4>(const __grid_constant__ MotionCall);
template __global__ void move<kernel::Protocol::Simple, 8>(const __grid_constant__ MotionCall);
template __global__ void move<kernel::Protocol::LL, 1>(const __grid_constant__ MotionCall);
template __global__ void move<kernel::Protocol::LL, 2>(const __grid_constant__ MotionCall);
template __global__ void move<kernel::Protocol::LL, 4>(const __grid_constant__ MotionCall);
template __global__ void move<kernel::Protocol::LL, 8>(const __grid_constant__ MotionCall);
template __global__ void move<kernel::Protocol::LL128, 1>(const __grid_constant__ MotionCall);
template __global__ void move<kernel::Protocol::LL128, 2>(const __grid_constant__ MotionCall);
template __global__ void move<kernel::Protocol::LL128, 4>(const __grid_constant__ MotionCall);
template __global__ void move<kernel::Protocol::LL128, 8>(const __grid_constant__ MotionCall);

} // namespace gc3::test
