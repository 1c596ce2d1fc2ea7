// SPDX-License-Identifier: Apache-2.0
// Runs the processes of a gc3-run job as threads.
#pragma once

#include "Job.h"

#include <barrier>
#include <thread>

namespace gc3::test {

/// Runs function(job) as each of several processes of one host. Gathers among them return an error after `lostAfter`
/// gathers.
inline void runProcesses(uint32_t count, int lostAfter, const std::function<void(run::Job &)> &function) {
  std::vector<run::Job::Bytes> all(count);
  std::barrier<> barrier(count);
  std::vector<std::thread> processes;
  for (uint32_t number = 0; number < count; ++number)
    processes.emplace_back([&, number] {
      const auto gather =
          [&, left = lostAfter](const run::Job::Bytes &own,
                                const std::string &) mutable -> core::Result<std::vector<run::Job::Bytes>> {
        if (left-- == 0)
          return core::Outcome{gc3SystemError, "rank 7, whose process 4711 has ended"};
        all[number] = own;
        barrier.arrive_and_wait();
        std::vector<run::Job::Bytes> copy = all;
        barrier.arrive_and_wait();
        return copy;
      };
      run::Job job(number, count, gather, {number, count});
      function(job);
    });
  for (std::thread &process : processes)
    process.join();
}

} // namespace gc3::test
