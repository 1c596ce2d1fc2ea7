// SPDX-License-Identifier: Apache-2.0
// The search of rank 0 for the first call in which ranks differ.
#include "net/ChoiceSearch.h"

#include <gtest/gtest.h>

using namespace gc3::net;

namespace {

/// A rank's calls: the digest changes at the call `fault`.
struct Log {
  uint64_t calls = 0, fault = UINT64_MAX;
  uint64_t unknown = UINT64_MAX; ///< the rank does not know this digest
  Answer answer(uint64_t asked) const {
    if (asked > calls || asked == unknown)
      return {asked, 0, 0};
    return {asked, calls, asked > fault ? 1000 + asked : asked};
  }
};

/// Answers all questions. Returns the verdict.
std::string search(uint64_t equal, const std::vector<Log> &logs) {
  ChoiceSearch search(static_cast<uint32_t>(logs.size()));
  search.begin(equal);
  for (int rounds = 0; rounds < 20; ++rounds) {
    const std::optional<Frame> frame = search.next();
    if (!frame)
      return "no frame";
    if (const auto *verdict = std::get_if<Verdict>(&frame->content))
      return search.next() ? "two verdicts" : verdict->difference;
    EXPECT_FALSE(search.next()) << "before the answers";
    const uint64_t asked = std::get<Question>(frame->content).asked;
    for (uint32_t rank = 0; rank < logs.size(); ++rank) {
      EXPECT_TRUE(search.add(rank, logs[rank].answer(asked)));
      EXPECT_TRUE(rank + 1 == logs.size() || !search.add(rank, logs[rank].answer(asked))) << "an answer twice";
    }
  }
  return "too many rounds";
}

std::string difference(uint64_t call, const std::string &ranks) {
  return "online selection, call " + std::to_string(call) + ": the calls or choices of " + ranks +
         "; check that all ranks make the same calls, and their memory";
}

TEST(ChoiceSearch, FindsTheFirstCallThatDiffers) {
  for (const uint64_t equal : {0, 1, 17})
    for (uint64_t fault = equal; fault < 60; ++fault)
      EXPECT_EQ(search(equal, {{60}, {61, fault}, {4000}}),
                difference(fault, "rank 1 differ from those of the other 2"));
  EXPECT_EQ(search(100, {{4100, 4099}, {4196}}), difference(4099, "ranks 0, 1 differ"));
}

TEST(ChoiceSearch, ComparesOnlyCallsOfAllRanks) {
  EXPECT_EQ(search(16, {{60}, {61, 60}, {70}}), ""); // rank 0 has not made call 60
  EXPECT_EQ(search(16, {{60}, {60}, {60}}), "");
  EXPECT_EQ(search(0, {{0}, {9}, {9}}), "");
  EXPECT_EQ(search(17, {{16}, {90}, {90}}), ""); // contradicts the exchanges
  EXPECT_EQ(search(0, {{UINT64_MAX}, {UINT64_MAX}}), "");
}

TEST(ChoiceSearch, ARankThatDoesNotKnowEndsTheSearch) {
  EXPECT_EQ(search(16, {{60}, {60, 20, 27}, {60}}), difference(37, "rank 1 differ from those of the other 2"));
  EXPECT_EQ(search(16, {{60}, {60, 20, 16}, {60}}), "");
}

TEST(ChoiceSearch, ALostRankEndsTheSearch) {
  ChoiceSearch search(2);
  search.stop();
  EXPECT_FALSE(search.next());
  search.begin(0);
  ASSERT_TRUE(search.next());
  EXPECT_TRUE(search.add(0, {0, 5, 0}));
  search.begin(3); // no effect: it runs
  EXPECT_FALSE(search.next());
  search.stop();
  EXPECT_TRUE(search.add(0, {0, 5, 0})) << "it can't know";
  const std::optional<Frame> frame = search.next();
  ASSERT_TRUE(frame && std::holds_alternative<Verdict>(frame->content));
  EXPECT_EQ(std::get<Verdict>(frame->content).difference, "");
  EXPECT_TRUE(search.add(0, {0, 5, 0}));
  EXPECT_FALSE(search.next());
}

TEST(ChoiceSearch, AnswersToOtherQuestionsAreRefused) {
  ChoiceSearch search(2);
  search.begin(4);
  EXPECT_FALSE(search.add(0, {4, 5, 0})) << "before the question";
  ASSERT_TRUE(search.next());
  EXPECT_FALSE(search.add(0, {5, 5, 0}));
  EXPECT_TRUE(search.add(0, {4, 5, 0}));
}

} // namespace
