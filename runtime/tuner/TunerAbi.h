// SPDX-License-Identifier: Apache-2.0
// The binary interface of NCCL's tuner plugins, as far as gc3 implements it. NCCL's headers that define it are
// src/include/plugin/tuner/tuner_v4.h to tuner_v6.h, nccl_tuner.h and nccl_common.h of github.com/NVIDIA/nccl.
// NCCL 2.27 looks up version 4, 2.28 and 2.29 version 5, 2.30 and 2.31 version 6 first, and then older versions.
#pragma once

#include "ncclapi/Abi.h"

namespace gc3::tuner::abi {

using ncclapi::Result;

/// NCCL's logger. `level` is a LogLevel, `subsystems` a set of bits.
using Logger = void (*)(int level, unsigned long subsystems, const char *file, int line, const char *format, ...);
enum LogLevel : int { LogWarn = 2, LogInfo = 3 };
inline constexpr unsigned long logInit = 0x1, logTuning = 0x40;

/// Called for each call or group of calls. Despite its type, `costs` points to floats: algorithms rows of protocols
/// columns. If `channels` stays 0, NCCL chooses their number. NCCL fails the application's call if the result is not
/// Success.
using GetCollInfo = Result (*)(void *context, int collective, size_t bytes, int pipelinedCalls, float **costs,
                               int algorithms, int protocols, int isRegistered, int *channels);
using Finalize = Result (*)(void *context);

struct TunerV4 {
  const char *name;
  Result (*init)(size_t ranks, size_t nodes, Logger logger, void **context);
  GetCollInfo getCollInfo;
  Finalize destroy;
};

struct NvlDomains;
struct Constants;
using InitV5 = Result (*)(void **context, uint64_t communicator, size_t ranks, size_t nodes, Logger logger,
                          NvlDomains *domains, Constants *constants);

struct TunerV5 {
  const char *name;
  InitV5 init;
  GetCollInfo getCollInfo;
  Finalize finalize;
};

struct TunerV6 {
  const char *name;
  InitV5 init;
  GetCollInfo getCollInfo;
  Finalize finalize;
  /// May change the size of the parts that NCCL cuts a call into. Null: NCCL's size.
  Result (*getChunkSize)(void *context, int collective, size_t bytes, int algorithm, int protocol, int channels,
                         size_t *chunkBytes);
};

} // namespace gc3::tuner::abi
