// SPDX-License-Identifier: Apache-2.0
// A libnccl.so.2 without NCCL's functions. On the search path, it hides the installed NCCL.
int notNccl() {
  return 0;
}
