// SPDX-License-Identifier: Apache-2.0
// Three texts with their lengths, and two numbers.
#include "Share.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gc3::run {

namespace {

constexpr size_t longestText = 64 << 10;

struct ShareHead {
  uint64_t wrong;
  double seconds;
  uint64_t lengths[3]; ///< of problem, complaint and text
};

} // namespace

std::vector<uint8_t> writeShare(const Share &share) {
  ShareHead head{share.wrong, share.seconds, {}};
  std::vector<uint8_t> bytes(sizeof head);
  uint64_t *length = head.lengths;
  for (const std::string *text : {&share.problem, &share.complaint, &share.text}) {
    *length = std::min(text->size(), longestText);
    bytes.insert(bytes.end(), text->begin(), text->begin() + static_cast<ptrdiff_t>(*length++));
  }
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

std::optional<Share> readShare(std::span<const uint8_t> bytes) {
  ShareHead head;
  if (bytes.size() < sizeof head)
    return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes = bytes.subspan(sizeof head);
  Share share{.wrong = head.wrong, .seconds = head.seconds};
  const uint64_t *length = head.lengths;
  for (std::string *text : {&share.problem, &share.complaint, &share.text}) {
    if (*length > bytes.size())
      return std::nullopt;
    text->assign(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(*length));
    bytes = bytes.subspan(*length++);
  }
  return bytes.empty() ? std::optional(std::move(share)) : std::nullopt;
}

Share together(std::span<const Share> shares, std::span<const std::string> names) {
  Share all{.text = shares[0].text};
  const auto hasSameProblem = [&](const Share &share) { return share.problem == shares[0].problem; };
  const bool isCommon = std::all_of(shares.begin(), shares.end(), hasSameProblem);
  for (size_t i = 0; i < shares.size(); ++i) {
    const Share &share = shares[i];
    if (all.problem.empty() && !share.problem.empty())
      all.problem = (isCommon ? "" : names[i] + ": ") + share.problem;
    if (all.complaint.empty() && !share.complaint.empty())
      all.complaint = share.complaint;
    all.wrong += share.wrong;
    all.seconds = std::max(all.seconds, share.seconds);
  }
  return all;
}

} // namespace gc3::run
