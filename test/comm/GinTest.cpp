// SPDX-License-Identifier: Apache-2.0
// Tests gin::open() and gin::pathNear(), which open and find libgc3gin.so.
#include "gc3.h"
#include "gin/Plugin.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>

using namespace gc3;

namespace {

TEST(Gin, WhatIsNotThere) {
  std::string why;
  EXPECT_EQ(gin::open("/nowhere/libgc3gin.so", why), nullptr);
  EXPECT_NE(why.find("/nowhere/libgc3gin.so"), std::string::npos) << why;
}

TEST(Gin, WhatIsNotOurs) {
  std::string why;
  EXPECT_EQ(gin::open("libm.so.6", why), nullptr);
  EXPECT_EQ(why, "libm.so.6 is not a gc3 plugin");
  EXPECT_EQ(gin::open(OTHER_GIN, why), nullptr);
  EXPECT_EQ(why, OTHER_GIN " belongs to another version of gc3");
}

/// Finds libgc3gin.so next to the library, as in a build, and in the folder gc3/ next to it, as in an installation.
TEST(Gin, IsFoundNearTheLibrary) {
  const std::string folder = testing::TempDir() + "gc3-gin/", inside = folder + "gc3/";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(inside);
  EXPECT_EQ(gin::pathNear(folder), "libgc3gin.so");
  std::ofstream(inside + "libgc3gin.so") << "not a library";
  EXPECT_EQ(gin::pathNear(folder), inside + "libgc3gin.so");
  std::ofstream(folder + "libgc3gin.so") << "not a library";
  EXPECT_EQ(gin::pathNear(folder), folder + "libgc3gin.so");
  std::string why;
  EXPECT_EQ(gin::open(gin::pathNear(folder), why), nullptr);
  EXPECT_NE(why.find(folder + "libgc3gin.so"), std::string::npos) << why;
  std::filesystem::remove_all(folder);
}

/// libgc3gin.so reports its versions and kernels without a GPU and without NCCL.
TEST(Gin, TheRealOne) {
#ifdef REAL_GIN
  std::string why;
  const gin::Plugin *part = gin::open(REAL_GIN, why);
  ASSERT_NE(part, nullptr) << why;
  EXPECT_EQ(part->gc3, static_cast<uint32_t>(GC3_VERSION));
  EXPECT_EQ(part->nccl, GIN_NCCL);
  EXPECT_GE(part->commBytes, 100u);
  std::set<const void *> kernels;
  for (unsigned type = 0; type < core::elementTypeCount; ++type) {
    kernels.insert(part->interpreters.kernel(static_cast<core::ElementType>(type), kernel::Protocol::Simple));
    EXPECT_EQ(part->interpreters.kernel(static_cast<core::ElementType>(type), kernel::Protocol::LL), nullptr);
  }
  EXPECT_EQ(kernels.size(), core::elementTypeCount);
  EXPECT_EQ(kernels.count(nullptr), 0u);
#else
  GTEST_SKIP() << "this build has no libgc3gin.so";
#endif
}

} // namespace
