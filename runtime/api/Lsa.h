// SPDX-License-Identifier: Apache-2.0
// Ranks of an NCCL communicator, on GPUs of their own: those that one thread has initialised together.
#pragma once

#include "api/Handles.h"
#include "cuda/PeriodicThread.h"
#include "lsa/World.h"
#include "nccl/Asking.h"

#include <map>
#include <span>

namespace gc3::api {

class Lsa final : public Backend {
public:
  explicit Lsa(const lsa::Drivers &drivers) : cuda(drivers.cuda), nccl(drivers.nccl), aside(drivers.aside) {}

  /// A rank to be made, and where its handle goes.
  struct Init {
    gc3Comm **comm;
    lsa::Applicant applicant;
  };
  /// Makes the ranks of several communicators, or fails for some of them; the first error, or the first of a rank that
  /// was not told of it.
  static core::Outcome make(const lsa::Drivers &drivers, std::span<const Init> inits);
  /// With the CUDA runtime that this library is linked with and the installed NCCL.
  static core::Outcome make(std::span<const Init> inits);

  uint32_t ranks() const override { return rankCount; }
  bool takesStreams() const override { return true; }
  Arrival arrive(std::span<const core::RankRequest> parts) override { return {{}, parts, 0, true}; }
  core::Outcome complete(const Arrival &arrival) override;
  core::Outcome select(const core::Request &request, const char *&program) override;
  core::Outcome asyncError() override;
  void leave(uint32_t rank, bool aborts) override;

private:
  /// One that has not left.
  struct Member {
    std::shared_ptr<lsa::Rank> rank;
    std::shared_ptr<cuda::PeriodicThread> watcher; ///< only where there is a timeout
    nccl::Asked asked{};
  };
  void add(const std::shared_ptr<lsa::Rank> &rank);
  core::Outcome run(const Arrival &arrival);
  core::Outcome callOf(const core::RankRequest &part, lsa::RankCall &call, std::shared_ptr<lsa::Rank> &rank);
  std::vector<nccl::Asking<lsa::Rank>> present();

  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  const lsa::Aside aside;
  uint32_t rankCount = 0;
  std::mutex mutex; ///< guards the members: each may leave at a time of its own
  std::map<uint32_t, Member> members;
};

/// Makes a rank at once, or notes it when the thread is in a group.
core::Outcome enqueue(const Lsa::Init &init);

} // namespace gc3::api
