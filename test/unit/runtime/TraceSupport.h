// SPDX-License-Identifier: Apache-2.0
// Helpers for tests of traces.
#pragma once

#include "BundleBuilder.h"
#include "core/Program.h"

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace gc3::test {

/// The path of a temporary trace file. Each object has a different path, because a process does not close a trace file
/// after it has written to it.
class TracePath {
public:
  explicit TracePath(const std::string &end = "") : name(fresh() + end) {}
  ~TracePath() { std::remove(name.c_str()); }
  TracePath(const TracePath &) = delete;
  TracePath &operator=(const TracePath &) = delete;
  size_t size() const { return std::filesystem::file_size(name); }
  const std::string name;

private:
  static std::string fresh() {
    static std::atomic<int> made{0};
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    return testing::TempDir() + "gc3-trace-" + test + "-" + std::to_string(getpid()) + "-" + std::to_string(++made) +
           ".json";
  }
};

/// A bundle with one program, and this program in loaded form.
struct LoadedSpec {
  explicit LoadedSpec(const ProgramSpec &spec) {
    const std::string bytes = buildBundle({spec});
    EXPECT_TRUE(bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file).ok());
    EXPECT_TRUE(core::Program::load(*file, 0).moveTo(program).ok());
  }
  std::unique_ptr<bundle::BundleFile> file;
  std::unique_ptr<core::Program> program;
};

} // namespace gc3::test
