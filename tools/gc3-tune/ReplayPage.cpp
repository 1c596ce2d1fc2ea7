// SPDX-License-Identifier: Apache-2.0
#include "Replay.h"

#include <algorithm>

namespace gc3::tune {

namespace {

/// The calls of a recording that are in one bucket, in their order.
std::vector<size_t> callsOf(const Recording &recording, uint32_t bucket) {
  std::vector<size_t> calls;
  for (size_t call = 0; call < recording.bucketOf.size(); ++call)
    if (recording.bucketOf[call] == bucket)
      calls.push_back(call);
  return calls;
}

/// Returns the mean of `timeOf` over some calls.
template <typename TimeOf>
double mean(const std::vector<size_t> &calls, TimeOf timeOf) {
  double sum = 0;
  for (const size_t call : calls)
    sum += timeOf(call);
  return calls.empty() ? report::NoValue : sum / static_cast<double>(calls.size());
}

/// Divides the calls of a bucket into at most 60 columns of consecutive calls.
report::History historyOf(const Recording &recording, const Replay &replay, uint64_t bytes,
                          const std::vector<size_t> &calls) {
  constexpr size_t most = 60;
  const size_t wide = (calls.size() + most - 1) / most;
  report::History history{bytes, {}, {recording.arms, {}}};
  const size_t columns = (calls.size() + wide - 1) / wide;
  history.shares.values.resize(recording.arms.size() * columns);
  for (size_t column = 0; column < columns; ++column) {
    const size_t begin = column * wide, end = std::min(begin + wide, calls.size());
    history.calls.push_back(begin);
    for (size_t i = begin; i < end; ++i)
      history.shares.values[replay.choices[calls[i]] * columns + column] += 1 / static_cast<double>(end - begin);
  }
  return history;
}

} // namespace

report::Page pageOf(const Recording &recording, const Replay &replay) {
  report::Section section{"Mean times of " + std::to_string(recording.bucketOf.size()) + " calls", recording.bytes, {}};
  section.curves.push_back({"the choices", {}});
  for (const std::string &arm : recording.arms)
    section.curves.push_back({arm, {}});
  for (uint32_t bucket = 0; bucket < recording.buckets; ++bucket) {
    const std::vector<size_t> calls = callsOf(recording, bucket);
    section.curves[0].times.push_back(
        mean(calls, [&](size_t call) { return recording.at(call, replay.choices[call]); }));
    for (uint32_t arm = 0; arm < recording.arms.size(); ++arm)
      section.curves[arm + 1].times.push_back(mean(calls, [&](size_t call) { return recording.at(call, arm); }));
    if (!calls.empty())
      section.histories.push_back(historyOf(recording, replay, recording.bytes[bucket], calls));
  }
  return {"Choices of online selection", "replayed from recorded times", {}, {section}};
}

} // namespace gc3::tune
