// SPDX-License-Identifier: Apache-2.0
// The engine of the library in front of NCCL, over the CUDA runtime that it is linked with and the installed NCCL.
#include "lsa/Engine.h"
#include "nccl/Communicators.h"
#include "nccl/NoEngine.h"
#include "ncclapi/Installed.h"
#include "trace/RankFiles.h"

namespace gc3::nccl {

namespace {

/// NCCL may come back to us from there.
void inThread(const std::function<void()> &work) {
  lsa::inThread([work] {
    const ncclapi::Inside inside;
    work();
  });
}

ncclapi::Result settle(ncclapi::Comm comm) {
  return Communicators::table().settle(comm);
}

} // namespace

std::unique_ptr<Engine> makeEngine(shim::Bundles &&bundles) {
  static ncclapi::Nccl nccl;
  if (core::Outcome outcome = ncclapi::Nccl::find(findInstalled, nccl); !outcome.ok())
    return std::make_unique<NoEngine>(outcome.text); // all ranks have the same NCCL
  cuda::Options options = cuda::environmentOptions();
  options.traceName = trace::environmentName();
  return lsa::makeEngine({*cuda::linkedCuda(), nccl, gin::find, inThread}, std::move(bundles), options,
                         {forward, settle});
}

} // namespace gc3::nccl
