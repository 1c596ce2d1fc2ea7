// SPDX-License-Identifier: Apache-2.0
// Tests the combinations of the values that params list.
#include "gc3/Sema/Sema.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace gc3;

namespace {

using Lines = std::vector<std::string>;

/// Returns a line such as "a=1 b=LL" for each combination, or the diagnostics.
Lines combinations(const std::string &text, const sema::SemaOptions &options = {}, size_t most = 100) {
  SourceManager sources;
  Diagnostics diags(sources, 0);
  const auto listed = sema::listAssignments(sources, diags, "-", text, options, most);
  Lines lines;
  if (!listed) {
    for (const Diagnostic &each : diags.all())
      lines.push_back(each.message);
    return lines;
  }
  for (const sema::Assignment &assignment : *listed) {
    std::string line;
    for (const auto &[name, value] : assignment)
      line += (line.empty() ? "" : " ") + name + "=" + value;
    lines.push_back(line);
  }
  return lines;
}

sema::SemaOptions defining(std::vector<std::pair<std::string, std::string>> defines) {
  sema::SemaOptions options;
  options.defines = std::move(defines);
  return options;
}

} // namespace

TEST(Knobs, TheLastOneChangesFastest) {
  EXPECT_EQ(combinations("param a: int = 1 in [1, 2]; param n: int = 7; param b: protocol = LL in [Simple, LL];"),
            (Lines{"a=1 b=Simple", "a=1 b=LL", "a=2 b=Simple", "a=2 b=LL"}));
}

TEST(Knobs, WithoutKnobsThereIsOneCombination) {
  EXPECT_EQ(combinations("param n: int = 7;"), Lines{""});
  EXPECT_EQ(combinations(""), Lines{""});
}

TEST(Knobs, HaveEveryType) {
  EXPECT_EQ(combinations("param a: bool = true in [false, true];"), (Lines{"a=false", "a=true"}));
  EXPECT_EQ(combinations("param a: string = \"x\" in [\"x\", \"a \\\"b\\\" {{c}}\"];"),
            (Lines{"a=x", "a=a \"b\" {c}"}));
  EXPECT_EQ(combinations("param a: [int] = [] in [[], [1, 2]];"), (Lines{"a=[]", "a=[1, 2]"}));
  EXPECT_EQ(combinations("param a: [string] = [\"x\", \"a\\\"b{{\"] in [[\"x\", \"a\\\"b{{\"]];"),
            (Lines{"a=[\"x\", \"a\\\"b{{\"]"}));
  EXPECT_EQ(combinations("param a: int = -1 in -1..2;"), (Lines{"a=-1", "a=0", "a=1"}));
}

TEST(Knobs, TheTextOfADefineHasItsValue) {
  const std::string text = "param a: string = \"x\" in [\"x\", \"a \\\"b\\\" {{c}}\\n\"];"
                           "param b: [[string]] = [] in [[], [[\"\\\\\", \"}}\"]]];"
                           "param c: bool = false in [true, false]; param d: int = 0 in [-3, 0];"
                           "param e: protocol = LL in [LL128, LL];";
  SourceManager sources;
  Diagnostics diags(sources, 0);
  const auto listed = sema::listAssignments(sources, diags, "-", text, {}, 100);
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 32u);
  for (const sema::Assignment &assignment : *listed) // a define that is not in the list is an error
    EXPECT_EQ(combinations(text, defining(assignment)), Lines{""});
}

TEST(Knobs, EqualValuesCountOnce) {
  EXPECT_EQ(combinations("param a: int = 1 in [2, 1, 2, 1 + 1];"), (Lines{"a=2", "a=1"}));
}

TEST(Knobs, AListDependsOnEarlierParams) {
  EXPECT_EQ(combinations("param a: int = 1 in [1, 3]; param n: int = 2 * a; param b: int = n in [n, n + a];"),
            (Lines{"a=1 b=2", "a=1 b=3", "a=3 b=6", "a=3 b=9"}));
}

TEST(Knobs, ADefineFixesAKnob) {
  const std::string text = "param a: int = 1 in [1, 3]; param n: int = 5; param b: int = n in [n, n + a];";
  EXPECT_EQ(combinations(text, defining({{"a", "3"}})), (Lines{"b=5", "b=8"}));
  EXPECT_EQ(combinations(text, defining({{"n", "2"}, {"b", "2"}})), (Lines{"a=1", "a=3"}));
  EXPECT_EQ(combinations(text, defining({{"a", "2"}})), Lines{"'-D a=2': param 'a' must be in [1, 3]"});
  EXPECT_EQ(combinations(text, defining({{"c", "2"}})), Lines{"'-D c=2': there is no param 'c'"});
}

TEST(Knobs, ValuesThatAreNotListedExcludeCombinations) {
  const std::string text = "param a: int = 1 in [1, 2, 3]; param b: int = 1 in 1..a + 1;";
  EXPECT_EQ(combinations(text, defining({{"b", "2"}})), (Lines{"a=2", "a=3"}));
  EXPECT_EQ(combinations(text, defining({{"b", "4"}})), Lines{"'-D b=4': param 'b' must be in [1]"});
  EXPECT_EQ(combinations("param a: int = 2 in [1, 2, 3]; param b: int = 2 in 2..a + 1;"),
            (Lines{"a=2 b=2", "a=3 b=2", "a=3 b=3"}));
}

TEST(Knobs, TheLimitEndsTheList) {
  const std::string text = "param a: int = 0 in 0..100000; param b: int = 0 in 0..1000;";
  EXPECT_EQ(combinations(text, {}, 2), (Lines{"a=0 b=0", "a=0 b=1", "a=0 b=2"}));
}

TEST(Knobs, ErrorsHaveAPlace) {
  EXPECT_EQ(combinations("param n: int = 1; param b: int = 0 in 0..n;", defining({{"n", "0"}})),
            Lines{"param 'b' has no value to choose from"});
  EXPECT_EQ(combinations("param a: int = 0 in [0, 1]; param b: int = 0 in [1 / a];"), Lines{"1 / 0: division by zero"});
  EXPECT_EQ(combinations("param a: int = 0 in [0, 1]; param b: int = 1 / a;"), Lines{"1 / 0: division by zero"});
  EXPECT_EQ(combinations("param a: int = ;").size(), 1u);
}
