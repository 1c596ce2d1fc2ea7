// SPDX-License-Identifier: Apache-2.0
// Short searches for disagreements, and faults that the search injects.
#include "Episodes.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace gc3::select;

namespace {

void expectError(const Report &report, const std::string &part) {
  for (size_t r = 0; r < report.errors.size(); ++r) {
    EXPECT_NE(report.errors[r].find(part), std::string::npos) << "rank " << r << ": " << report.errors[r];
    EXPECT_EQ(report.errors[r], report.errors[0]);
  }
}

Episode makeFaultyEpisode(Fault fault, Chooser chooser, bool isAnnounced, uint32_t ranks, uint64_t seed) {
  Episode episode;
  episode.ranks = ranks;
  episode.calls = 3000;
  episode.seed = seed;
  episode.chooser = chooser;
  episode.isAnnounced = isAnnounced;
  episode.terms = isAnnounced ? announcedTerms : Terms{16, 64, 256};
  episode.fault = fault;
  episode.faultyRank = static_cast<uint32_t>(seed % ranks);
  episode.faultyCall = 500 + 7 * seed;
  return episode;
}

TEST(Agreement, RanksNeverDisagree) {
  uint64_t samples = 0;
  for (uint64_t number = 0; number < 16; ++number) {
    const Report report = search(makeEpisode(number, 100, 1500));
    EXPECT_EQ(findFailure(report), "") << "episode " << number;
    EXPECT_GT(report.exchanges, 0U);
    samples += report.samples;
    EXPECT_GT(report.waits, 0U);
    for (uint64_t calls : report.calls)
      EXPECT_TRUE(calls == 1500 || number % 10 == 9) << "episode " << number;
  }
  EXPECT_GT(samples, 5000U);
}

TEST(Agreement, AnAbortEndsAllWaits) {
  for (uint32_t ranks : {2, 3, 8}) {
    Episode episode;
    episode.ranks = ranks;
    episode.calls = 100000;
    episode.stallAt = 300; // the last rank aborts when all others wait for it
    const Report report = search(episode);
    EXPECT_EQ(findFailure(report), "");
    EXPECT_EQ(report.calls.back(), 300U);
    for (uint32_t r = 0; r < ranks; ++r) {
      EXPECT_EQ(report.errors[r], "aborted");
      EXPECT_LE(report.calls[r], 300 + streamTerms.period + streamTerms.mostDelay);
    }
  }
}

TEST(Agreement, AFaultNamesTheRank) {
  for (Fault fault : {Fault::FlippedBit, Fault::WrongTime})
    for (Chooser chooser : {Chooser::Sensitive, Chooser::Selector})
      for (bool isAnnounced : {false, true})
        for (uint32_t seed = 0; seed < 3; ++seed) {
          const Episode episode = makeFaultyEpisode(fault, chooser, isAnnounced, 3 + seed, seed);
          const Report report = search(episode);
          expectError(report, " of rank " + std::to_string(episode.faultyRank) + " differ from those of the other " +
                                  std::to_string(episode.ranks - 1));
          EXPECT_EQ(report.calls, std::vector<uint64_t>(episode.ranks, report.calls[0])); // the same call fails
        }
}

TEST(Agreement, AFaultOfOneOfTwoRanksNamesBoth) {
  expectError(search(makeFaultyEpisode(Fault::FlippedBit, Chooser::Sensitive, false, 2, 1)), " of ranks 0, 1 differ");
}

TEST(Agreement, OtherTermsAreAnError) {
  Episode episode = makeFaultyEpisode(Fault::OtherTerms, Chooser::Sensitive, false, 4, 2);
  expectError(search(episode), "the selectors of rank 2 differ from those of the other 3");
}

} // namespace
