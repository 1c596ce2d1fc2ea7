// SPDX-License-Identifier: Apache-2.0
#include "Replay.h"
#include "gc3/Topology/Json.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace gc3::tune {

namespace json = llvm::json;

namespace {

std::string number(const char *name, size_t index) {
  return std::string(name) + "[" + std::to_string(index) + "]";
}

bool readTime(const json::Value &value, double &time) {
  const auto found = value.getAsNumber();
  if (!found || !std::isfinite(*found) || *found <= 0)
    return false;
  time = *found;
  return true;
}

std::string readArm(const json::Object &object, size_t arm, Recording &recording) {
  const std::string place = number("arms", arm);
  const auto name = object.getString("name");
  if (!name)
    return place + ": 'name' is missing";
  recording.arms.push_back(name->str());
  const json::Value *predicted = object.get("predicted");
  if (!predicted || predicted->getAsNull())
    return {};
  const json::Array *array = predicted->getAsArray();
  if (!array || array->size() != recording.buckets)
    return place + ": 'predicted' must have a number for each bucket";
  const size_t count = recording.predicted.size() / recording.buckets;
  for (size_t b = 0; b < recording.buckets; ++b) {
    double time = 0;
    if ((*array)[b].getAsNull())
      continue;
    if (!readTime((*array)[b], time))
      return place + ": a predicted time must be null or a number of microseconds above 0";
    recording.predicted[b * count + arm] = static_cast<float>(time);
  }
  return {};
}

std::string readCall(const json::Object &object, size_t call, Recording &recording) {
  const std::string place = number("calls", call);
  const auto bucket = object.getInteger("bucket");
  if (!bucket || *bucket < 0 || *bucket >= recording.buckets)
    return place + ": 'bucket' must be the index of a bucket";
  recording.bucketOf.push_back(static_cast<uint32_t>(*bucket));
  const json::Array *times = object.getArray("times");
  if (!times || times->size() != recording.arms.size())
    return place + ": 'times' must have a number for each arm";
  for (const json::Value &value : *times)
    if (!readTime(value, recording.times.emplace_back()))
      return place + ": a time must be a number of microseconds above 0";
  return {};
}

/// Calls `read(object, index)` for each object of an array.
template <typename Read>
std::string forEach(const json::Object &file, const char *name, Read read) {
  const json::Array *array = file.getArray(name);
  if (!array || array->empty())
    return std::string("'") + name + "' must be an array that is not empty";
  for (size_t i = 0; i < array->size(); ++i) {
    const json::Object *object = (*array)[i].getAsObject();
    std::string problem = object ? read(*object, i) : number(name, i) + " must be an object";
    if (!problem.empty())
      return problem;
  }
  return {};
}

} // namespace

std::string readRecording(const std::string &text, Recording &recording) {
  if (topology::isTooDeep(text))
    return "nested too deeply";
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return llvm::toString(value.takeError());
  const json::Object *file = value->getAsObject();
  if (!file)
    return "must be an object";
  const json::Array *buckets = file->getArray("buckets"), *arms = file->getArray("arms");
  if (!buckets || buckets->empty())
    return "'buckets' must be an array that is not empty";
  recording.buckets = static_cast<uint32_t>(buckets->size());
  for (const json::Value &bucket : *buckets) {
    const auto bytes = bucket.getAsInteger();
    if (!bytes || *bytes < 1 || (!recording.bytes.empty() && static_cast<uint64_t>(*bytes) <= recording.bytes.back()))
      return "'buckets' must be numbers of bytes above 0, in ascending order";
    recording.bytes.push_back(static_cast<uint64_t>(*bytes));
  }
  recording.predicted.assign(buckets->size() * (arms ? arms->size() : 0), std::nanf(""));
  std::string problem =
      forEach(*file, "arms", [&](const json::Object &arm, size_t i) { return readArm(arm, i, recording); });
  if (problem.empty())
    problem = forEach(*file, "calls", [&](const json::Object &call, size_t i) { return readCall(call, i, recording); });
  return problem;
}

std::string jsonOf(const Replay &replay) {
  json::Array choices;
  for (uint32_t arm : replay.choices)
    choices.push_back(static_cast<int64_t>(arm));
  const double regret = replay.time / replay.bestFixed - 1;
  const json::Object object{
      {"choices", std::move(choices)}, {"time", replay.time}, {"best_fixed", replay.bestFixed}, {"regret", regret}};
  return llvm::formatv("{0}\n", json::Value(json::Object(object))).str();
}

} // namespace gc3::tune
