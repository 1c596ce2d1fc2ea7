// SPDX-License-Identifier: Apache-2.0
// Fibers: threads of control that run one at a time and switch explicitly, so that a seed determines the order.
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

  /// Adds a fiber, whose number is the previous count(). The fiber starts at the first resume().
  void add(std::function<void()> body);
  size_t count() const;

  /// Runs a fiber until the fiber suspends itself or ends. Returns false if the fiber has already ended. A fiber must
  /// not call this function.
  bool resume(size_t number);
  bool ended(size_t number) const;

  /// Returns to the caller of resume(). Only a fiber may call this function.
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
