// SPDX-License-Identifier: Apache-2.0
// Tests how configs and environment variables become options of GPU communicators, and the errors for values out of
// range.
#include "SettingsSupport.h"
#include "cuda/Options.h"
#include "kernel/Kernels.h"

#include <gtest/gtest.h>

using namespace gc3;
using gc3::test::settingsOf;

namespace {

class GpuSettings : public testing::Test {
protected:
  /// Returns the slots, slot bytes and threads of each protocol as text, or the error message.
  static std::string of(const cuda::Options &options) {
    if (core::Outcome outcome = cuda::check(options); !outcome.ok()) {
      EXPECT_EQ(outcome.code, gc3InvalidArgument);
      return outcome.text;
    }
    std::string text;
    for (const cuda::Tuning &tuning : options.tuning)
      text += (text.empty() ? "" : ", ") + std::to_string(tuning.slots) + " " + std::to_string(tuning.slotBytes) + " " +
              std::to_string(tuning.threads);
    return text;
  }
  /// Returns the options for an environment with only these variables.
  static cuda::Options with(const std::map<std::string, std::string> &variables) {
    return cuda::optionsOf(GC3_GPU_CONFIG_INITIALIZER, settingsOf(variables));
  }
  static std::string with(const char *name, const char *value) { return of(with({{name, value}})); }
};

TEST_F(GpuSettings, ListsAreByProtocol) {
  EXPECT_EQ(of(with({})), "0 0 0, 0 0 0, 0 0 0") << "defaults";
  std::map<std::string, std::string> variables{{"GC3_SLOTS", "4,LL:16"},
                                               {"GC3_SLOT_BYTES", "ll128:4294967424,simple:65536"},
                                               {"GC3_THREADS", "Ll:128,256,Simple:32"}};
  EXPECT_EQ(of(with(variables)), "4 65536 32, 16 0 128, 4 4294967424 256");
  variables["GC3_SLOTS"].clear();
  EXPECT_EQ(of(with(variables)), "0 65536 32, 0 0 128, 0 4294967424 256") << "as if it were not set";
}

TEST_F(GpuSettings, NonsenseIsAnError) {
  const auto rest = [](core::Setting setting) {
    return "' is invalid; it can be " + std::string(core::infoOf(setting).range);
  };
  const std::string ofSlots = rest(core::Setting::Slots);
  for (const char *item : {"0", "-1", "x", "4x", "0x10", " 4", "LL", "LL:", ":4", "LL64:4", "LL:0", "4294967296"})
    EXPECT_EQ(with("GC3_SLOTS", item), "GC3_SLOTS: '" + std::string(item) + ofSlots);
  EXPECT_EQ(with("GC3_SLOTS", "4,"), "GC3_SLOTS: '" + ofSlots);
  EXPECT_EQ(with("GC3_SLOTS", "4,LL:2,5"), "GC3_SLOTS: '5" + ofSlots) << "twice";
  EXPECT_EQ(with("GC3_SLOTS", "LL:4,ll:4"), "GC3_SLOTS: 'll:4" + ofSlots);
  EXPECT_EQ(with("GC3_SLOT_BYTES", "18446744073709551616"),
            "GC3_SLOT_BYTES: '18446744073709551616" + rest(core::Setting::SlotBytes));
  EXPECT_EQ(with("GC3_THREADS", "x"), "GC3_THREADS: 'x" + rest(core::Setting::Threads));
  EXPECT_EQ(with("GC3_SLOT_BYTES", "LL:64"), "FIFO slots of 64 bytes; they have at least 128");
  EXPECT_EQ(with("GC3_THREADS", "LL128:100"), "100 threads; a block has a multiple of 32, at most 512");
  EXPECT_EQ(with("GC3_LL128", "no"), "GC3_LL128 is 'no'; it can be replace or refuse");
  for (const char *time : {"20s", "-1", "+1", " 1", "1.5", "4294967296", "99999999999999999999"})
    EXPECT_EQ(with("GC3_TIMEOUT_MS", time),
              "GC3_TIMEOUT_MS is '" + std::string(time) +
                  "'; it can be a number of milliseconds up to 4294967295, or 0 for the default");
  for (const char *name : {"GC3_ALLOW_UNPROVEN", "GC3_DIRECT"})
    for (const char *answer : {"2", "no", "yes", "01", " 1"})
      EXPECT_EQ(with(name, answer), std::string(name) + " is '" + answer + "'; it can be 0 or 1");
}

/// The texts of the settings table must contain the same limits and defaults as the code.
TEST_F(GpuSettings, RangesNameTheLimits) {
  const auto has = [](std::string_view text, uint64_t number) {
    return text.find(std::to_string(number)) != std::string_view::npos;
  };
  EXPECT_TRUE(has(core::infoOf(core::Setting::Threads).range, kernel::mostThreads));
  EXPECT_TRUE(has(core::infoOf(core::Setting::Threads).byDefault, kernel::mostThreads));
  EXPECT_TRUE(has(core::infoOf(core::Setting::TimeoutMs).range, UINT32_MAX));
  EXPECT_TRUE(has(core::infoOf(core::Setting::TimeoutMs).byDefault, cuda::Options().joiningMs));
  for (size_t p = 0; p < kernel::protocolCount; ++p) {
    const cuda::SlotNeeds needs{1, 1, 1};
    const plan::SlotSizes sizes = cuda::chooseSlots(static_cast<kernel::Protocol>(p), needs, {});
    EXPECT_TRUE(has(core::infoOf(core::Setting::SlotBytes).byDefault, sizes.slotBytes)) << sizes.slotBytes;
  }
}

TEST_F(GpuSettings, EmptyAndZeroAreAsIfNotSet) {
  for (const char *value : {"", "0"}) {
    const cuda::Options options = with({{"GC3_TIMEOUT_MS", value}, {"GC3_ALLOW_UNPROVEN", value}});
    EXPECT_EQ(options.problem.text, "");
    EXPECT_EQ(options.timeoutMs, 0u);
    EXPECT_FALSE(options.allowUnproven);
  }
  EXPECT_EQ(with({{"GC3_TIMEOUT_MS", "4294967295"}}).timeoutMs, UINT32_MAX);
  EXPECT_TRUE(with({{"GC3_ALLOW_UNPROVEN", "1"}}).allowUnproven);
}

TEST_F(GpuSettings, DirectIsTheDefault) {
  for (auto [value, direct] : {std::pair("", true), {"1", true}, {"0", false}})
    EXPECT_EQ(with({{"GC3_DIRECT", value}}).direct, direct) << value;
}

TEST_F(GpuSettings, LL128MayBeReplaced) {
  for (auto [value, strict] : {std::pair("replace", false), {"refuse", true}, {"", false}}) {
    const cuda::Options options = with({{"GC3_LL128", value}});
    EXPECT_EQ(options.strictLL128, strict) << value;
    EXPECT_TRUE(options.problem.ok()) << value;
  }
}

TEST_F(GpuSettings, GraphsMixAsNcclHasIt) {
  const char *name = "NCCL_GRAPH_MIXING_SUPPORT";
  EXPECT_TRUE(with({}).mixesGraphs);
  for (const char *value : {"1", "", "no", "0x10"})
    EXPECT_TRUE(with({{name, value}}).mixesGraphs) << value;
  for (const char *value : {"0", " 0", "0x0"})
    EXPECT_FALSE(with({{name, value}}).mixesGraphs) << value;
}

/// In a config, a value for one protocol overrides the value for all protocols. Both override environment variables.
TEST_F(GpuSettings, ConfigsComeFirst) {
  const core::Settings settings = settingsOf({{"GC3_SLOTS", "LL:16,LL128:8"}, {"GC3_THREADS", "96"}});
  gc3GpuConfig_t config = GC3_GPU_CONFIG_INITIALIZER;
  EXPECT_EQ(of(cuda::optionsOf(config, settings)), "0 0 96, 16 0 96, 8 0 96");
  config.slots = 4;
  config.slotBytes = 1024;
  config.tuning[gc3LL] = {5, 64, 0};
  config.tuning[gc3LL128].slotBytes = 256;
  EXPECT_EQ(of(cuda::optionsOf(config, settings)), "4 1024 96, 5 1024 64, 4 256 96");
}

TEST_F(GpuSettings, ConfigsReplaceLL128OrRefuseIt) {
  gc3GpuConfig_t config = GC3_GPU_CONFIG_INITIALIZER;
  for (bool refused : {false, true}) {
    const core::Settings settings = settingsOf({{"GC3_LL128", refused ? "refuse" : "replace"}});
    for (auto [choice, strict] :
         {std::pair(gc3LL128Default, refused), {gc3LL128Replace, false}, {gc3LL128Refuse, true}}) {
      config.ll128 = choice;
      EXPECT_EQ(cuda::optionsOf(config, settings).strictLL128, strict) << choice;
      EXPECT_TRUE(cuda::optionsOf(config, settings).problem.ok()) << choice;
    }
  }
  for (int unknown : {-1, 3}) {
    config.ll128 = static_cast<gc3LL128_t>(unknown);
    EXPECT_EQ(of(cuda::optionsOf(config, {})), "unknown ll128 " + std::to_string(unknown) + " in the config");
  }
}

/// An invalid variable is no error if the config sets everything that the variable would set.
TEST_F(GpuSettings, NonsenseDoesNotCountWhereTheConfigDecides) {
  std::map<std::string, std::string> variables;
  for (const char *name :
       {"GC3_SLOTS", "GC3_SLOT_BYTES", "GC3_THREADS", "GC3_LL128", "GC3_TIMEOUT_MS", "GC3_ALLOW_UNPROVEN"})
    variables[name] = "nonsense";
  const core::Settings settings = settingsOf(variables);
  gc3GpuConfig_t whole = GC3_GPU_CONFIG_INITIALIZER;
  whole.slots = 4;
  whole.slotBytes = 1024;
  for (gc3Tuning_t &tuning : whole.tuning)
    tuning.threads = 96;
  whole.ll128 = gc3LL128Replace;
  whole.timeoutMs = 7;
  whole.allowUnproven = 1;
  EXPECT_EQ(of(cuda::optionsOf(whole, settings)), "4 1024 96, 4 1024 96, 4 1024 96");
  EXPECT_EQ(cuda::optionsOf(whole, settings).timeoutMs, 7u);
  EXPECT_TRUE(cuda::optionsOf(whole, settings).allowUnproven);
  EXPECT_FALSE(cuda::optionsOf(whole, settings).strictLL128);

  auto variableFor = [&](auto change) {
    gc3GpuConfig_t config = whole;
    change(config);
    const std::string text = of(cuda::optionsOf(config, settings));
    return text.substr(0, text.find_first_of(": "));
  };
  EXPECT_EQ(variableFor([](gc3GpuConfig_t &config) { config.slots = 0; }), "GC3_SLOTS");
  EXPECT_EQ(variableFor([](gc3GpuConfig_t &config) { config.slotBytes = 0; }), "GC3_SLOT_BYTES");
  EXPECT_EQ(variableFor([](gc3GpuConfig_t &config) { config.tuning[gc3LL].threads = 0; }), "GC3_THREADS")
      << "the setting applies to one protocol";
  EXPECT_EQ(variableFor([](gc3GpuConfig_t &config) { config.ll128 = gc3LL128Default; }), "GC3_LL128");
  EXPECT_EQ(variableFor([](gc3GpuConfig_t &config) { config.timeoutMs = 0; }), "GC3_TIMEOUT_MS");
  EXPECT_EQ(variableFor([](gc3GpuConfig_t &config) { config.allowUnproven = 0; }), "GC3_ALLOW_UNPROVEN");
}

/// A default slot holds a whole message, however many connections share the memory.
TEST_F(GpuSettings, DefaultSlotsHoldAMessage) {
  using kernel::Protocol;
  for (const auto &[protocol, piece] : {std::pair(Protocol::Simple, 128), {Protocol::LL, 128}, {Protocol::LL128, 256}})
    EXPECT_EQ(cuda::chooseSlots(protocol, {8, 9, 1 << 24}, {}).slotBytes, 9u * static_cast<uint32_t>(piece));
}

} // namespace
