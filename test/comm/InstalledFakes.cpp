// SPDX-License-Identifier: Apache-2.0
// Substitutes the fakes for the linked CUDA runtime and the installed NCCL. The linker uses the definitions here, and
// not those in gc3's archives.
#include "InstalledFakes.h"

#include "FakeNccl.h"
#include "ncclapi/Installed.h"

const gc3::cuda::Cuda *gc3::test::linkedCuda = &FakeCuda::table();
bool gc3::test::hasNccl = true;

const gc3::cuda::Cuda *gc3::cuda::linkedCuda() {
  return test::linkedCuda;
}

void *gc3::ncclapi::findInstalled(const std::string &name) {
  return test::hasNccl ? test::FakeNccl::function(name) : nullptr;
}

void *gc3::ncclapi::installedFunction(const std::string &name) {
  return test::FakeNccl::applicationFunction(name);
}

void *gc3::ncclapi::installedFunction(Function function) {
  return installedFunction(std::string(functionNames[static_cast<size_t>(function)]));
}

// The fakes call no exported NCCL function, so a thread need not record that it is inside gc3.
gc3::ncclapi::NcclCallScope::NcclCallScope() = default;
gc3::ncclapi::NcclCallScope::~NcclCallScope() = default;
