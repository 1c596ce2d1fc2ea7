// SPDX-License-Identifier: Apache-2.0
// The table of settings. After a change, build the target `settings-reference`: it writes the table of docs/deploy.md.
#include "core/Settings.h"

namespace gc3::core {

// These are macros, because adjacent string literals concatenate and string views do not.
#define BY_PROTOCOL ", separated by commas: one for all protocols, and PROTOCOL:NUMBER for Simple, LL or LL128, as in "
#define TUNING_PAGE "tuning.md#slots-and-threads"

constexpr std::array<SettingInfo, settingCount> settingTable{{
    {Setting::Bundles, "GC3_BUNDLES",
     "bundles for libgc3nccl.so; if a bundle is unusable, the library logs this once, and NCCL serves all calls",
     "paths, separated by colons", "none; NCCL serves all calls", Agreement::Contents, Reader::Front,
     "deploy.md#how-a-process-loads-gc3"},
    {Setting::NcclLib, "GC3_NCCL_LIB",
     "the installed NCCL, read only if the process has not loaded an NCCL; also read by tests and benchmarks on GPUs",
     "the path of libnccl.so.2", "NCCL among the libraries of the process, then on the loader's path", Agreement::None,
     Reader::Libraries, "deploy.md#how-a-process-loads-gc3"},
    {Setting::GinLib, "GC3_GIN_LIB", "the GIN plugin, which sends messages between nodes", "the path of libgc3gin.so",
     "libgc3gin.so in the folder of the library that opens it, then in its subfolder gc3, then on the loader's path",
     Agreement::None, Reader::Libraries, "gpu-internals.md#between-nodes"},
    {Setting::Library, "GC3_LIBRARY", "the library that the Python package gc3 loads", "the path of libgc3.so.0",
     "libgc3.so.0 in the package, in the build folder of a checkout, then on the loader's path", Agreement::None,
     Reader::Python, "python.md#install"},
    {Setting::Debug, "GC3_DEBUG",
     "log on stderr: each setting, each call of each rank and what serves it, and each program that is loaded or "
     "refused",
     "INFO or TRACE, ignoring case; both log the same lines, and other values log nothing", "no log", Agreement::None,
     Reader::All, "deploy.md#the-log"},
    {Setting::Program, "GC3_PROGRAM", "programs that may serve calls",
     "PROGRAM, COLLECTIVE:PROGRAM, COLLECTIVE:none or none, separated by commas", "all programs", Agreement::Value,
     Reader::All, "tuning.md#choosing-programs"},
    {Setting::Tune, "GC3_TUNE",
     "online chooses programs from the times of earlier calls; with same-bits, calls whose results are "
     "rounded keep their program; with shapes, it chooses the size of tiles and the number of threads, too",
     "off, or online, then ,same-bits or ,shapes or both", "off", Agreement::Value, Reader::All,
     "online.md#turn-it-on"},
    {Setting::TuneBudget, "GC3_TUNE_BUDGET",
     "the time that online selection may spend on trying other programs after a size's first 50 calls, in percent of "
     "the time of all calls; 0 freezes the choices",
     "a number from 0 to 100", "2", Agreement::Value, Reader::All, "online.md#turn-it-on"},
    {Setting::TuneFile, "GC3_TUNE_FILE",
     "file of the times that online selection learns; a job begins with them, and adds its own at its end",
     "a path; %b stands for the bundle's digest", "none; each job begins anew", Agreement::None, Reader::All,
     "learned-times.md#what-a-job-does-with-the-file"},
    {Setting::Slots, "GC3_SLOTS",
     "number of FIFO slots of a connection on GPUs; if a program needs more, NCCL serves its calls",
     "numbers from 1 on" BY_PROTOCOL "4,LL:16", "the largest number that a program sharing the connection requests",
     Agreement::Value, Reader::All, TUNING_PAGE},
    {Setting::SlotBytes, "GC3_SLOT_BYTES", "size of a FIFO slot on GPUs in bytes, rounded down to a multiple of 128",
     "numbers from 128 on" BY_PROTOCOL "262144,LL:32768",
     "524288 for Simple, 65536 for LL, 614400 for LL128; less if the slots of a rank would exceed 1 GiB",
     Agreement::Value, Reader::All, TUNING_PAGE},
    {Setting::Threads, "GC3_THREADS", "number of threads of a block on GPUs",
     "multiples of 32 up to 512" BY_PROTOCOL "512,LL:256",
     "512, halved until the GPU can hold all blocks at once, but at least 32", Agreement::None, Reader::All,
     TUNING_PAGE},
    {Setting::LL128, "GC3_LL128",
     "LL128 programs over links that tear lines of 128 bytes: replace runs them under Simple, refuse does not run them",
     "replace or refuse", "replace", Agreement::Value, Reader::All, "gpu-internals.md#ranks-on-several-gpus"},
    {Setting::Direct, "GC3_DIRECT",
     "1 stores a message straight into the receiver's buffer where the order of steps permits it, under Simple; for "
     "ranks that share a launch on one GPU, and for receive buffers in windows",
     "0 or 1", "1", Agreement::Value, Reader::All, "direct.md#when-a-message-needs-no-slot"},
    {Setting::Switch, "GC3_SWITCH",
     "1 lets the switch of a node reduce and store where the order of steps permits it, for receive buffers in "
     "windows; "
     "the order of sums is then not specified",
     "0 or 1", "0", Agreement::Value, Reader::All, "direct.md#calls-over-the-switch"},
    {Setting::TimeoutMs, "GC3_TIMEOUT_MS", "time limit for kernels, and for ranks that wait for other ranks",
     "a number of milliseconds up to 4294967295, or 0 for the default",
     "60000 on the host and for the joining of ranks in gc3CommInit; otherwise no limit", Agreement::IsNonzero,
     Reader::All, "gpu-internals.md#ranks-on-several-gpus"},
    {Setting::Trace, "GC3_TRACE", "trace file with the time of each instruction; with several GPUs, one file for each",
     "a path; %p stands for the process id, %r for the rank", "no file", Agreement::None, Reader::All,
     "tuning.md#a-timeline"},
    {Setting::AllowUnproven, "GC3_ALLOW_UNPROVEN", "1 also runs programs that are not proven", "0 or 1", "0",
     Agreement::Value, Reader::All, "runtime.md#proofs"},
    {Setting::TunerTable, "GC3_TUNER_TABLE",
     "times of NCCL's algorithms; NCCL runs the fastest, if it has loaded the tuner plugin", "the path of a table",
     "none; NCCL chooses", Agreement::Unchecked, Reader::Tuner, "nccl-tuner.md#the-table"},
    {Setting::TunerTimes, "GC3_TUNER_TIMES",
     "folder for the times of NCCL's calls, if NCCL has loaded the profiler plugin; each communicator writes a table",
     "the path of a folder", "none; no times are stored", Agreement::Unchecked, Reader::Tuner,
     "nccl-tuner.md#measured-times"},
    {Setting::Secret, "GC3_SECRET",
     "secret that processes prove to each other when they connect over TCP; it is never sent, and logs hide it",
     "a text of at least 16 characters", "none; processes prove only that they know the communicator",
     Agreement::Unchecked, Reader::All, "processes.md#how-ranks-join"},
    {Setting::HostId, "GC3_HOSTID",
     "name of the host for ranks on CPUs; processes of one machine with different names send messages over UCX, as if "
     "they were on several hosts",
     "a text", "the name of the machine", Agreement::None, Reader::All, "processes.md#between-hosts"},
    {Setting::NcclGraphMixing, "NCCL_GRAPH_MIXING_SUPPORT",
     "a variable of NCCL; with 0, CUDA graphs are a little faster, and are not ordered with other calls", "0 or 1", "1",
     Agreement::Unchecked, Reader::All, "gpu-internals.md#ranks-on-one-gpu"},
    {Setting::NcclInterfaces, "NCCL_SOCKET_IFNAME",
     "a setting of NCCL, also for online selection on GPUs: the network interfaces through which ranks exchange times",
     "prefixes of names, separated by commas; ^ before the list excludes them, = requires whole names",
     "all interfaces", Agreement::Unchecked, Reader::All, "online.md#on-gpus"},
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
