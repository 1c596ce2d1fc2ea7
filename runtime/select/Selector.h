// SPDX-License-Identifier: Apache-2.0
// Chooses an arm for each call of one context (docs/selection.md). A choice depends only on the arms, and on the
// sequence of calls of choose() and add(). So selectors on several ranks choose alike if their ranks make these calls
// in the same order, with the same arguments.
#pragma once

#include "select/Budget.h"
#include "select/Estimate.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gc3::select {

/// How a call was timed. After the first calls, choosing and timing must not cost more than about 1 % of the time.
enum class Timing : uint8_t {
  Cheap, ///< with the choice, it costs up to a microsecond
  Costly ///< by CUDA events, which cost 6 microseconds of an H100
};

/// The arms of a context, and what is known about them before the first call.
struct Arms {
  uint32_t buckets = 0, count = 0;
  std::vector<float> predicted; ///< by bucket * count + arm, in microseconds. NaN: unknown. Infinity: the arm can't run
  std::vector<uint32_t> fixed;  ///< by bucket: the arm that runs calls if nothing is known
  /// By arm: the arm of which it is a variant, which comes before it; itself if it is none. Empty: there are no
  /// variants. A variant probably takes about the same time, and is not tried before the other arm has a time.
  std::vector<uint32_t> variantOf{};

  /// Notes that an arm can't run. The first arm that can run replaces it as a fixed arm.
  void exclude(uint32_t arm);
};

class Selector {
public:
  /// The number of a bucket's first calls in which the budget does not limit exploration.
  static constexpr uint32_t firstCalls = 50;

  /// `commonBudget` must outlive this object. `arms.fixed` names arms that can run.
  Selector(const Arms &arms, Budget &commonBudget);

  struct Choice {
    uint32_t arm;
    uint32_t repeats; ///< number of next calls that need no choice, because their timing would be noticed: they have
                      ///< the favourite, and no time
  };
  /// Returns the arm for the next call in the bucket. Allocates nothing. O(arms that may be faster than the favourite).
  Choice choose(uint32_t bucket);
  /// Adds the time of a call, in microseconds, for which choose() has returned `arm`. Times can arrive late. If the
  /// time is not known, pass NaN. O(arms).
  void add(uint32_t bucket, uint32_t arm, float microseconds, Timing timing = Timing::Cheap);
  /// Moves a call from `chooser`, whose choose() has returned `arm`, to this selector, and adds its time as add() does.
  /// The call turned out to belong to this context. O(arms).
  void adopt(Selector &chooser, uint32_t bucket, uint32_t arm, float microseconds, Timing timing = Timing::Cheap);

  /// What the calls of an arm in a bucket have shown.
  struct Experience {
    uint64_t calls = 0; ///< those of earlier jobs, too
    float median = 0;   ///< of their times in microseconds; 0: no time is known
    float spread = 0;   ///< robust standard deviation / median
  };
  /// Adds what earlier jobs have learned. Call before choose(), and once for each bucket and arm. Ignores it if the
  /// median is not finite and above 0. O(arms).
  void learn(uint32_t bucket, uint32_t arm, const Experience &earlier);
  /// Returns what earlier jobs and this selector's calls have shown.
  Experience experience(uint32_t bucket, uint32_t arm) const;

  /// Makes sure that choose() does not return an arm again, because it can't run.
  void exclude(uint32_t arm);

  /// Returns the arm that choose() returns unless it explores.
  uint32_t favourite(uint32_t bucket) const { return rows[bucket].favourite; }
  /// Returns the probable time of the arm's next call, in microseconds.
  float expected(uint32_t bucket, uint32_t arm) const;
  /// Returns a hash of all choices and times so far.
  uint64_t digest() const { return history; }

private:
  /// A guess of a time, and its standard deviation. Times are logarithms of microseconds.
  struct Guess {
    float time = 0, doubt = 0;
  };
  struct Arm {
    Estimate estimate;
    float predicted = 0; ///< NaN: unknown. Infinity: the arm can't run
    Guess next;          ///< of the arm's next time
    float hope = 0;      ///< of an arm with one sample: its optimistic time without that sample, which can be a spike
    uint64_t calls = 0;
    uint32_t lastSample = 0; ///< number of the bucket's samples when its last one arrived
    bool canRun() const;
  };
  struct Row {
    bool hasBegun = false; ///< choose() has been called
    uint32_t calls = 0;    ///< those of earlier jobs, too, up to `firstCalls`
    uint32_t favourite = 0;
    uint32_t samples = 0, farSamples = 0;
    bool isSuspect = false;        ///< the last sample was far from its arm's usual time
    Timing timing = Timing::Cheap; ///< of the last sample
    float microseconds = 0;        ///< the favourite's probable time
    float noise = 0;               ///< standard deviation of a sample
    uint32_t changedAt = 0;        ///< number of samples when a time changed: earlier ones are in doubt, of all arms
    uint32_t prospects = 0;        ///< number of prospects
  };
  /// An arm that may be faster than the favourite.
  struct Prospect {
    uint32_t arm;
    float time; ///< its optimistic time, as a logarithm
    float cost; ///< how much longer a call probably takes than with the favourite, in microseconds
  };
  /// What the samples of a bucket say about the predictions of its arms.
  struct Errors {
    float shift = 0; ///< common error
    float doubt = 0; ///< usual error
  };

  std::size_t index(uint32_t bucket, uint32_t arm) const { return std::size_t(bucket) * count + arm; }
  Arm &at(uint32_t bucket, uint32_t arm) { return states[index(bucket, arm)]; }
  const Arm &at(uint32_t bucket, uint32_t arm) const { return states[index(bucket, arm)]; }
  void note(uint32_t bucket, uint32_t arm, float microseconds);
  void endPending(uint32_t bucket, uint32_t arm);
  void addSample(uint32_t bucket, uint32_t arm, float microseconds, Timing timing);
  static float optimistic(const Row &row, const Arm &arm);
  static uint32_t samplesOfChange(const Row &row);
  uint32_t repeatsOf(const Row &row) const;
  const Prospect *findCandidate(uint32_t bucket) const;
  void findProspects(uint32_t bucket);
  void refresh(uint32_t bucket);
  float noiseOf(uint32_t bucket) const;
  Errors errorsOf(uint32_t bucket) const;
  bool isVariant(uint32_t arm) const { return bases[arm] != arm; }
  bool isTooEarly(uint32_t bucket, uint32_t arm) const;
  uint32_t nearestKnown(uint32_t bucket, uint32_t arm) const;
  Guess guessOfVariant(uint32_t bucket, uint32_t arm) const;
  Guess guessFromOthers(uint32_t bucket, uint32_t arm, const Errors &errors) const;
  void chooseFavourite(uint32_t bucket);

  const uint32_t buckets, count;
  Budget &budget;
  uint64_t history = 0;
  std::vector<uint32_t> bases;     ///< Arms::variantOf
  std::vector<Arm> states;         ///< by index()
  std::vector<uint32_t> pending;   ///< by index(): calls whose times have not arrived
  std::vector<Row> rows;           ///< by bucket
  std::vector<Prospect> prospects; ///< those of a bucket begin at index(bucket, 0). Only samples change them
};

} // namespace gc3::select
