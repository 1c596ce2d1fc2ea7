// SPDX-License-Identifier: Apache-2.0
// What there is where no program can run: it refuses every communicator, so NCCL serves all calls.
#pragma once

#include "nccl/Engine.h"

#include <utility>

namespace gc3::nccl {

class NoEngine final : public Engine {
public:
  explicit NoEngine(std::string reason) : why(std::move(reason)) {}

  std::string refusal() const override { return why; }
  std::vector<Attached> attach(std::span<const Member> members) override {
    return std::vector<Attached>(members.size(), {nullptr, why});
  }
  bool isCaptured(Stream) const override { return false; }
  void load(const Work &) override {}
  Result run(std::span<const Work>) override { return Result::InternalError; } // there is nothing to run on

private:
  const std::string why;
};

} // namespace gc3::nccl
