// SPDX-License-Identifier: Apache-2.0
// The backend of gc3CommInit: one rank of an NCCL communicator, on a GPU.
#pragma once

#include "api/Backend.h"
#include "api/Handles.h"
#include "comm/CallGroup.h"

namespace gc3::api {

class NcclBackend final : public Backend {
public:
  /// A rank to create, and where to store its handle.
  struct Init {
    gc3Comm **handle;
    ncclapi::Comm ncclComm;
    std::shared_ptr<comm::Communicator> communicator;
  };
  /// Creates a rank of `ncclComm`, which does not join yet. The rank uses the CUDA runtime that this library is linked
  /// with, and the installed NCCL.
  static core::Result<std::shared_ptr<comm::Communicator>>
  create(ncclapi::Comm ncclComm, std::shared_ptr<const bundle::BundleFile> file, const cuda::Options &options);
  /// Makes all ranks join, and stores the handles of the ranks that succeed. Several inits of one `ncclComm` join one
  /// after the other. Returns the first error. But if that error is gc3InvalidUsage, which a rank can get because of
  /// other ranks, returns the first other error if there is one.
  static core::Outcome join(std::span<const Init> inits);

  explicit NcclBackend(std::shared_ptr<comm::Communicator> communicator) : communicator(std::move(communicator)) {}

  uint32_t ranks() const override { return static_cast<uint32_t>(communicator->ranks()); }
  bool takesStreams() const override { return true; }
  Arrival arrive(std::span<const core::RankRequest> parts) override { return {{}, parts, 0}; }
  core::Outcome complete(const Arrival &arrival) override;
  core::Result<const char *> select(const core::Request &request) override;
  core::OnlineSelection::Counters tuneCounters() override {
    const std::shared_ptr<comm::OnlineRank> online = communicator->online();
    return online ? online->counters() : core::OnlineSelection::Counters{};
  }
  core::Outcome saveTuneFile(const char *path) override {
    const std::shared_ptr<comm::OnlineRank> online = communicator->online();
    return online ? online->save(path) : Backend::saveTuneFile(path);
  }
  core::Outcome asyncError() override { return communicator->status().error; }
  void leave(bool aborts) override;
  NcclBackend *ofNccl() override { return this; }

  comm::UserWindows &windows() { return communicator->windows(); }

  /// Returns the call for a valid request, or no value if the request has no elements.
  core::Result<std::optional<comm::CallGroup::Call>> callOf(const core::Request &request) const;

private:
  const std::shared_ptr<comm::Communicator> communicator;
};

/// Makes a rank join at once, or at the end of the group if the thread has an open group.
core::Outcome enqueue(const NcclBackend::Init &init);

} // namespace gc3::api
