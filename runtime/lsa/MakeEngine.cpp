// SPDX-License-Identifier: Apache-2.0
// The engine of the library in front of NCCL, over the CUDA runtime that it is linked with and the installed NCCL.
#include "lsa/Engine.h"
#include "nccl/Communicators.h"
#include "nccl/Installed.h"
#include "nccl/NoEngine.h"
#include "trace/RankFiles.h"

namespace gc3::nccl {

namespace {

/// NCCL may come back to us from there.
void inThread(const std::function<void()> &work) {
  lsa::inThread([work] {
    const Inside inside;
    work();
  });
}

Result settle(Comm comm) {
  return Communicators::table().settle(comm);
}

} // namespace

std::unique_ptr<Engine> makeEngine(Bundles &&bundles) {
  static lsa::Nccl nccl;
  if (host::Outcome outcome = lsa::Nccl::find(findInstalled, nccl); !outcome.ok())
    return std::make_unique<NoEngine>(outcome.text); // all ranks have the same NCCL
  cuda::Options options = cuda::environmentOptions();
  options.traceName = trace::environmentName();
  return lsa::makeEngine({*cuda::linkedCuda(), nccl, gin::find, inThread}, std::move(bundles), options,
                         {forward, settle});
}

} // namespace gc3::nccl
