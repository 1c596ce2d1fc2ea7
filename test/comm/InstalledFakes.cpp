// SPDX-License-Identifier: Apache-2.0
// Has the library find the fakes instead of the CUDA runtime that it is linked with and the installed NCCL: these
// symbols precede those of its archives.
#include "FakeNccl.h"
#include "ncclapi/Installed.h"

const gc3::cuda::Cuda *gc3::cuda::linkedCuda() {
  return &test::FakeCuda::table();
}

void *gc3::ncclapi::findInstalled(const std::string &name) {
  return test::FakeNccl::function(name);
}

// The fakes call no exported function of NCCL, so nothing depends on where a thread is.
gc3::ncclapi::NcclCallScope::NcclCallScope() = default;
gc3::ncclapi::NcclCallScope::~NcclCallScope() = default;
