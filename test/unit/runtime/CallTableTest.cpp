// SPDX-License-Identifier: Apache-2.0
// Tests which prepared calls are kept.
#include "Programs.h"

#include "host/CallTable.h"

#include <gtest/gtest.h>

#include <vector>

using namespace gc3;
using namespace gc3::test;

namespace {

constexpr uint32_t rankCount = 2;

/// A table of prepared calls, and calls of AllReduce that one thread makes for all ranks.
class Calls {
public:
  /// Makes a call. Returns the id of the prepared call that ran it.
  uint64_t make(size_t count) {
    std::vector<float> send(count, 1), recv(count);
    const core::Request request{
        core::CallKind::Standard, "allreduce", send.data(), recv.data(), count, gc3Float32, gc3Sum, -1};
    const std::vector<core::Request> requests(rankCount, request);
    const core::Result<host::Entered> begun = table.begin(requests, ++number, {});
    EXPECT_TRUE(begun.ok()) << begun.outcome().text;
    host::PreparedCall &call = *begun->call;
    for (bool isFinished = false; !isFinished;) {
      isFinished = true;
      for (uint32_t r = 0; r < rankCount; ++r) {
        call.sweep(r, number, begun->sharing);
        isFinished &= call.finished(r, number);
      }
    }
    for (uint32_t r = 0; r < rankCount; ++r)
      call.leave(r);
    return call.id();
  }
  bool keeps(uint64_t id) const { return table.withId(id); }
  uint64_t retirements() const { return table.retirements(); }

private:
  static std::unique_ptr<bundle::BundleFile> open(const std::string &bytes) {
    auto opened = bundle::BundleFile::openMemory(bytes.data(), bytes.size());
    EXPECT_TRUE(opened.ok());
    return std::move(*opened);
  }

  const std::string bytes = buildBundle({ringAllReduce(rankCount, false)});
  const std::unique_ptr<bundle::BundleFile> file = open(bytes);
  const host::Site site{rankCount};
  host::CallTable table{*file, site, {}};
  uint64_t number = 0;
};

} // namespace

TEST(CallTable, KeepsTheCallsThatWereMadeLast) {
  Calls calls;
  std::vector<uint64_t> ids;
  for (size_t count = 1; count <= 64; ++count)
    ids.push_back(calls.make(count));
  EXPECT_EQ(calls.make(1), ids[0]);
  EXPECT_EQ(calls.retirements(), 0u);

  const uint64_t last = calls.make(65);
  EXPECT_EQ(calls.retirements(), 1u);
  EXPECT_TRUE(calls.keeps(last));
  for (size_t i = 0; i < ids.size(); ++i) // 48 calls, three quarters, are left; the call with 1 element was made again
    EXPECT_EQ(calls.keeps(ids[i]), i == 0 || i > 16) << "call " << i;
  EXPECT_EQ(calls.make(1), ids[0]);
  EXPECT_NE(calls.make(2), ids[1]);
}
