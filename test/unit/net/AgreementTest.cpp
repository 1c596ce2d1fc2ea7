// SPDX-License-Identifier: Apache-2.0
// Ranks that choose online over TCP: a thread for each rank makes calls with its own selector and schedule, as
// communicators of several GPUs do. The times of calls are known some calls later.
#include "Choosers.h"
#include "Ranks.h"

#include <atomic>
#include <random>

using namespace gc3;
using namespace gc3::net;
using select::noTime;

namespace {

constexpr select::Terms shortTerms{16, 64, 256};
constexpr uint64_t callCount = 3000;

/// One rank, and the times of its calls, which the exchanger's thread reads.
class OnlineCaller {
public:
  OnlineCaller(uint32_t rank, select::Chooser kind) : random(rank), chooser(makeChooser(kind)) {
    for (std::atomic<float> &time : times)
      time = noTime;
  }

  bool readTimes(select::Message &message) const {
    bool areKnown = true;
    for (uint32_t i = 0; i < message.count; ++i) {
      message.times[i] = times[message.call - message.count + i];
      areKnown &= message.times[i] > 0;
    }
    return areKnown;
  }

  /// Makes all calls, or those before the first error. Flips a bit of the selector before the call `faultyCall`.
  void run(Exchanger &exchanger, uint64_t faultyCall) {
    while (error.empty() && schedule.nextCall() < callCount) {
      applyDue(exchanger);
      if (error.empty())
        makeCall(exchanger, schedule.nextCall() == faultyCall);
    }
  }

  std::vector<uint32_t> arms; ///< by call
  std::string error;
  uint64_t applied = 0; ///< exchanges
  uint32_t samples = 0; ///< that are not missing

private:
  void applyDue(Exchanger &exchanger) {
    select::Exchange ended;
    while (exchanger.take(ended))
      schedule.end(std::move(ended));
    for (; schedule.isDue(); ++applied) {
      if (!schedule.hasEnded()) {
        exchanger.hurry(applied);
        ASSERT_TRUE(exchanger.takeWithin(longTime, ended)) << exchanger.error().text;
        schedule.end(std::move(ended));
      }
      error = schedule.error();
      if (!error.empty())
        return;
      schedule.apply([this](const select::Call &call, float sample, uint8_t) {
        if (call.isTimed)
          chooser->add(call, sample);
        samples += sample > 0;
      });
    }
  }

  void makeCall(Exchanger &exchanger, bool isFaulty) {
    const uint64_t number = schedule.nextCall();
    select::Call call{static_cast<uint32_t>(number / 7 % select::AnyChooser::contexts),
                      static_cast<uint32_t>(number / 3 % select::AnyChooser::buckets)};
    if (isFaulty)
      chooser->flipBit(3);
    chooser->choose(call);
    arms.push_back(call.arm);
    measured.push_back(static_cast<float>(40 + 10 * call.arm + random() % 8));
    for (const uint64_t known = number - std::min<uint64_t>(number, random() % 40); stored < known; ++stored)
      times[stored] = measured[stored];
    if (schedule.record(call))
      exchanger.begin(schedule.begin(chooser->digest()));
  }

  std::mt19937 random;
  std::unique_ptr<select::AnyChooser> chooser;
  select::Schedule schedule{shortTerms};
  std::vector<float> measured;                     ///< by call
  std::array<std::atomic<float>, callCount> times; ///< by call: those that are known
  uint64_t stored = 0;
};

using Callers = std::vector<std::unique_ptr<OnlineCaller>>;

/// Rank 1 flips a bit before the call `faultyCall`.
Callers callOnline(uint32_t count, select::Chooser kind, uint64_t faultyCall = callCount) {
  Callers callers;
  for (uint32_t rank = 0; rank < count; ++rank)
    callers.push_back(std::make_unique<OnlineCaller>(rank, kind));
  Ranks ranks(count);
  ranks.start([&](uint32_t rank) {
    return [&callers, rank](select::Message &message) { return callers[rank]->readTimes(message); };
  });
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      callers[rank]->run(ranks[rank], rank == 1 ? faultyCall : callCount);
      ranks.remove(rank); // others may still make calls
    });
  for (std::thread &thread : threads)
    thread.join();
  return callers;
}

TEST(AgreementOverTcp, RanksChooseTheSame) {
  for (select::Chooser kind : {select::Chooser::Sensitive, select::Chooser::Selector})
    for (uint32_t count : {2, 3, 6}) {
      const Callers callers = callOnline(count, kind);
      for (const auto &caller : callers) {
        EXPECT_EQ(caller->error, "");
        EXPECT_EQ(caller->arms.size(), callCount);
        EXPECT_EQ(caller->arms, callers[0]->arms);
        EXPECT_GT(caller->applied, 150U); // of 188
        EXPECT_EQ(caller->samples, callers[0]->samples);
      }
      EXPECT_GT(callers[0]->samples, 500U);
    }
}

TEST(AgreementOverTcp, AFaultNamesTheRankOnAllRanks) {
  const Callers callers = callOnline(3, select::Chooser::Sensitive, 1234);
  for (const auto &caller : callers) {
    EXPECT_NE(caller->error.find(" of rank 1 differ from those of the other 2"), std::string::npos) << caller->error;
    EXPECT_EQ(caller->arms.size(), callers[0]->arms.size()); // the same call fails
  }
}

} // namespace
