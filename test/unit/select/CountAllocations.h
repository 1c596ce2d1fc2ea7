// SPDX-License-Identifier: Apache-2.0
// A program that links CountAllocations.cpp counts its allocations.
#pragma once

#include <cstdint>

/// Returns the number of calls of operator new so far. Thread-safe.
uint64_t countAllocations();
