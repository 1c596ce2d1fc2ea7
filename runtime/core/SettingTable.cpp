// SPDX-License-Identifier: Apache-2.0
// The table of settings. After a change, build the target `settings-reference`: it writes the table of docs/deploy.md.
#include "core/Settings.h"

namespace gc3::core {

// These are macros, because adjacent string literals concatenate and string views do not.
#define BY_PROTOCOL ", separated by commas: one for all protocols, and PROTOCOL:NUMBER for Simple, LL or LL128, as in "
#define TUNING_PAGE "tuning.md#slots-and-threads"

constexpr std::array<SettingInfo, settingCount> settingTable{{
    {Setting::Bundles, "GC3_BUNDLES",
     "bundles for the library in front of NCCL; it reports an unusable bundle once, and NCCL serves all calls",
     "paths, separated by colons", "none; NCCL serves all calls", Agreement::Contents, Reader::Front,
     "deploy.md#how-a-process-loads-gc3"},
    {Setting::NcclLib, "GC3_NCCL_LIB",
     "the installed NCCL, if the process has not loaded one; tests and benchmarks on GPUs read it, too",
     "the path of libnccl.so.2", "NCCL among the libraries of the process, then on the loader's path", Agreement::None,
     Reader::Libraries, "deploy.md#how-a-process-loads-gc3"},
    {Setting::GinLib, "GC3_GIN_LIB", "the library for messages between nodes", "the path of libgc3gin.so",
     "libgc3gin.so next to the library that opens it, then in gc3/ there, then on the loader's path", Agreement::None,
     Reader::Libraries, "gpu-internals.md#between-nodes"},
    {Setting::Debug, "GC3_DEBUG",
     "lines on stderr: each setting, each call of each rank and what serves it, each program that is loaded or refused",
     "INFO or TRACE, ignoring case; both log the same, other values log nothing", "no lines", Agreement::None,
     Reader::All, "deploy.md#the-log"},
    {Setting::Program, "GC3_PROGRAM", "programs that may serve calls",
     "PROGRAM, COLLECTIVE:PROGRAM, COLLECTIVE:none or none, separated by commas", "all programs", Agreement::Value,
     Reader::All, "tuning.md#choosing-programs"},
    {Setting::Slots, "GC3_SLOTS", "FIFO slots of a connection on GPUs; if a program needs more, NCCL serves its calls",
     "numbers from 1 on" BY_PROTOCOL "4,LL:16", "the most slots of the programs that share the connection",
     Agreement::Value, Reader::All, TUNING_PAGE},
    {Setting::SlotBytes, "GC3_SLOT_BYTES", "bytes of a FIFO slot on GPUs, rounded down to a multiple of 128",
     "numbers from 128 on" BY_PROTOCOL "262144,LL:32768",
     "524288 for Simple, 65536 for LL, 614400 for LL128; less if the slots of a rank would exceed 1 GiB",
     Agreement::Value, Reader::All, TUNING_PAGE},
    {Setting::Threads, "GC3_THREADS", "threads of a block on GPUs",
     "multiples of 32 up to 512" BY_PROTOCOL "512,LL:256", "512; less if the GPU cannot hold all blocks at once",
     Agreement::None, Reader::All, TUNING_PAGE},
    {Setting::LL128, "GC3_LL128",
     "programs for LL128 over links that tear lines: replace runs them under Simple, refuse does not run them",
     "replace or refuse", "replace", Agreement::Value, Reader::All, "gpu-internals.md#ranks-on-several-gpus"},
    {Setting::TimeoutMs, "GC3_TIMEOUT_MS", "time limit for ranks that wait for each other, and for kernels",
     "a number of milliseconds up to 4294967295, or 0 for the default",
     "60000 on the host, and on GPUs until all ranks have joined; no limit for loads of programs and for kernels",
     Agreement::IsNonzero, Reader::All, "gpu-internals.md#ranks-on-several-gpus"},
    {Setting::Trace, "GC3_TRACE", "file for the time of each instruction; with several GPUs one file for each",
     "a path; %p in it is the process, %r the rank", "no file", Agreement::None, Reader::All, "tuning.md#a-timeline"},
    {Setting::AllowUnproven, "GC3_ALLOW_UNPROVEN", "1 also runs programs without a proof", "0 or 1", "0",
     Agreement::Value, Reader::All, "runtime.md#proofs"},
    {Setting::NcclGraphMixing, "NCCL_GRAPH_MIXING_SUPPORT",
     "NCCL's own: 0 makes CUDA graphs a little faster, and does not order them with other calls", "0 or 1", "1",
     Agreement::Unchecked, Reader::All, "gpu-internals.md#ranks-on-one-gpu"},
}};

static_assert(
    [] {
      for (size_t i = 0; i < settingCount; ++i)
        if (static_cast<size_t>(settingTable[i].setting) != i)
          return false;
      return true;
    }(),
    "rows are in the order of the enum");

} // namespace gc3::core
