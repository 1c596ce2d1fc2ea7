// SPDX-License-Identifier: Apache-2.0
// A libnccl.so.2 that is none: hides what the machine may have.
int notNccl() {
  return 0;
}
