// SPDX-License-Identifier: Apache-2.0
// The engine of the library in front of NCCL, over the CUDA runtime that it is linked with and the installed NCCL.
#include "lsa/Engine.h"
#include "nccl/Installed.h"
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

/// Where the installed NCCL has no windows, or is not what it takes, or the driver is older than the CUDA runtime here:
/// NCCL serves all calls. All ranks have the same ones.
class Unable : public Engine {
public:
  explicit Unable(std::string why) : why(std::move(why)) {}
  std::vector<Attached> attach(std::span<const Member> members) override {
    return std::vector<Attached>(members.size(), {nullptr, why});
  }
  Result run(std::span<const Work>) override { return Result::InternalError; } // there is nothing to run on

private:
  const std::string why;
};

} // namespace

std::unique_ptr<Engine> makeEngine(Bundles &&bundles) {
  static lsa::Nccl nccl;
  if (host::Outcome outcome = lsa::Nccl::find(findInstalled, nccl); !outcome.ok())
    return std::make_unique<Unable>(outcome.text);
  const cuda::Cuda &cuda = *cuda::linkedCuda();
  int device = 0;
  if (host::Outcome outcome = outcomeOf(cuda, cuda.getDevice(&device), "asking for the current device"); !outcome.ok())
    return std::make_unique<Unable>(outcome.text);
  cuda::Options options = cuda::environmentOptions();
  options.traceName = trace::environmentName();
  return lsa::makeEngine({cuda, nccl, gin::find, inThread}, std::move(bundles), options, forward);
}

} // namespace gc3::nccl
