// SPDX-License-Identifier: Apache-2.0
// Tests malicious bundles and callers. Replaces each number of a bundle by other numbers and corrects the checksums.
// Calls the C API in every wrong way that it can detect.
#include "CheckBundle.h"
#include "MendBundle.h"
#include "Programs.h"

#include "gc3.h"

#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace gc3::test;

namespace {

class Hostile : public testing::Test {
protected:
  void SetUp() override {
    std::string bytes = buildBundle({ringAllReduce(2, true)});
    ASSERT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
    ASSERT_EQ(gc3HostCommInitAll(comms, 2, bundle, nullptr), gc3Success);
  }
  void TearDown() override {
    for (gc3Comm_t comm : comms)
      gc3CommDestroy(comm);
    gc3BundleFree(bundle);
  }

  /// Calls `call` for both ranks in one group. Returns the result of the group.
  template <typename Function>
  gc3Result_t together(Function call) {
    gc3GroupStart();
    for (gc3Comm_t comm : comms)
      call(comm);
    return gc3GroupEnd();
  }

  gc3Bundle_t bundle = nullptr;
  gc3Comm_t comms[2] = {};
  float data[8] = {};
};

/// Returns `bytes` with the four bytes at `offset` replaced by `number`.
std::string withNumber(std::string bytes, size_t offset, uint32_t number) {
  std::memcpy(bytes.data() + offset, &number, sizeof number);
  return bytes;
}

uint32_t numberAt(const std::string &bytes, size_t offset) {
  uint32_t number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

} // namespace

TEST(HostileBundle, NumbersUnderRightChecksums) {
  std::string whole = buildBundle({plainRingAllReduce(2)});
  auto sections = splitBundle(whole);
  ASSERT_TRUE(sections);
  unsigned ran = 0;
  EXPECT_EQ(checkBundle(joinBundle(*sections), ran), "");
  EXPECT_EQ(ran, 12u); // three counts, two orders, two placements
  for (size_t s = 0; s != sections->size(); ++s)
    for (size_t offset = 0; offset + 4 <= (*sections)[s].bytes.size(); offset += 4) {
      uint32_t old = numberAt((*sections)[s].bytes, offset);
      for (uint32_t number : {0u, old + 1, old - 1, 0x7fffffffu, 0xffffffffu}) {
        std::vector<Section> changed = *sections;
        changed[s].bytes = withNumber(changed[s].bytes, offset, number);
        EXPECT_EQ(checkBundle(joinBundle(changed), ran), "")
            << "section " << s << " offset " << offset << " number " << number;
      }
    }
}

TEST(HostileBundle, SectionsMissingDoubledAndSwapped) {
  auto sections = splitBundle(buildBundle({ringAllReduce(2, true), allToAll(2, 3)}));
  ASSERT_TRUE(sections);
  unsigned ran = 0;
  for (size_t a = 0; a != sections->size(); ++a)
    for (size_t b = 0; b != sections->size(); ++b) {
      std::vector<Section> swapped = *sections, doubled = *sections, moved = *sections;
      std::swap(swapped[a].bytes, swapped[b].bytes);
      doubled.insert(doubled.begin() + static_cast<ptrdiff_t>(a), doubled[b]);
      moved.erase(moved.begin() + static_cast<ptrdiff_t>(a));
      for (const std::vector<Section> &changed : {swapped, doubled, moved})
        EXPECT_EQ(checkBundle(joinBundle(changed), ran), "") << a << " and " << b;
    }
}

TEST_F(Hostile, NullsAreRefused) {
  int number = 0;
  size_t elements = 0;
  const char *name = nullptr;
  gc3ProgramInfo_t info;
  info.size = sizeof info;
  gc3Bundle_t other = nullptr;
  gc3Comm_t made = nullptr;
  EXPECT_EQ(gc3GetVersion(nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3BundleLoad(nullptr, "file"), gc3InvalidArgument);
  EXPECT_EQ(gc3BundleLoad(&other, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3BundleLoadMemory(nullptr, data, 1), gc3InvalidArgument);
  EXPECT_EQ(gc3BundleLoadMemory(&other, nullptr, 1), gc3InvalidArgument);
  EXPECT_EQ(gc3BundleLoadMemory(&other, nullptr, 0), gc3BundleTruncated);
  EXPECT_EQ(gc3BundleFree(nullptr), gc3Success);
  EXPECT_EQ(gc3BundleProgramCount(nullptr, &number), gc3InvalidArgument);
  EXPECT_EQ(gc3BundleProgramCount(bundle, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3BundleProgramInfo(nullptr, 0, &info), gc3InvalidArgument);
  EXPECT_EQ(gc3BundleProgramInfo(bundle, 0, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3ProgramElements(nullptr, 0, 0, 1, &elements, &elements), gc3InvalidArgument);
  EXPECT_EQ(gc3ProgramElements(bundle, 0, 0, 1, nullptr, &elements), gc3InvalidArgument);
  EXPECT_EQ(gc3ProgramElements(bundle, 0, 0, 1, &elements, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3HostCommInitAll(nullptr, 1, bundle, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3HostCommInitAll(&made, 1, nullptr, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3CommDestroy(nullptr), gc3Success);
  EXPECT_EQ(gc3CommCount(nullptr, &number), gc3InvalidArgument);
  EXPECT_EQ(gc3CommCount(comms[0], nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3CommUserRank(nullptr, &number), gc3InvalidArgument);
  EXPECT_EQ(gc3CommUserRank(comms[0], nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3SelectProgram(nullptr, "allreduce", 1, gc3Int8, -1, &name), gc3InvalidArgument);
  EXPECT_EQ(gc3SelectProgram(comms[0], nullptr, 1, gc3Int8, -1, &name), gc3InvalidArgument);
  EXPECT_EQ(gc3SelectProgram(comms[0], "allreduce", 1, gc3Int8, -1, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3RunCollective(comms[0], nullptr, data, data, 1, gc3Int8, gc3Sum, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3RunProgram(comms[0], nullptr, data, data, 1, gc3Int8, gc3Sum, nullptr), gc3InvalidArgument);
  EXPECT_STRNE(gc3GetLastError(nullptr), "");
}

TEST_F(Hostile, CollectivesRefuseANullCommunicator) {
  float *x = data;
  for (gc3Result_t result :
       {gc3AllReduce(x, x, 1, gc3Int8, gc3Sum, nullptr, nullptr), gc3AllGather(x, x, 1, gc3Int8, nullptr, nullptr),
        gc3ReduceScatter(x, x, 1, gc3Int8, gc3Sum, nullptr, nullptr),
        gc3Broadcast(x, x, 1, gc3Int8, 0, nullptr, nullptr), gc3Reduce(x, x, 1, gc3Int8, gc3Sum, 0, nullptr, nullptr),
        gc3AllToAll(x, x, 1, gc3Int8, nullptr, nullptr), gc3Gather(x, x, 1, gc3Int8, 0, nullptr, nullptr),
        gc3Scatter(x, x, 1, gc3Int8, 0, nullptr, nullptr),
        gc3RunCollective(nullptr, "allreduce", x, x, 1, gc3Int8, gc3Sum, nullptr),
        gc3RunProgram(nullptr, "ring", x, x, 1, gc3Int8, gc3Sum, nullptr)})
    EXPECT_EQ(result, gc3InvalidArgument);
}

TEST_F(Hostile, NumbersOutOfRangeAreRefused) {
  constexpr int least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  gc3ProgramInfo_t info;
  info.size = sizeof info;
  size_t in = 0, out = 0;
  for (int index : {least, -1, 1, most}) {
    EXPECT_EQ(gc3BundleProgramInfo(bundle, index, &info), gc3InvalidArgument);
    EXPECT_EQ(gc3ProgramElements(bundle, index, 0, 1, &in, &out), gc3InvalidArgument);
  }
  for (int rank : {least, -1, 2, most})
    EXPECT_EQ(gc3ProgramElements(bundle, 0, rank, 1, &in, &out), gc3InvalidArgument);
  info.size = offsetof(gc3ProgramInfo_t, form) - 1; // smaller than that of the first version
  EXPECT_EQ(gc3BundleProgramInfo(bundle, 0, &info), gc3InvalidArgument);
  gc3Comm_t made = nullptr;
  for (int ranks : {least, -1, 0, most})
    EXPECT_EQ(gc3HostCommInitAll(&made, ranks, bundle, nullptr), gc3InvalidArgument) << ranks;
  EXPECT_EQ(made, nullptr);
}

TEST_F(Hostile, ConfigsAreChecked) {
  gc3Comm_t made[2] = {};
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  for (size_t size : {size_t{0}, sizeof config + 1, std::numeric_limits<size_t>::max()}) {
    config.size = size;
    EXPECT_EQ(gc3HostCommInitAll(made, 2, bundle, &config), gc3InvalidArgument);
  }
  config = GC3_HOST_CONFIG_INITIALIZER;
  config.order = static_cast<gc3Order_t>(77);
  EXPECT_EQ(gc3HostCommInitAll(made, 2, bundle, &config), gc3InvalidArgument);
  EXPECT_EQ(made[0], nullptr);
}

TEST_F(Hostile, CallsOutOfRangeFailOnAllRanks) {
  float *x = data;
  constexpr int least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  for (int type : {least, -1, static_cast<int>(gc3NumTypes), most})
    EXPECT_EQ(
        together([&](gc3Comm_t c) { gc3AllReduce(x, x, 1, static_cast<gc3DataType_t>(type), gc3Sum, c, nullptr); }),
        gc3InvalidArgument);
  for (int op : {least, -1, static_cast<int>(gc3NumOps), most})
    EXPECT_EQ(
        together([&](gc3Comm_t c) { gc3AllReduce(x, x, 1, gc3Float32, static_cast<gc3RedOp_t>(op), c, nullptr); }),
        gc3InvalidArgument);
  for (int root : {least, -1, 2, most})
    EXPECT_EQ(together([&](gc3Comm_t c) { gc3Broadcast(x, x, 1, gc3Float32, root, c, nullptr); }), gc3InvalidArgument);
  for (size_t count : {size_t{1} << 61, size_t{1} << 62, size_t{1} << 63, std::numeric_limits<size_t>::max()})
    EXPECT_EQ(together([&](gc3Comm_t c) { gc3AllReduce(x, x, count, gc3Float32, gc3Sum, c, nullptr); }),
              gc3InvalidArgument);
  EXPECT_EQ(together([&](gc3Comm_t c) { gc3AllReduce(nullptr, x, 1, gc3Float32, gc3Sum, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(together([&](gc3Comm_t c) { gc3AllReduce(x, x + 1, 2, gc3Float32, gc3Sum, c, nullptr); }),
            gc3InvalidArgument); // the buffers overlap
  EXPECT_EQ(together([&](gc3Comm_t c) { gc3AllReduce(x, x, 1, gc3Float32, gc3Sum, c, &data); }), gc3InvalidArgument);
}

TEST_F(Hostile, GroupsOutOfOrder) {
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
  ASSERT_EQ(gc3GroupStart(), gc3Success);
  EXPECT_EQ(gc3GroupEnd(), gc3Success); // an empty group
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
}
