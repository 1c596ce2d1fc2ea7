// SPDX-License-Identifier: Apache-2.0
// Threads of control that run one at a time and hand over by themselves, so that one seed gives one order.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace gc3::test {

class Fibers {
public:
  Fibers();
  ~Fibers();
  Fibers(const Fibers &) = delete;
  Fibers &operator=(const Fibers &) = delete;

  /// Adds one; its number is how many there were. It runs when it is first resumed.
  void add(std::function<void()> body);
  size_t count() const;

  /// From outside: runs a fiber until it suspends itself or ends. False if it had ended before.
  bool resume(size_t number);
  bool ended(size_t number) const;

  /// From within a fiber: back to who resumed it.
  void suspend();

private:
  struct Fiber;
  struct Context;
  static void enter(unsigned high, unsigned low);

  std::unique_ptr<Context> outside;
  std::vector<std::unique_ptr<Fiber>> fibers;
  Fiber *running = nullptr;
};

} // namespace gc3::test
