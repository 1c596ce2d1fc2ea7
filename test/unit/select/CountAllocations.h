// SPDX-License-Identifier: Apache-2.0
// A program that links CountAllocations.cpp counts its allocations, and can make them fail.
#pragma once

#include <cstdint>

/// Returns the number of calls of operator new so far. Thread-safe.
uint64_t countAllocations();

/// While an object of this class exists, one allocation of its thread fails: after `successes` others. A thread has at
/// most one such object.
class FailOneAllocation {
public:
  explicit FailOneAllocation(uint64_t successes);
  ~FailOneAllocation();
  FailOneAllocation(const FailOneAllocation &) = delete;
  FailOneAllocation &operator=(const FailOneAllocation &) = delete;

  /// Returns whether the allocation has failed.
  bool hasFailed() const;
};
