// SPDX-License-Identifier: Apache-2.0
#include "job/Resolve.h"

#include <asio/steady_timer.hpp>

namespace gc3::job {

core::Result<std::vector<net::Tcp::endpoint>> resolve(const Launch &launch, const Wait &wait) {
  constexpr std::chrono::milliseconds pause(250);
  asio::io_context context{1};
  net::Tcp::resolver resolver(context);
  for (;;) {
    asio::error_code error;
    std::vector<net::Tcp::endpoint> targets;
    const auto found = resolver.resolve(launch.rootHost, {}, error);
    for (uint32_t i = 0; i < Launch::portCount; ++i)
      for (const auto &each : found)
        targets.emplace_back(each.endpoint().address(), static_cast<uint16_t>(launch.firstPort + i));
    if (!targets.empty())
      return targets;
    asio::steady_timer timer(context, pause);
    bool isOver = false;
    timer.async_wait([&](asio::error_code) { isOver = true; });
    core::Outcome outcome = net::runUntil(
        context, [&] { return isOver; }, wait.deadline, wait.limits.checkInterruption);
    context.restart();
    if (outcome.code == gc3Timeout && outcome.text.empty())
      outcome.text = "rank " + std::to_string(launch.rank) + " can't find the host of rank 0, '" + launch.rootHost +
                     "': " + error.message();
    if (!outcome.ok())
      return outcome;
  }
}

} // namespace gc3::job
