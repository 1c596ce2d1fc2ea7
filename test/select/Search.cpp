// SPDX-License-Identifier: Apache-2.0
#include "Search.h"

#include "Board.h"
#include "Choosers.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <random>
#include <thread>

namespace gc3::select {

namespace {

/// One rank. All decisions that its seed makes are legal: they change only the moments at which things happen, and its
/// own times.
class RankRun {
public:
  RankRun(const Episode &chosen, uint32_t number, Board &commonBoard)
      : episode(chosen), rank(number), board(commonBoard), random(mix(chosen.seed, number + 1)),
        chooser(makeChooser(chosen.chooser)), schedule(termsOf(chosen, number)) {
    const bool isLate = rank == episode.seed % episode.ranks;
    if (isLate)
      stallsAt = 0;
  }

  void run() {
    while (error.empty() && schedule.nextCall() < episode.calls)
      makeCall();
    board.leave();
  }

  uint64_t calls() const { return schedule.nextCall(); }

  std::string error;
  std::vector<uint8_t> arms; ///< by call
  uint64_t exchanges = 0, samples = 0, waits = 0;
  uint64_t digest() const { return chooser->digest(); }

private:
  static Terms termsOf(const Episode &episode, uint32_t rank) {
    Terms terms = episode.terms;
    if (episode.fault == Fault::OtherTerms && rank == episode.faultyRank)
      ++terms.leastDelay, ++terms.mostDelay;
    return terms;
  }

  uint64_t below(uint64_t limit) { return random() % limit; }
  bool isOneIn(uint64_t n) { return below(n) == 0; }
  bool hasFault(Fault fault) const { return episode.fault == fault && episode.faultyRank == rank; }

  void makeCall() {
    const uint64_t number = schedule.nextCall();
    meddle(number);
    sendReady(number, false);
    takeReady(number);
    while (error.empty() && schedule.isDue())
      applyDue(number);
    if (board.isAborted() && error.empty())
      error = "aborted";
    if (!error.empty())
      return;
    Call call{static_cast<uint32_t>(mix(episode.seed, number) % AnyChooser::contexts),
              static_cast<uint32_t>(mix(number, episode.seed) % AnyChooser::buckets)};
    if (hasFault(Fault::FlippedBit) && number == episode.faultyCall)
      chooser->flipBit(static_cast<uint32_t>(below(64)));
    chooser->choose(call);
    arms.push_back(static_cast<uint8_t>(call.arm));
    times.push_back(timeOf(call));
    if (schedule.record(call))
      begin(number);
  }

  /// Stalls, and aborts.
  void meddle(uint64_t number) {
    if (rank == 0 && number == episode.abortAt)
      board.abort();
    if (rank + 1 == episode.ranks && number == episode.stallAt) {
      board.stall();
      board.abort();
    }
    if (number == stallsAt) {
      board.stall();
      stallsAt = number + 1 + below(4 * uint64_t(schedule.delay()) + 20);
      if (isOneIn(2)) // until then, another rank is the slowest one
        stallsAt += 4000;
    }
    if (isOneIn(50))
      std::this_thread::yield();
  }

  /// The times of the arms differ. Each rank has its own noise, spikes and missing times.
  float timeOf(const Call &call) {
    const float exact = 40.0F + 10.0F * static_cast<float>((call.arm * 3 + call.bucket) % AnyChooser::arms);
    if (isOneIn(500))
      return noTime;
    const float noise = static_cast<float>(below(1000)) / 10000;
    return exact * (1 + noise) * (isOneIn(20) ? 5.0F : 1.0F);
  }

  struct Unsent {
    Message message;
    uint64_t at = 0; ///< the call at which the rank sends it
  };

  void begin(uint64_t number) {
    const uint64_t most = episode.isAnnounced ? 1 : 2 * uint64_t(schedule.delay());
    unsent.push_back({schedule.begin(chooser->digest()), number + below(most)});
    takeAt.push_back(number + below(most));
    if (episode.isAnnounced)
      takeNext(number); // the rank runs the call after it has read all announcements
  }

  /// Sends the messages for which it is time, or all. The GPU is up to 40 calls late: the times of these are missing.
  void sendReady(uint64_t number, bool isForced) {
    while (!unsent.empty() && (isForced || unsent.front().at <= number)) {
      Message &message = unsent.front().message;
      const uint64_t first = message.call - message.count;
      if (episode.isAnnounced)
        message.flags.fill(longestFlag);
      const uint64_t known = episode.isAnnounced ? number : number - std::min(number, below(40));
      for (uint32_t i = 0; i < message.count; ++i)
        message.times[i] = first + i < known ? times[first + i] : noTime;
      board.send(sent++, rank, message);
      unsent.pop_front();
    }
  }

  void takeReady(uint64_t number) {
    while (!takeAt.empty() && takeAt.front() <= number && board.haveAllSent(taken))
      take();
  }

  void take() {
    Exchange exchange = evaluate(board.messages(taken++));
    if (hasFault(Fault::WrongTime) && exchange.count > 0 && exchange.call >= episode.faultyCall)
      exchange.samples.fill(7);
    takeAt.pop_front();
    if (episode.isAnnounced && error.empty())
      error = exchange.error;
    schedule.end(std::move(exchange));
  }

  /// Takes the next exchange. Waits until all ranks have sent it.
  void takeNext(uint64_t number) {
    sendReady(number, true);
    if (!board.haveAllSent(taken)) {
      ++waits;
      if (!board.wait([this] { return board.haveAllSent(taken); })) {
        error = "aborted";
        return;
      }
    }
    take();
  }

  void applyDue(uint64_t number) {
    if (!schedule.hasEnded()) {
      takeNext(number);
      return;
    }
    error = schedule.error();
    if (!error.empty())
      return;
    schedule.apply([this](const Call &call, float sample, uint8_t) {
      if (call.isTimed)
        chooser->add(call, sample);
      samples += !std::isnan(sample);
    });
    ++exchanges;
  }

  const Episode &episode;
  const uint32_t rank;
  Board &board;
  std::mt19937_64 random;
  std::unique_ptr<AnyChooser> chooser;
  Schedule schedule;
  uint64_t stallsAt = Episode::never;
  std::vector<float> times; ///< by call
  std::deque<Unsent> unsent;
  std::deque<uint64_t> takeAt;  ///< of exchanges that have not ended: the call at which the rank looks for the messages
  uint64_t sent = 0, taken = 0; ///< numbers of exchanges
};

std::string findDisagreement(const std::vector<std::unique_ptr<RankRun>> &runs) {
  const RankRun &first = *runs[0];
  for (uint32_t r = 1; r < runs.size(); ++r) {
    const RankRun &other = *runs[r];
    const size_t common = std::min(first.arms.size(), other.arms.size());
    for (size_t c = 0; c < common; ++c)
      if (first.arms[c] != other.arms[c])
        return "call " + std::to_string(c) + ": rank 0 chooses arm " + std::to_string(first.arms[c]) + ", rank " +
               std::to_string(r) + " chooses arm " + std::to_string(other.arms[c]);
    if (first.calls() == other.calls() && first.error.empty() && other.error.empty() &&
        first.digest() != other.digest())
      return "ranks 0 and " + std::to_string(r) + " have different states at the end";
  }
  return "";
}

} // namespace

Report search(const Episode &episode) {
  // A rank sends a message only after it has taken all exchanges that are due. So no rank is this many exchanges late.
  Board board(episode.ranks, 2 * (size_t(episode.terms.mostDelay) / episode.terms.period + 3));
  std::vector<std::unique_ptr<RankRun>> runs;
  for (uint32_t r = 0; r < episode.ranks; ++r)
    runs.push_back(std::make_unique<RankRun>(episode, r, board));
  std::vector<std::thread> threads;
  for (auto &run : runs)
    threads.emplace_back([&run] { run->run(); });
  for (std::thread &thread : threads)
    thread.join();

  Report report;
  report.exchanges = Episode::never;
  report.samples = runs[0]->samples;
  for (const auto &run : runs) {
    report.calls.push_back(run->calls());
    report.errors.push_back(run->error);
    report.exchanges = std::min(report.exchanges, run->exchanges);
    report.waits += run->waits;
  }
  report.disagreement = findDisagreement(runs);
  return report;
}

} // namespace gc3::select
