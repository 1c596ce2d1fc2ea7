// SPDX-License-Identifier: Apache-2.0
#include "job/ProcessWatch.h"

#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace gc3::job {

ProcessWatch::ProcessWatch(asio::io_context &context, uint32_t process, std::function<void()> onEnd)
    : descriptor(context), timer(context), onEnd(std::move(onEnd)) {
  const auto opened = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0));
  if (opened < 0) {
    if (errno == ESRCH)
      waitForData();
    return;
  }
  asio::error_code error;
  descriptor.assign(opened, error);
  if (error) {
    close(opened);
    return;
  }
  descriptor.async_wait(asio::posix::stream_descriptor::wait_read, [this](asio::error_code failure) {
    if (!failure)
      waitForData();
  });
}

/// Without this time, the end of a process could be handled before its last message.
void ProcessWatch::waitForData() {
  timer.expires_after(std::chrono::milliseconds(100));
  timer.async_wait([this](asio::error_code failure) {
    if (!failure)
      onEnd();
  });
}

} // namespace gc3::job
