// SPDX-License-Identifier: Apache-2.0
// Keys of hashes, and hash-consing of exact multisets.
#include "Values.h"
#include <random>

using namespace gc3::verify;

HashDomain::Keys HashDomain::randomKeys() {
  std::random_device device;
  auto number = [&] { return uint64_t(device()) << 32 | device(); };
  uint64_t low = number();
  return {low, number()};
}

ExactDomain::Value ExactDomain::intern(std::vector<Element> set) {
  if (exhausted)
    return unset();
  uint64_t hash = set.size();
  for (const Element &element : set)
    hash = mix(hash ^ mix(element.key + element.times));
  hash &= ~uint64_t(0) >> 2; // avoids the map's reserved keys
  std::vector<uint32_t> &same = byHash[hash];
  for (uint32_t id : same)
    if (sets[id] == set)
      return {id};
  if (set.size() > remaining) {
    exhausted = true;
    return unset();
  }
  remaining -= set.size();
  same.push_back(static_cast<uint32_t>(sets.size()));
  sets.push_back(std::move(set));
  return {same.back()};
}

ExactDomain::Value ExactDomain::Sum::value() {
  std::sort(inputs.begin(), inputs.end(), [](const Element &a, const Element &b) { return a.key < b.key; });
  std::vector<Element> set;
  for (const Element &input : inputs) {
    if (set.empty() || set.back().key != input.key)
      set.push_back({input.key, 0});
    set.back().times += input.times;
  }
  return domain.intern(std::move(set));
}

ExactDomain::Value ExactDomain::combine(Value a, Value b) {
  auto key = std::minmax(a.id, b.id);
  auto known = sums.find({key.first, key.second});
  if (known != sums.end())
    return {known->second};
  std::vector<Element> sum;
  const std::vector<Element> &x = sets[a.id];
  const std::vector<Element> &y = sets[b.id];
  if (exhausted)
    return unset();
  sum.reserve(x.size() + y.size());
  for (size_t i = 0, j = 0; i != x.size() || j != y.size();) {
    if (j == y.size() || (i != x.size() && x[i].key < y[j].key))
      sum.push_back(x[i++]);
    else if (i == x.size() || y[j].key < x[i].key)
      sum.push_back(y[j++]);
    else {
      sum.push_back({x[i].key, saturatingSum(x[i].times, y[j].times)});
      ++i, ++j;
    }
  }
  Value result = intern(std::move(sum));
  sums[{key.first, key.second}] = result.id;
  return result;
}
