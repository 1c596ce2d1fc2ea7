// SPDX-License-Identifier: Apache-2.0
// Writes and merges what was learned.
#include "select/TuneFile.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <numeric>
#include <tuple>

namespace gc3::select {

namespace {

std::string number(float value) {
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

/// Returns the text as a part of a line.
std::string printable(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

} // namespace

std::string digestText(uint64_t digest) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(digest));
  return text;
}

std::string writeTuneText(const TuneFile &file) {
  std::vector<uint32_t> order(file.rows.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](uint32_t index) {
    const TuneRow &row = file.rows[index];
    return std::tie(file.contexts[row.context], row.bucket, row.arm);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  std::string text = "gc3-learned 1\nmachine " + printable(file.machine) + "\nbundle " + digestText(file.bundle) +
                     "\n# bucket arm calls median_us spread last_use\n";
  uint32_t context = UINT32_MAX;
  for (const uint32_t index : order) {
    const TuneRow &row = file.rows[index];
    if (row.context != context) {
      context = row.context;
      const TuneContext &own = file.contexts[context];
      text += "context ranks=" + std::to_string(own.ranks) + " hosts=" + std::to_string(own.hosts) +
              " type=" + own.type + " inplace=" + (own.inPlace ? "1 " : "0 ") + own.collective + "\n";
    }
    text += std::to_string(row.bucket) + " " + row.arm + " " + std::to_string(row.calls) + " " +
            number(row.microseconds) + " " + number(row.spread) + " " + std::to_string(row.lastUse) + "\n";
  }
  return text;
}

void mergeTuneFile(TuneFile &into, const TuneFile &more) {
  std::map<TuneContext, uint32_t> contexts;
  for (uint32_t i = 0; i < into.contexts.size(); ++i)
    contexts.emplace(into.contexts[i], i);
  std::map<std::tuple<uint32_t, uint32_t, std::string>, size_t> rows; // by context, bucket and arm
  for (size_t i = 0; i < into.rows.size(); ++i)
    rows.emplace(std::tuple(into.rows[i].context, into.rows[i].bucket, into.rows[i].arm), i);
  for (TuneRow row : more.rows) {
    const TuneContext &own = more.contexts[row.context];
    const auto [context, isNewContext] = contexts.emplace(own, static_cast<uint32_t>(into.contexts.size()));
    if (isNewContext)
      into.contexts.push_back(own);
    row.context = context->second;
    const auto [place, isNew] = rows.emplace(std::tuple(row.context, row.bucket, row.arm), into.rows.size());
    if (isNew)
      into.rows.push_back(row);
    else if (row.calls > into.rows[place->second].calls)
      into.rows[place->second] = row;
  }
}

std::string reasonToIgnore(const TuneFile &file, std::string_view machine, uint64_t bundle) {
  if (file.machine != printable(machine))
    return "it is for the machine '" + file.machine + "', not '" + printable(machine) + "'";
  if (file.bundle != bundle)
    return "it is for the bundle " + digestText(file.bundle) + ", not " + digestText(bundle);
  return {};
}

} // namespace gc3::select
