// SPDX-License-Identifier: Apache-2.0
// A program that is linked with NCCL, and calls useNccl() of User.cpp.
extern "C" int useNccl();

int main() {
  return useNccl();
}
