// SPDX-License-Identifier: Apache-2.0
// Runs in which each call into the fakes fails in turn. What each came to is a line of text, which begins with what
// failed; the same line is there once, so that a test compares all that can happen at once.
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

/// Numbers that differ between runs, sizes or platforms are #.
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

/// A message; of what the fakes say in it only whose that is is left.
inline std::string brief(std::string text) {
  replaceAll(text, ": fake failure (CUDA error 2)", " [CUDA]");
  replaceAll(text, ": NCCL's error 2", " [NCCL]");
  return withoutNumbers(std::move(text));
}

/// The code, and the message behind it.
inline std::string tell(const core::Outcome &outcome) {
  EXPECT_EQ(outcome.text.empty(), outcome.ok());
  return outcome.ok() ? "ok" : nameOf(outcome.code) + ": " + brief(outcome.text);
}

/// What was not given back, behind what else there is to say.
inline std::string left(std::string leaks) {
  if (leaks.empty())
    return {};
  replaceAll(leaks, "pieces of ", "");
  replaceAll(leaks, "pinned memory", "pinned");
  replaceAll(leaks, "symmetric memory", "symmetric");
  leaks.pop_back(); // a blank
  return "; left: " + leaks;
}

/// What several ranks say, each thing once, in an order that does not depend on which rank it was.
inline std::string together(const std::set<std::string> &said) {
  std::string text;
  for (const std::string &each : said)
    text += (text.empty() ? "" : " / ") + each;
  return text;
}

class Sweep {
public:
  /// `run` is given a fake in which nothing, or one call, fails, and says what it came to when it is over. What it does
  /// before it sets the fake's count of calls back to 0 is not among them.
  template <typename Run>
  void over(Run run) {
    uint64_t calls = 1;
    for (uint64_t failing = 0; failing <= calls; ++failing) { // 0: none
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

  /// In the order in which they came up, below an empty one.
  std::string lines() const { return beyond({}); }
  /// Those that another sweep did not have.
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
