// SPDX-License-Identifier: Apache-2.0
// The fakes for several threads: of all functions in their tables one runs at a time.
#pragma once

#include "FakeCuda.h"

namespace gc3::test {

/// While there is one, no other thread is in the fakes.
class OneAtATime {
public:
  OneAtATime() { turn.lock(); }
  ~OneAtATime() { turn.unlock(); }
  OneAtATime(const OneAtATime &) = delete;
  OneAtATime &operator=(const OneAtATime &) = delete;

  static cuda::Cuda cuda();

  /// Of a table these functions, by one thread at a time.
  template <auto... Members, typename Table>
  static void guard(Table &table) {
    (Guarded<Members>::replace(table), ...);
  }

  /// The monitor.
  struct Turn {
    void lock() { Monitor::lock(); }
    void unlock() { Monitor::unlock(); }
  };
  static inline Turn turn;

private:
  template <auto Member>
  struct Guarded;
  template <typename Table, typename R, typename... A, R (*Table::*Member)(A...)>
  struct Guarded<Member> {
    static inline R (*original)(A...) = nullptr;
    static R call(A... arguments) {
      const OneAtATime now;
      return original(arguments...);
    }
    static void replace(Table &table) {
      original = table.*Member;
      if (original)
        table.*Member = call;
    }
  };
};

inline cuda::Cuda OneAtATime::cuda() {
  using cuda::Cuda;
  Cuda table = FakeCuda::table();
  guard<&Cuda::getDevice, &Cuda::setDevice, &Cuda::attribute, &Cuda::busId, &Cuda::deviceOf, &Cuda::nativeAtomics,
        &Cuda::allocate, &Cuda::release, &Cuda::allocatePinned, &Cuda::releasePinned, &Cuda::isDeviceMemory,
        &Cuda::copy, &Cuda::clear, &Cuda::createStream, &Cuda::destroyStream, &Cuda::synchronize, &Cuda::capture,
        &Cuda::createEvent, &Cuda::destroyEvent, &Cuda::record, &Cuda::query, &Cuda::await, &Cuda::recordExternal,
        &Cuda::awaitExternal, &Cuda::occupancy, &Cuda::launch>(table);
  return table;
}

} // namespace gc3::test
