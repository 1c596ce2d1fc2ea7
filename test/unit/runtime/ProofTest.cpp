// SPDX-License-Identifier: Apache-2.0
// Tests that communicators accept only proven programs by default.
#include "Programs.h"
#include "SettingsSupport.h"
#include "api/Init.h"

#include <gtest/gtest.h>

using namespace gc3::test;

namespace {

/// Creates communicators of two ranks for a bundle with a ring AllReduce. The test chooses which properties the bundle
/// claims to be proven.
class Proofs : public testing::Test {
protected:
  gc3Result_t init(uint32_t verified, const gc3HostConfig_t *config = nullptr, uint32_t programRanks = 2) {
    ProgramSpec program = ringAllReduce(programRanks, true);
    program.verified = verified;
    program.collective = collective;
    if (!promising)
      program.outputs.assign(programRanks, std::vector<Value>(programRanks));
    std::string bytes = buildBundle({program});
    gc3Bundle_t bundle = nullptr;
    EXPECT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
    gc3Comm_t comms[2] = {};
    gc3Result_t result = gc3::api::initHost(comms, 2, bundle, config, settings);
    for (gc3Comm_t comm : comms)
      gc3CommDestroy(comm);
    gc3BundleFree(bundle);
    return result;
  }
  bool promising = true;
  const char *collective = "allreduce";
  gc3::core::Settings settings;
};

} // namespace

TEST_F(Proofs, allPropertiesAreNeeded) {
  for (uint32_t verified = 0; verified != 16; ++verified)
    EXPECT_EQ(init(verified), verified == 15 ? gc3Success : gc3BundleUnproven) << verified;
  init(0);
  EXPECT_STREQ(
      gc3GetLastError(nullptr),
      "program 'ring2_aliased_1' was compiled without verification, so it could hang or give wrong results; compile it "
      "without --verify=off, or set GC3_ALLOW_UNPROVEN=1");
}

TEST_F(Proofs, whereNothingIsPromisedNoPostconditionIsNeeded) {
  promising = false;
  collective = "own";
  for (uint32_t verified = 0; verified != 16; ++verified)
    EXPECT_EQ(init(verified), (verified & 0b1011) == 0b1011 ? gc3Success : gc3BundleUnproven) << verified;
}

TEST_F(Proofs, standardCollectivesPromiseSomethingWhateverTheBundleSays) {
  promising = false;
  for (uint32_t verified = 0; verified != 16; ++verified)
    EXPECT_EQ(init(verified), verified == 15 ? gc3Success : gc3BundleUnproven) << verified;
}

TEST_F(Proofs, programsForOtherNumbersOfRanksDoNotMatter) {
  EXPECT_EQ(init(0, nullptr, 3), gc3Success);
}

TEST_F(Proofs, theConfigAllowsUnprovenPrograms) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  EXPECT_EQ(init(0, &config), gc3BundleUnproven);
  config.allowUnproven = 1;
  EXPECT_EQ(init(0, &config), gc3Success);
}

TEST_F(Proofs, theEnvironmentAllowsUnprovenPrograms) {
  for (const char *no : {"", "0"}) {
    settings = settingsOf({{"GC3_ALLOW_UNPROVEN", no}});
    EXPECT_EQ(init(0), gc3BundleUnproven) << no;
  }
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.allowUnproven = 1;
  for (const char *nonsense : {"no", "false", " 1", "2"}) {
    settings = settingsOf({{"GC3_ALLOW_UNPROVEN", nonsense}});
    EXPECT_EQ(init(15), gc3InvalidArgument) << nonsense;
    EXPECT_EQ(gc3GetLastError(nullptr), "GC3_ALLOW_UNPROVEN is '" + std::string(nonsense) + "'; it can be 0 or 1");
    EXPECT_EQ(init(0, &config), gc3Success) << "the config has priority";
  }
  settings = settingsOf({{"GC3_ALLOW_UNPROVEN", "1"}});
  EXPECT_EQ(init(0), gc3Success);
}
