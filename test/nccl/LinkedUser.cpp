// SPDX-License-Identifier: Apache-2.0
// A program that is linked with NCCL.
extern "C" int useNccl();

int main() {
  return useNccl();
}
