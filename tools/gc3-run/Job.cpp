// SPDX-License-Identifier: Apache-2.0
#include "Job.h"

namespace gc3::run {

core::RankRange Job::ownRanks(uint32_t ranks) {
  ranksPerProcess = ranks / all;
  return {own * ranksPerProcess, (own + 1) * ranksPerProcess};
}

std::string Job::nameOf(uint32_t process) const {
  if (ranksPerProcess == 1)
    return "rank " + std::to_string(process);
  const uint32_t first = process * ranksPerProcess;
  return "process " + std::to_string(process) + " (ranks " + std::to_string(first) + " to " +
         std::to_string(first + ranksPerProcess - 1) + ")";
}

Share Job::breakUp(const Share &share, const std::string &reason) {
  state = State::Broken;
  Share rest = share;
  rest.problem = name() + ": " + (share.problem.empty() ? reason : share.problem);
  if (share.problem.empty() && ranksPerProcess > 1) // the reason counts processes as ranks
    rest.problem += " (here, a rank is a process with " + std::to_string(ranksPerProcess) + " ranks of the program)";
  return rest;
}

Share Job::meet(const Share &share) {
  if (!gather || state != State::Meeting)
    return share;
  const core::Result<std::vector<Bytes>> gathered = gather(writeShare(share), share.problem);
  if (!gathered.ok())
    return breakUp(share, gathered.outcome().text);
  std::vector<Share> shares;
  std::vector<std::string> names;
  for (uint32_t other = 0; other < all; ++other) {
    std::optional<Share> read = readShare((*gathered)[other]);
    if (!read)
      return breakUp(share, nameOf(other) + " has another version of gc3-run");
    shares.push_back(std::move(*read));
    names.push_back(nameOf(other));
  }
  Share combined = together(shares, names);
  if (!combined.problem.empty())
    state = State::Ended;
  return combined;
}

} // namespace gc3::run
