// SPDX-License-Identifier: Apache-2.0
// Tests that prepared calls on a GPU are reused.
#include "LoopbackSupport.h"
#include "cuda/PreparedLaunch.h"

using namespace gc3;
using namespace gc3::test;

namespace {

/// Programs on the fake GPU and their prepared calls.
class PreparedCalls : public testing::Test {
protected:
  PreparedCalls() {
    EXPECT_TRUE(cuda::DeviceLimits::find(FakeCuda::table()).moveTo(limits).ok());
    for (uint32_t index : {0u, 1u}) {
      EXPECT_TRUE(selection.load(index).moveTo(loaded[index]).ok());
      const_cast<core::LoadedProgram *>(loaded[index])->analyse();
      programs.push_back(std::make_unique<cuda::GpuProgram>(FakeCuda::table(), limits, *loaded[index],
                                                            cuda::GpuProgram::Terms{{0, 3}, sizes, 32},
                                                            cuda::interpretersOf(FakeCuda::table())));
      EXPECT_TRUE(programs.back()->reserve(false).ok());
    }
  }
  std::shared_ptr<const cuda::PreparedLaunch> find(size_t program, uint64_t count, gc3RedOp_t op = gc3Sum,
                                                   gc3DataType_t type = gc3Float32) {
    core::Request request;
    request.count = count;
    request.op = op;
    request.type = type;
    std::shared_ptr<const cuda::PreparedLaunch> found;
    outcome = calls.find(*programs[program], {}, request).moveTo(found);
    return found;
  }

  FakeCuda fake;
  const std::unique_ptr<bundle::BundleFile> file = open({ringAllReduce(3, true), plainRingAllReduce(3)});
  core::Selection selection{*file, 3, true};
  const core::LoadedProgram *loaded[2] = {};
  const plan::SlotSizes sizes{kernel::Protocol::Simple, 8, 4096};
  cuda::DeviceLimits limits;
  std::vector<std::unique_ptr<cuda::GpuProgram>> programs;
  cuda::PreparedLaunches calls;
  core::Outcome outcome;
};

TEST_F(PreparedCalls, AreFoundAgain) {
  const auto first = find(0, 100);
  EXPECT_EQ(find(0, 100), first);
  std::set<std::shared_ptr<const cuda::PreparedLaunch>> all{first};
  all.insert(find(1, 100));
  all.insert(find(0, 101));
  all.insert(find(0, 100, gc3Avg));
  all.insert(find(0, 100, gc3Sum, gc3Int32));
  EXPECT_EQ(all.size(), 5u) << "no prepared call serves another request";
  for (const auto &call : all)
    EXPECT_EQ(find(&call->program == programs[1].get(), call->count, call->op, call->type), call);
}

TEST_F(PreparedCalls, TheOldestGo) {
  const auto oldest = find(0, 1);
  for (uint64_t count = 2; count <= cuda::PreparedLaunches::most; ++count)
    find(0, count);
  EXPECT_EQ(find(0, 1), oldest);
  find(0, 1000);
  const auto anew = find(0, 1);
  EXPECT_NE(anew, oldest);
  EXPECT_EQ(oldest->layout.count, 1u) << "its owner keeps it alive";
  EXPECT_EQ(find(0, 1000)->count, 1000u);
  EXPECT_EQ(oldest.use_count(), 1);
}

/// A new prepared call replaces only the oldest one.
TEST_F(PreparedCalls, OthersStay) {
  constexpr uint64_t most = cuda::PreparedLaunches::most;
  std::vector<std::shared_ptr<const cuda::PreparedLaunch>> all;
  for (uint64_t count = 0; count < 3 * most; ++count)
    all.push_back(find(0, count + 1));
  for (uint64_t count = 2 * most; count < 3 * most; ++count)
    EXPECT_EQ(find(0, count + 1), all[count]) << count;
  for (uint64_t count = 0; count < 2 * most; ++count)
    EXPECT_EQ(all[count].use_count(), 1) << count;
}

TEST_F(PreparedCalls, ErrorsAreNotKept) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(find(0, UINT64_MAX), nullptr);
    EXPECT_EQ(outcome.code, gc3InvalidArgument);
  }
}

} // namespace
