// SPDX-License-Identifier: Apache-2.0
// What a rank holds is given back with the last reference to it, by a thread that may have to wait for that. Who only
// asks for its state, as a watchdog does, must not become that thread.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace gc3::nccl {

template <typename T>
class Asking;

/// Of one thing, those who ask; copies are the same.
class Asked {
public:
  /// By who gives the thing back, when it is not to be found any more: until nobody asks.
  void awaitEnd() const { std::unique_lock(*mutex).unlock(); }

private:
  template <typename T>
  friend class Asking;
  std::shared_ptr<std::shared_mutex> mutex = std::make_shared<std::shared_mutex>();
};

/// A reference that is waited for. Made while the thing still is to be found.
template <typename T>
class Asking {
public:
  Asking() = default;
  Asking(std::shared_ptr<T> held, const Asked &asked) : mutex(asked.mutex), lock(*mutex), held(std::move(held)) {}

  explicit operator bool() const { return held != nullptr; }
  T *operator->() const { return held.get(); }

private:
  std::shared_ptr<std::shared_mutex> mutex;
  std::shared_lock<std::shared_mutex> lock;
  std::shared_ptr<T> held; ///< goes first
};

} // namespace gc3::nccl
