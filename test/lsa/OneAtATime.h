// SPDX-License-Identifier: Apache-2.0
// The fakes for several threads: of all functions in their tables one runs at a time. A thread has a current device of
// its own, and nobody else comes between the start and the end of its group of NCCL's.
#pragma once

#include "FakeWindows.h"

#include <mutex>
#include <utility>

namespace gc3::test {

/// While there is one, no other thread is in the fakes.
class OneAtATime {
public:
  OneAtATime() {
    turn.lock();
    FakeCuda::table().setDevice(device);
  }
  ~OneAtATime() {
    FakeCuda::table().getDevice(&device);
    turn.unlock();
  }
  OneAtATime(const OneAtATime &) = delete;
  OneAtATime &operator=(const OneAtATime &) = delete;

  static cuda::Cuda cuda();
  static lsa::Nccl nccl(const FakeWindows &windows);

private:
  static inline std::recursive_mutex turn;
  static inline thread_local int device = 0; ///< this thread's, while it is not in the fakes
  static inline lsa::Nccl inner;

  /// What a table has at `Member`, by one thread at a time.
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
  template <auto... Members, typename Table>
  static void guard(Table &table) {
    (Guarded<Members>::replace(table), ...);
  }
};

inline cuda::Cuda OneAtATime::cuda() {
  using cuda::Cuda;
  Cuda table = FakeCuda::table();
  guard<&Cuda::getDevice, &Cuda::setDevice, &Cuda::attribute, &Cuda::busId, &Cuda::deviceOf, &Cuda::nativeAtomics,
        &Cuda::allocate, &Cuda::release, &Cuda::allocatePinned, &Cuda::releasePinned, &Cuda::isDeviceMemory,
        &Cuda::copy, &Cuda::clear, &Cuda::createStream, &Cuda::destroyStream, &Cuda::synchronize, &Cuda::isCaptured,
        &Cuda::createEvent, &Cuda::destroyEvent, &Cuda::record, &Cuda::query, &Cuda::await, &Cuda::occupancy,
        &Cuda::launch>(table);
  return table;
}

inline lsa::Nccl OneAtATime::nccl(const FakeWindows &windows) {
  using lsa::Nccl;
  Nccl table = windows.table();
#define GC3_GUARD(name) guard<&Nccl::name>(table);
  GC3_NCCL_FOR_WINDOWS(GC3_GUARD)
#undef GC3_GUARD
  guard<&Nccl::TeamLsa, &Nccl::GetLsaDevicePointer>(table);
  inner = table;
  table.GroupStart = [] {
    turn.lock();
    return inner.GroupStart();
  };
  table.GroupEnd = [] {
    const nccl::Result result = inner.GroupEnd();
    turn.unlock();
    return result;
  };
  return table;
}

} // namespace gc3::test
