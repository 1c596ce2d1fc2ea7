// SPDX-License-Identifier: Apache-2.0
// A kernel that must spill registers, because it has twice as many live values as a thread has registers. A test checks
// that its compilation fails.

__global__ void __launch_bounds__(1024, 2) spill(float *data) {
  float values[64];
  for (int i = 0; i < 64; ++i)
    values[i] = data[i * 1024 + threadIdx.x];
  for (int round = 0; round < 100; ++round)
    for (int i = 0; i < 64; ++i)
      values[i] = values[(i + 1) % 64] * values[i] + values[(i + 7) % 64];
  for (int i = 0; i < 64; ++i)
    data[i * 1024 + threadIdx.x] = values[i];
}
