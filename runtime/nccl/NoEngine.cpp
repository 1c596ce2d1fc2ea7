// SPDX-License-Identifier: Apache-2.0
// The engine of builds without one: it refuses every communicator, so NCCL serves all calls.
#include "nccl/Engine.h"

namespace gc3::nccl {

namespace {

class NoEngine : public Engine {
public:
  std::vector<Attached> attach(std::span<const Member> members) override {
    return std::vector<Attached>(members.size(), {nullptr, "this build of gc3 has no engine for GPUs"});
  }
  Result run(std::span<const Work>) override { return Result::InternalError; } // there is nothing to run on
};

} // namespace

std::unique_ptr<Engine> makeEngine(Bundles &&) {
  return std::make_unique<NoEngine>();
}

} // namespace gc3::nccl
