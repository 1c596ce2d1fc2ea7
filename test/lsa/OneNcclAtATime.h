// SPDX-License-Identifier: Apache-2.0
// The fake of NCCL for several threads: nobody else comes between the start and the end of a thread's group.
#pragma once

#include "FakeWindows.h"
#include "OneAtATime.h"

namespace gc3::test {

inline ncclapi::Nccl oneNcclAtATime(const FakeWindows &windows) {
  using ncclapi::Nccl;
  static Nccl inner;
  Nccl table = windows.table();
#define GC3_GUARD(name) OneAtATime::guard<&Nccl::name>(table);
  GC3_NCCL_FOR_WINDOWS(GC3_GUARD)
#undef GC3_GUARD
  OneAtATime::guard<&Nccl::TeamLsa, &Nccl::GetLsaDevicePointer>(table);
  inner = table;
  table.GroupStart = [] {
    OneAtATime::turn.lock();
    return inner.GroupStart();
  };
  table.GroupEnd = [] {
    const ncclapi::Result result = inner.GroupEnd();
    OneAtATime::turn.unlock();
    return result;
  };
  return table;
}

} // namespace gc3::test
