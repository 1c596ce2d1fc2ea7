// SPDX-License-Identifier: Apache-2.0
// An empty libnccl.so.2, which hides the machine's NCCL.
int notNccl() {
  return 0;
}
