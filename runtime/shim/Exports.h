// SPDX-License-Identifier: Apache-2.0
// The functions that the library exports. They are declared with the types of Abi.h, so a definition with another type
// does not compile.
#pragma once

#include "ncclapi/Abi.h"

extern "C" {
#define GC3_NCCL_DECLARE(name) __attribute__((visibility("default"))) gc3::ncclapi::signature::name nccl##name;
GC3_NCCL_INTERPOSED(GC3_NCCL_DECLARE)
#undef GC3_NCCL_DECLARE
}
