// SPDX-License-Identifier: Apache-2.0
// Substitutes the fakes for the linked CUDA runtime and the installed NCCL. The linker uses the definitions here, and
// not those in gc3's archives.
#include "FakeNccl.h"
#include "ncclapi/Installed.h"

const gc3::cuda::Cuda *gc3::cuda::linkedCuda() {
  return &test::FakeCuda::table();
}

void *gc3::ncclapi::findInstalled(const std::string &name) {
  return test::FakeNccl::function(name);
}

// The fakes call no exported NCCL function, so a thread need not record that it is inside gc3.
gc3::ncclapi::NcclCallScope::NcclCallScope() = default;
gc3::ncclapi::NcclCallScope::~NcclCallScope() = default;
