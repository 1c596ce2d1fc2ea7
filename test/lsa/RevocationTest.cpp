// SPDX-License-Identifier: Apache-2.0
// Revocations in threads of their own, beside those that want to free the communicator.
#include "lsa/Revocation.h"

#include <gtest/gtest.h>
#include <latch>
#include <thread>

using namespace gc3;

namespace {

std::optional<std::latch> inside, mayGo;
std::atomic<unsigned> revoked;
ncclapi::Result result = ncclapi::Result::Success;

/// Waits in NCCL until it may go.
ncclapi::Result revoke(ncclapi::Comm, int) {
  inside->count_down();
  mayGo->wait();
  ++revoked;
  return result;
}

class Revocation : public testing::Test {
protected:
  Revocation() {
    inside.emplace(1), mayGo.emplace(1);
    revoked = 0;
    nccl.CommRevoke = revoke;
  }
  ncclapi::Nccl nccl;
};

TEST_F(Revocation, NobodyWaitsButWhoFreesTheCommunicator) {
  lsa::Revocation revocation(nccl, nullptr, lsa::inThread);
  EXPECT_FALSE(revocation.hasBegun());
  revocation.begin();
  revocation.begin(); // once is enough
  EXPECT_TRUE(revocation.hasBegun());
  inside->wait();
  EXPECT_EQ(revoked, 0u);
  std::thread freeing([&] {
    revocation.end();
    EXPECT_EQ(revoked, 1u);
  });
  mayGo->count_down();
  freeing.join();
  EXPECT_TRUE(revocation.isDone());
}

TEST_F(Revocation, NoneBeginsBehindTheEnd) {
  lsa::Revocation revocation(nccl, nullptr, lsa::atOnce);
  revocation.end();
  revocation.begin();
  EXPECT_EQ(revoked, 0u);
  EXPECT_FALSE(revocation.isDone());
}

TEST_F(Revocation, OneThatFailsIsNotDone) {
  mayGo->count_down();
  result = ncclapi::Result::InvalidArgument;
  lsa::Revocation revocation(nccl, nullptr, lsa::atOnce);
  revocation.begin();
  result = ncclapi::Result::Success;
  EXPECT_EQ(revoked, 1u);
  EXPECT_FALSE(revocation.isDone());
}

} // namespace
