// SPDX-License-Identifier: Apache-2.0
// A process of a test, which signals can stop and end.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gc3::job {

/// One end of a connection between a test and its process. All functions block.
class Wire {
public:
  explicit Wire(int descriptor) : descriptor(descriptor) {}
  Wire(Wire &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  ~Wire() {
    if (descriptor >= 0)
      close(descriptor);
  }
  template <typename T>
  void send(const T &value) {
    EXPECT_EQ(::send(descriptor, &value, sizeof value, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof value));
  }
  /// Returns a value of zeros if the other end is closed.
  template <typename T>
  T receive() {
    T value{};
    (void)recv(descriptor, &value, sizeof value, MSG_WAITALL);
    return value;
  }
  /// Waits until the other end is closed.
  void waitForEnd() { (void)receive<char>(); }

private:
  int descriptor;
};

/// Begins before the test has threads, so that the process can use all functions. Ends with the object.
class Process {
public:
  explicit Process(const std::function<void(Wire)> &body) : Process(body, makePair()) {}
  ~Process() {
    if (id > 0) {
      kill(id, SIGKILL);
      wait();
    }
  }
  Process(const Process &) = delete;
  Process &operator=(const Process &) = delete;

  /// Sends a signal, and waits until the process has ended or stopped.
  void signal(int number) {
    kill(id, number);
    waitid(P_PID, static_cast<id_t>(id), nullptr, WEXITED | WSTOPPED | WNOWAIT);
  }
  void wait() {
    waitpid(id, nullptr, 0);
    id = 0;
  }

  pid_t id = 0;
  Wire wire;

private:
  struct Pair {
    int ends[2];
  };
  static Pair makePair() {
    Pair pair{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.ends), 0);
    return pair;
  }
  Process(const std::function<void(Wire)> &body, Pair pair) : wire(pair.ends[0]) {
    id = fork();
    if (id == 0) {
      close(pair.ends[0]);
      body(Wire(pair.ends[1]));
      _exit(0);
    }
    close(pair.ends[1]);
  }
};

} // namespace gc3::job
