// SPDX-License-Identifier: Apache-2.0
// Repeats a test; in each run another call of the fakes fails. Each run gives a line of text: the failing call, then
// the result. Identical lines are kept once, so that a test can compare all possible results with one text.
#pragma once

#include "FakeCuda.h"
#include "core/Request.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace gc3::test {

inline std::string nameOf(gc3Result_t code) {
  switch (code) {
  case gc3UnhandledCudaError: return "gc3UnhandledCudaError";
  case gc3SystemError: return "gc3SystemError";
  case gc3InvalidArgument: return "gc3InvalidArgument";
  case gc3InvalidUsage: return "gc3InvalidUsage";
  case gc3Timeout: return "gc3Timeout";
  default: return "code " + std::to_string(code);
  }
}

/// Replaces ranks, devices and allocation sizes by #, because they differ between runs or platforms.
inline std::string withoutNumbers(std::string text) {
  for (const std::string before : {"rank ", "device ", "allocating "})
    for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
      at += before.size();
      const size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
      if (end != at)
        text.replace(at, end - at, "#");
    }
  return text;
}

inline void replaceAll(std::string &text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// Shortens a message: replaces the error text of a fake by [CUDA] or [NCCL].
inline std::string brief(std::string text) {
  replaceAll(text, ": fake failure (CUDA error 2)", " [CUDA]");
  replaceAll(text, ": NCCL error 2", " [NCCL]");
  return withoutNumbers(std::move(text));
}

/// Returns "ok", or the name of the result code and the shortened message.
inline std::string describe(const core::Outcome &outcome) {
  EXPECT_EQ(outcome.text.empty(), outcome.ok());
  return outcome.ok() ? "ok" : nameOf(outcome.code) + ": " + brief(outcome.text);
}

/// Returns a suffix that lists leaked resources, or an empty string.
inline std::string left(std::string leaks) {
  if (leaks.empty())
    return {};
  replaceAll(leaks, "pieces of ", "");
  replaceAll(leaks, "pinned memory", "pinned");
  replaceAll(leaks, "symmetric memory", "symmetric");
  leaks.pop_back(); // the trailing blank
  return "; left: " + leaks;
}

/// Joins the distinct results of several ranks, sorted by text.
inline std::string together(const std::set<std::string> &said) {
  std::string text;
  for (const std::string &each : said)
    text += (text.empty() ? "" : " / ") + each;
  return text;
}

class Sweep {
public:
  /// Calls `run` repeatedly: first with a fake in which no call fails, then once for each call with a fake in which
  /// that call fails. `run` returns the result as text. To exempt its preparations, `run` sets the fake's `failAt` to 0
  /// before them. After them, it restores `failAt` and sets `calls` to 0.
  template <typename Run>
  void over(Run run) {
    uint64_t calls = 1;
    for (uint64_t failing = 0; failing <= calls; ++failing) { // 0: no call fails
      SCOPED_TRACE("call " + std::to_string(failing));
      FakeCuda fake;
      fake.failAt = failing;
      const std::string text = run(fake);
      if (failing == 0)
        calls = fake.calls;
      EXPECT_EQ(fake.failed.empty(), failing == 0);
      note((failing == 0 ? "nothing" : fake.failed) + " -> " + text);
    }
  }

  /// Returns all lines, in the order in which they first occurred, after an empty line.
  std::string lines() const { return beyond({}); }
  /// Returns the lines that `other` does not have.
  std::string beyond(const Sweep &other) const {
    std::string text = "\n";
    for (const std::string &line : known)
      if (!other.has(line))
        text += line + "\n";
    return text;
  }

private:
  bool has(const std::string &line) const { return std::find(known.begin(), known.end(), line) != known.end(); }
  void note(const std::string &line) {
    if (!has(line))
      known.push_back(line);
  }

  std::vector<std::string> known;
};

} // namespace gc3::test
