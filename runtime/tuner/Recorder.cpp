// SPDX-License-Identifier: Apache-2.0
#include "tuner/Recorder.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace gc3::tuner {

namespace {

constexpr std::string_view collectivesOfNccl[] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"};
constexpr std::string_view algorithmsOfNccl[] = {"TREE",      "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS",
                                                 "NVLS_TREE", "PAT"};
constexpr std::string_view protocolsOfNccl[] = {"LL", "LL128", "SIMPLE"};

struct TypeSize {
  std::string_view name;
  uint32_t bytes;
};
constexpr TypeSize typesOfNccl[] = {{"ncclInt8", 1},     {"ncclUint8", 1},      {"ncclInt32", 4},
                                    {"ncclUint32", 4},   {"ncclInt64", 8},      {"ncclUint64", 8},
                                    {"ncclFloat16", 2},  {"ncclFloat32", 4},    {"ncclFloat64", 8},
                                    {"ncclBfloat16", 2}, {"ncclFloat8e4m3", 1}, {"ncclFloat8e5m2", 1}};

constexpr size_t mostTimes = 1024;
constexpr size_t mostCalls = 1 << 16; ///< that have not ended

/// Sets `number` to the place of a name. Returns false if it is not there.
template <typename Number, size_t Count>
bool find(const char *name, const std::string_view (&names)[Count], Number &number) {
  const auto *place = std::find(std::begin(names), std::end(names), std::string_view(name ? name : ""));
  number = static_cast<Number>(place - std::begin(names));
  return place != std::end(names);
}

uint64_t keyOf(const Row &row) {
  uint64_t key = 0;
  for (const uint32_t part : {static_cast<uint32_t>(row.collective), static_cast<uint32_t>(row.bucket),
                              static_cast<uint32_t>(row.arm.algorithm), static_cast<uint32_t>(row.arm.protocol),
                              static_cast<uint32_t>(row.arm.channels)})
    key = key << 8 | part;
  return key;
}

} // namespace

void Times::add(const Row &row, float microseconds) {
  Samples &samples = all[keyOf(row)];
  samples.row = row;
  if (samples.times.size() < mostTimes) {
    samples.times.push_back(microseconds);
    return;
  }
  samples.times[samples.next] = microseconds;
  samples.next = (samples.next + 1) % mostTimes;
}

std::vector<Row> Times::medians() const {
  std::vector<Row> rows;
  for (const auto &[key, samples] : all) {
    std::vector<float> sorted = samples.times;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    rows.push_back(samples.row);
    rows.back().arm.time = *middle;
  }
  return rows;
}

Event *Recorder::beginGroup() {
  const std::lock_guard lock(mutex);
  tasks = 0;
  return &group;
}

bool Recorder::describe(const abi::CollDescription &description, Row &row) const {
  const auto *type = std::find_if(std::begin(typesOfNccl), std::end(typesOfNccl), [&](const TypeSize &each) {
    return description.datatype && each.name == description.datatype;
  });
  if (type == std::end(typesOfNccl) || !find(description.collective, collectivesOfNccl, row.collective) ||
      !find(description.algorithm, algorithmsOfNccl, row.arm.algorithm) ||
      !find(description.protocol, protocolsOfNccl, row.arm.protocol))
    return false;
  const bool isPerRank = row.collective == Collective::AllGather || row.collective == Collective::ReduceScatter;
  const uint64_t bytes = static_cast<uint64_t>(description.count) * type->bytes * (isPerRank ? ranks : 1);
  row.ranks = ranks, row.nodes = nodes, row.bucket = static_cast<uint8_t>(bucketOf(bytes));
  // The tuner chooses the first arm that NCCL can use. NCCL can use this algorithm and protocol, so no later arm with
  // them is ever chosen.
  const std::span<const Arm> arms = choices.arms(static_cast<int>(row.collective), bytes);
  const auto chosen = std::find_if(arms.begin(), arms.end(), [&](const Arm &arm) {
    return arm.algorithm == row.arm.algorithm && arm.protocol == row.arm.protocol;
  });
  row.arm.channels = chosen == arms.end() ? 0 : chosen->channels;
  return true;
}

Event *Recorder::beginCall(const abi::CollDescription &description) {
  const std::lock_guard lock(mutex);
  ++tasks;
  Row row;
  if (description.channels == 0 || !describe(description, row) || (unused.empty() && calls.size() == mostCalls))
    return nullptr;
  if (unused.empty()) {
    if (unused.capacity() == calls.size()) // finish() allocates nothing
      unused.reserve(2 * calls.size() + 1);
    unused.push_back(&calls.emplace_back());
  }
  Call &call = *unused.back();
  unused.pop_back();
  call = Call();
  call.handle = {this, &call};
  call.row = row, call.running = description.channels;
  launching.push_back(&call);
  return &call.handle;
}

void Recorder::beginMessage() {
  const std::lock_guard lock(mutex);
  ++tasks;
}

void Recorder::endGroup() {
  const std::lock_guard lock(mutex);
  for (Call *call : launching) {
    call->isAlone = tasks == 1, call->isLaunched = true;
    if (call->running == 0)
      finish(*call);
  }
  launching.clear();
}

void Recorder::beginKernel(Call &call, uint64_t nanoseconds) {
  const std::lock_guard lock(mutex);
  call.start = std::min(call.start, nanoseconds);
}

void Recorder::endKernel(Call &call, uint64_t nanoseconds) {
  const std::lock_guard lock(mutex);
  call.stop = std::max(call.stop, nanoseconds);
  if (call.running != 0 && --call.running == 0 && call.isLaunched)
    finish(call);
}

void Recorder::finish(Call &call) {
  if (call.isAlone && call.stop > call.start)
    times.add(call.row, static_cast<float>(call.stop - call.start) / 1000);
  unused.push_back(&call);
}

} // namespace gc3::tuner
