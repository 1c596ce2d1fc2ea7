/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc3.h: runs programs of gc3 bundles (.gc3b) as collectives, in the manner of NCCL.
 *
 *   gc3Bundle_t bundle;
 *   gc3Comm_t comms[8];
 *   gc3BundleLoad(&bundle, "collectives.gc3b");
 *   gc3HostCommInitAll(comms, 8, bundle, NULL);
 *   gc3GroupStart();
 *   for (int r = 0; r < 8; ++r)
 *     gc3AllReduce(send[r], recv[r], count, gc3Float32, gc3Sum, comms[r], NULL);
 *   gc3GroupEnd();
 *
 * Rules that hold for every function:
 * - It returns gc3Success or an error code and never throws or aborts on bad input. After an error gc3GetLastError has
 * a text.
 * - Handles are opaque and owned by the caller; each has the function that frees it. Null handles are
 * gc3InvalidArgument.
 * - Functions on different communicators may be called from different threads at once; one communicator is used by one
 * thread at a time, but for gc3CommGetAsyncError, gc3GetLastError and gc3CommAbort, which any thread may call as long
 * as the handle is there: gc3CommDestroy and gc3CommAbort free it, and only one of them, once.
 * - Counts are elements, sizes bytes. `count` is always the number of elements of one block: what NCCL calls count,
 * sendcount or recvcount in the same collective. Any count from 0 works.
 *
 * Calls on a host communicator are synchronous: outside a group a call returns when all ranks have made it and the
 * collective is done, so each rank needs its own thread; or one thread makes the calls of all ranks between
 * gc3GroupStart and gc3GroupEnd. Ranks whose calls do not match (collective, count, type, operation, root) all get
 * gc3InvalidUsage. A rank that never makes the call costs the others a timeout (gc3HostConfig_t.timeoutMs), after which
 * they get gc3Timeout; from then on every call on these communicators does, since the ranks no longer agree on which
 * call is which. A count of 0 is a call that moves nothing.
 *
 * In place and out of place are recognised per rank by pointers, as NCCL does: allgather and gather: sendbuff ==
 * recvbuff + rank * count; reduce_scatter and scatter: recvbuff == sendbuff + rank * count; the others: sendbuff ==
 * recvbuff. Buffers that overlap in another way are gc3InvalidArgument. Every program works both ways; out of place the
 * send buffer is left unchanged.
 */
#ifndef GC3_H
#define GC3_H

#include <stddef.h>
#include <stdint.h>

#define GC3_MAJOR 0
#define GC3_MINOR 1
#define GC3_PATCH 0
/** Version as one number: 10000 * major + 100 * minor + patch. */
#define GC3_VERSION (10000 * GC3_MAJOR + 100 * GC3_MINOR + GC3_PATCH)

#if defined(__GNUC__)
#define GC3_API __attribute__((visibility("default")))
#else
#define GC3_API
#endif

/* In C++ every int is a value of the enumerations, as it is in C, so that unknown ones can be refused. */
#ifdef __cplusplus
#define GC3_ENUM_TYPE : int
extern "C" {
#else
#define GC3_ENUM_TYPE
#endif

/** A loaded bundle. Reference-counted: communicators keep what they use alive. */
typedef struct gc3Bundle *gc3Bundle_t;
/** One rank of a group of ranks. */
typedef struct gc3Comm *gc3Comm_t;
/** A stream of the backend: a cudaStream_t; host communicators take NULL only. */
typedef void *gc3Stream_t;

/** What a call came to. */
typedef enum GC3_ENUM_TYPE {
  gc3Success = 0,
  gc3UnhandledCudaError = 1, /**< a CUDA call failed; the text says which, and why */
  gc3SystemError = 2,        /**< the operating system refused: a file, memory, threads */
  gc3InternalError = 3,      /**< a bug of gc3 */
  gc3InvalidArgument = 4,    /**< an argument is out of range, null, or overlaps another */
  gc3InvalidUsage = 5,       /**< calls of the ranks do not match, or calls are out of order */
  gc3InProgress = 7,         /**< reserved */
  gc3Timeout = 8,            /**< a rank did not make the call in time, or a kernel did not end in time */
  gc3Deadlock = 9,           /**< the program can't go on; the text says who waits for whom. Ranks whose part was over
                                  before have had gc3Success */
  gc3NoProgram = 10,         /**< the bundle has no program for the call */
  gc3NotABundle = 11,        /**< the file is something else */
  gc3BundleTruncated = 12,   /**< the file ends early */
  gc3BundleTooNew = 13,      /**< the file was made for a newer gc3 */
  gc3BundleCorrupt = 14,     /**< a checksum does not match */
  gc3BundleInvalid = 15,     /**< intact, but not a valid program */
  gc3BundleUnproven = 16     /**< a program in it is not proven to do what its collective's name says */
} gc3Result_t;

/** Element types, numbered as NCCL's. */
typedef enum GC3_ENUM_TYPE {
  gc3Int8 = 0,
  gc3Uint8 = 1,
  gc3Int32 = 2,
  gc3Uint32 = 3,
  gc3Int64 = 4,
  gc3Uint64 = 5,
  gc3Float16 = 6,
  gc3Float32 = 7,
  gc3Float64 = 8,
  gc3Bfloat16 = 9,
  gc3Float8e4m3 = 10,
  gc3Float8e5m2 = 11,
  gc3NumTypes = 12
} gc3DataType_t;

/**
 * Reductions, numbered as NCCL's. Integers wrap; half and bfloat16 round after each operation; fp8 computes in half and
 * saturates; a NaN loses against a number in min and max. gc3Avg multiplies floating-point inputs by 1 / n before the
 * sum and divides integer sums, truncating, where n is the number of contributions; a program whose outputs have
 * different numbers refuses it with gc3InvalidArgument. Users make others with gc3RedOpCreatePreMulSum.
 */
typedef enum GC3_ENUM_TYPE { gc3Sum = 0, gc3Prod = 1, gc3Max = 2, gc3Min = 3, gc3Avg = 4, gc3NumOps = 5 } gc3RedOp_t;

/* ---- Library
 * ---------------------------------------------------------------------------------------------------------- */

/** Writes GC3_VERSION of the library that is linked. gc3InvalidArgument: `version` is null. */
GC3_API gc3Result_t gc3GetVersion(int *version);

/** A fixed English text for a result code; never null. */
GC3_API const char *gc3GetErrorString(gc3Result_t result);

/**
 * The text of the last error on `comm`, or, with NULL, of the calling thread's last failed call. Never null; empty when
 * there was none. Valid until this thread's next call.
 */
GC3_API const char *gc3GetLastError(gc3Comm_t comm);

/* ---- Bundles
 * ---------------------------------------------------------------------------------------------------------- */

/**
 * Opens the bundle at `path`. The file must not be changed while it is in use. Free with gc3BundleFree.
 * gc3SystemError: can't be read. gc3NotABundle, gc3BundleTruncated, gc3BundleTooNew, gc3BundleCorrupt,
 * gc3BundleInvalid: as named.
 */
GC3_API gc3Result_t gc3BundleLoad(gc3Bundle_t *bundle, const char *path);

/** As gc3BundleLoad from `size` bytes at `bytes`, which are copied. */
GC3_API gc3Result_t gc3BundleLoadMemory(gc3Bundle_t *bundle, const void *bytes, size_t size);

/** Gives the handle back; communicators that use the bundle keep working. Null is gc3Success. */
GC3_API gc3Result_t gc3BundleFree(gc3Bundle_t bundle);

/** One program of a bundle. Strings belong to the bundle. Set `size` to sizeof(gc3ProgramInfo_t) before the call. */
typedef struct {
  size_t size;
  const char *name;
  const char *collective;
  int ranks;
  uint64_t minBytes; /**< smallest size it is meant for: bytes of the larger of one rank's input and output; included */
  uint64_t maxBytes; /**< excluded; UINT64_MAX: no bound */
  int inPlace;       /**< written for one buffer; works both ways all the same */
  uint32_t contributions; /**< input chunks in every output chunk; 0: not all the same */
  uint32_t fifoSlots;     /**< slots per connection it was proven with */
  uint32_t minFifoSlots;  /**< the fewest it works with */
  uint32_t verified;      /**< bit 0 structure, 1 no deadlock, 2 postcondition, 3 no races */
  uint64_t digest;        /**< equal digests, equal programs */
} gc3ProgramInfo_t;

/** Number of programs. gc3InvalidArgument: a null pointer. */
GC3_API gc3Result_t gc3BundleProgramCount(gc3Bundle_t bundle, int *count);

/** Fills `info` for program `index` (0 .. count - 1). gc3InvalidArgument: null, index out of range, `size` not set. */
GC3_API gc3Result_t gc3BundleProgramInfo(gc3Bundle_t bundle, int index, gc3ProgramInfo_t *info);

/**
 * Elements of a rank's buffers in program `index` for `count` elements per block; 0 where the rank has none.
 * gc3InvalidArgument: null, out of range, or more than 2^64 - 1 elements. gc3BundleCorrupt, gc3BundleInvalid: the
 * rank's section is.
 */
GC3_API gc3Result_t gc3ProgramElements(gc3Bundle_t bundle, int index, int rank, size_t count, size_t *inputElements,
                                       size_t *outputElements);

/* ---- Communicators
 * ---------------------------------------------------------------------------------------------------- */

/** What a tuner is asked about: a call, alike on all ranks, and the programs that can serve it. */
typedef struct {
  size_t size; /**< of this struct in the library: fields beyond it are not there */
  const char *collective;
  int ranks;
  int root; /**< -1: the collective has none */
  size_t count;
  uint64_t bytes; /**< the larger of one rank's input and output */
  gc3DataType_t type;
  gc3RedOp_t op;               /**< gc3Sum where nothing is reduced, with reductions of one's own, and in
                                  gc3SelectProgram */
  const char *const *programs; /**< names, in the order of the bundle; whatever sizes they are meant for */
  int programCount;            /**< at least 1 */
} gc3TunerCall_t;

/** What a tuner answers beside the index of a program. */
typedef enum GC3_ENUM_TYPE {
  gc3TunerBySize = -1, /**< as without a tuner */
  gc3TunerNone = -2    /**< none of them: the call is gc3NoProgram */
} gc3TunerAnswer_t;

/**
 * Chooses the program of a call: an index of call->programs, or a gc3TunerAnswer_t; any other answer is gc3InvalidUsage
 * for the call. All ranks have to get the same answer to the same question, in whatever process they are, each time:
 * it may depend on nothing but `call`, and on what `data` has alike on all ranks. Where ranks come to different
 * programs they wait for each other in vain. It is not asked about gc3RunProgram, about calls that no program can
 * serve, and, on the host, about a call that was made lately; with GC3_DEBUG=INFO once more for each call. Several
 * threads may ask at once. It must not call functions of gc3.
 */
typedef int (*gc3Tuner_t)(const gc3TunerCall_t *call, void *data);

/** In which order the host executor takes steps. */
typedef enum GC3_ENUM_TYPE {
  gc3OrderFair = 0, /**< fast */
  gc3OrderAdversarial =
      1 /**< one step at a time, orders chosen to break wrong programs, fewest slots, small tiles; for tests */
} gc3Order_t;

/**
 * Settings of host communicators. Start from GC3_HOST_CONFIG_INITIALIZER; 0 means the default. It is of one version of
 * gc3: a program that was compiled with another gc3.h, whose struct has another size, is refused.
 */
typedef struct {
  size_t size;           /**< sizeof(gc3HostConfig_t), set by the initialiser */
  uint32_t slots;        /**< FIFO slots per connection; default the program's, in adversarial order its fewest */
  uint32_t workers;      /**< threads at most that one thread's call of all ranks uses; default the machine's */
  uint64_t slotBytes;    /**< bytes of a FIFO slot that tiles are cut for; default 128 KiB (64 to 512 KiB where messages
                            skip their slots), less where connections are many */
  uint64_t tileElements; /**< elements of a slot moved per tile; overrides slotBytes */
  gc3Order_t order;
  uint32_t timeoutMs;   /**< how long ranks wait for each other; default the environment's GC3_TIMEOUT_MS, else 60000 */
  uint64_t seed;        /**< of the adversarial order */
  int allowUnproven;    /**< take programs without a proof, too; default the environment's GC3_ALLOW_UNPROVEN, else 0 */
  const char *trace;    /**< the file that gets the time of each instruction when the communicators are destroyed, in
                           Chrome's trace format; "%p" in it is the process's number. Default the environment's
                           GC3_TRACE, else none */
  const char *programs; /**< which programs may serve calls, with commas between: PROGRAM, COLLECTIVE:PROGRAM,
                           COLLECTIVE:none, or none for every collective that is not named. A collective that is named
                           has these programs only: the first that is for the size, else the first. All others are
                           chosen as ever. Default the environment's GC3_PROGRAM, else none. Not about gc3RunProgram */
  gc3Tuner_t tuner;     /**< chooses among the programs left; default none */
  void *tunerData;      /**< passed to it; has to stay */
} gc3HostConfig_t;

#define GC3_HOST_CONFIG_INITIALIZER                                                                                    \
  { sizeof(gc3HostConfig_t), 0, 0, 0, 0, gc3OrderFair, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Makes `nranks` communicators of one group in this process, comms[r] being rank r; free each with gc3CommDestroy.
 * `config` may be NULL. Nothing of a program is loaded before its first use. gc3InvalidArgument: null, nranks not in
 * 1 .. 65536, a config that was not initialised or is of another version of gc3, a variable of the environment that is
 * not understood and that the config does not override, or a list of programs that names what the bundle has not.
 * gc3BundleUnproven: a program for so many ranks was written without a proof (gc3c --verify=off); later, of calls by a
 * standard name: their program promises something else. A process reads its environment once.
 */
GC3_API gc3Result_t gc3HostCommInitAll(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3HostConfig_t *config);

/** How messages travel; a program is proven for one of them. */
typedef enum GC3_ENUM_TYPE { gc3Simple = 0, gc3LL = 1, gc3LL128 = 2, gc3NumProtocols = 3 } gc3Protocol_t;

/** What gc3GpuConfig_t has for all protocols, for one of them; 0 means what it has for all. */
typedef struct {
  uint32_t slots;
  uint32_t threads;
  uint64_t slotBytes;
} gc3Tuning_t;

/** What becomes of a program for LL128 where a link that it uses tears lines. */
typedef enum GC3_ENUM_TYPE {
  gc3LL128Default = 0, /**< the environment's GC3_LL128, which is "replace" or "refuse", else the former */
  gc3LL128Replace = 1, /**< it runs under Simple */
  gc3LL128Refuse = 2   /**< it does not run */
} gc3LL128_t;

/**
 * Settings of communicators on GPUs. Start from GC3_GPU_CONFIG_INITIALIZER; 0 means the default. Of one version of gc3,
 * as gc3HostConfig_t is.
 */
typedef struct {
  size_t size;      /**< sizeof(gc3GpuConfig_t), set by the initialiser */
  uint32_t slots;   /**< FIFO slots per connection; default the environment's GC3_SLOTS, else the program's */
  uint32_t threads; /**< of a block, a multiple of 32 up to 512; default the environment's GC3_THREADS, else as many as
                       leave room for all blocks */
  uint64_t slotBytes; /**< of a FIFO slot, at least 128, under LL128 256 for each slot of a message; default the
                         environment's GC3_SLOT_BYTES, else 512 KiB, 64 KiB for LL and 600 KiB for LL128, less where
                         connections are many */
  int simple;         /**< protocol Simple, whatever a program was proven for */
  uint32_t timeoutMs; /**< how long a kernel may run before it is stopped; default the environment's GC3_TIMEOUT_MS,
                         else for ever. Beside an NCCL communicator also how long ranks wait until all have loaded a
                         program; what takes too long revokes that communicator, where NCCL can (ncclCommRevoke) */
  int allowUnproven;  /**< as in gc3HostConfig_t */
  gc3LL128_t ll128;   /**< alike on all ranks */
  gc3Tuning_t tuning[gc3NumProtocols]; /**< by gc3Protocol_t; slots and their bytes alike on all ranks */
  const char *trace;    /**< as in gc3HostConfig_t, and calls are waited for; by gc3CommInit instead: a file per rank */
  const char *programs; /**< as in gc3HostConfig_t, alike on all ranks */
  gc3Tuner_t tuner;     /**< as in gc3HostConfig_t, on all ranks or on none */
  void *tunerData;
} gc3GpuConfig_t;

#define GC3_GPU_CONFIG_INITIALIZER                                                                                     \
  { sizeof(gc3GpuConfig_t), 0, 0, 0, 0, 0, 0, gc3LL128Default, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 0, 0, 0, 0 }

/**
 * Makes `nranks` communicators whose ranks share the calling thread's current CUDA device, comms[r] being rank r; free
 * each with gc3CommDestroy, after their streams are done. Buffers of calls are in device memory. One thread makes the
 * calls of all ranks between gc3GroupStart and gc3GroupEnd, all on one stream; a call has ended when the stream has.
 * Calls may be captured into a graph, once a call of the same program has been made outside. `config`
 * may be NULL. Errors as for gc3HostCommInitAll; gc3InvalidUsage: this gc3 was built without CUDA, or the GPU is not
 * able to; gc3UnhandledCudaError.
 */
GC3_API gc3Result_t gc3LoopbackCommInitAll(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle,
                                           const gc3GpuConfig_t *config);

/**
 * Makes a rank that runs a bundle's programs beside an NCCL communicator: `ncclComm` is this rank's ncclComm_t, on
 * whose GPU buffers of calls are. All of its ranks call this, with the same bundle and config; one
 * thread with several ranks does so between gc3GroupStart and gc3GroupEnd, and `comm` is written at the end then. So
 * are its calls: each rank's on a stream of its GPU, in the same order on all ranks; a call has ended when the stream
 * has. The ranks that a program connects have to reach each other's memory (NVLink, or PCIe with peer access) in NCCL's
 * symmetric windows. A program is loaded at its first call, for which ranks wait for each other, and which can't be
 * captured into a graph; it is loaded on all ranks or on none. gc3 splits a communicator of its own off `ncclComm`, and
 * makes no other call on it.
 *
 * Free it with gc3CommDestroy before the NCCL communicator. `config` may be NULL. gc3InvalidArgument: null, or a config
 * or a variable of the environment as for gc3HostCommInitAll, or out of range. gc3InvalidUsage: ranks differ in bundle
 * or config, this gc3 was built without CUDA, NCCL is older than 2.28.7; later, of calls:
 * the program can't run on these ranks, or could not be loaded, which the text explains. gc3BundleUnproven.
 * gc3UnhandledCudaError, gc3SystemError: the other ranks may have to be aborted. gc3Timeout: not all ranks have come
 * within a minute, or timeoutMs if that is longer. The NCCL communicator stays as it is; if it blocks, only its abort
 * ends a split that still waits for other ranks.
 */
GC3_API gc3Result_t gc3CommInit(gc3Comm_t *comm, gc3Bundle_t bundle, void *ncclComm, const gc3GpuConfig_t *config);

/**
 * What has become of the calls on streams so far, replays of graphs included: gc3Success, gc3Timeout for a kernel that
 * was stopped (gc3GetLastError says which thread block waited for what), or gc3UnhandledCudaError. Nothing but
 * gc3CommDestroy and gc3CommAbort works after an error.
 * gc3InvalidArgument: null.
 */
GC3_API gc3Result_t gc3CommGetAsyncError(gc3Comm_t comm, gc3Result_t *result);

/** Frees one rank. No call on it may be under way; other ranks that call afterwards run into the timeout. Null is
 * gc3Success. */
GC3_API gc3Result_t gc3CommDestroy(gc3Comm_t comm);

/**
 * Instead of gc3CommDestroy, where kernels may be waiting for ranks that never come: they end. Returns at once; a
 * thread of the library releases what the rank holds once its kernels have ended. A call on it may be under way in
 * another thread, which then ends with gc3InvalidUsage; on CPUs, calls that wait end with their timeout. The NCCL
 * communicator of gc3CommInit stays as it is. Null is gc3Success.
 */
GC3_API gc3Result_t gc3CommAbort(gc3Comm_t comm);

/** Number of ranks. */
GC3_API gc3Result_t gc3CommCount(gc3Comm_t comm, int *count);

/** This communicator's rank. */
GC3_API gc3Result_t gc3CommUserRank(gc3Comm_t comm, int *rank);

/* ---- Reductions of one's own
 * ---------------------------------------------------------------------------------------- */

/** Where the scalar of a reduction is, and when it is read; numbered as NCCL's. */
typedef enum GC3_ENUM_TYPE {
  gc3ScalarDevice = 0,       /**< in memory that the GPU can read, when a call runs, in a graph at each replay; on host
                                communicators in any memory, before the call, or its group, has ended */
  gc3ScalarHostImmediate = 1 /**< in memory of the host, before gc3RedOpCreatePreMulSum returns */
} gc3ScalarResidence_t;

/**
 * Makes a reduction that multiplies each element of this rank's input by *scalar, as gc3Prod would, and then sums. It
 * is for calls on this communicator with elements of `type`, which the scalar is, too; in other calls it is
 * gc3InvalidArgument, where ranks share a host or a GPU on all of them. The ranks of a call each bring a reduction that
 * they have made so; the scalars, and where these are, may differ. Free with gc3RedOpDestroy, or with the communicator.
 * gc3InvalidArgument: null, or unknown type or residence.
 */
GC3_API gc3Result_t gc3RedOpCreatePreMulSum(gc3RedOp_t *op, const void *scalar, gc3DataType_t type,
                                            gc3ScalarResidence_t residence, gc3Comm_t comm);

/**
 * Frees the handle. Calls that were made go on, also those that a group has noted. gc3InvalidArgument: it was not made
 * on this communicator, or is destroyed.
 */
GC3_API gc3Result_t gc3RedOpDestroy(gc3RedOp_t op, gc3Comm_t comm);

/* ---- Collectives
 * ------------------------------------------------------------------------------------------------------ Each picks the
 * bundle's program for its collective, the group's ranks, the root, and the size in bytes (the larger of one rank's
 * input and output), unless GC3_PROGRAM or a tuner say otherwise. Errors of all: gc3InvalidArgument: null communicator
 * or buffer that has elements, unknown type or operation, root out of range, a stream for the host, overlapping
 * buffers, a size beyond the address space; gc3NoProgram; gc3InvalidUsage; gc3Timeout; gc3Deadlock; gc3SystemError: no
 * memory; gc3BundleCorrupt, gc3BundleInvalid: the chosen program's sections are.
 */

/** recvbuff[i] = reduction of all ranks' sendbuff[i]; `count` elements each. */
GC3_API gc3Result_t gc3AllReduce(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3RedOp_t op,
                                 gc3Comm_t comm, gc3Stream_t stream);
/** recvbuff has ranks * count elements: rank r's sendbuff at r * count. */
GC3_API gc3Result_t gc3AllGather(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3Comm_t comm,
                                 gc3Stream_t stream);
/** sendbuff has ranks * count elements; rank r receives the reduction of those from r * count. */
GC3_API gc3Result_t gc3ReduceScatter(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type,
                                     gc3RedOp_t op, gc3Comm_t comm, gc3Stream_t stream);
/** recvbuff = root's sendbuff, `count` elements. sendbuff is ignored on other ranks. */
GC3_API gc3Result_t gc3Broadcast(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root,
                                 gc3Comm_t comm, gc3Stream_t stream);
/** On root recvbuff[i] = reduction of all ranks' sendbuff[i]. recvbuff is ignored on other ranks. */
GC3_API gc3Result_t gc3Reduce(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3RedOp_t op,
                              int root, gc3Comm_t comm, gc3Stream_t stream);
/** Both buffers have ranks * count elements: block q of rank r goes to block r of rank q. */
GC3_API gc3Result_t gc3AllToAll(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3Comm_t comm,
                                gc3Stream_t stream);
/** On root recvbuff has ranks * count elements: rank r's sendbuff at r * count. recvbuff is ignored on other ranks. */
GC3_API gc3Result_t gc3Gather(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root,
                              gc3Comm_t comm, gc3Stream_t stream);
/** On root sendbuff has ranks * count elements: rank r receives those from r * count. sendbuff is ignored on other
 * ranks. */
GC3_API gc3Result_t gc3Scatter(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root,
                               gc3Comm_t comm, gc3Stream_t stream);

/**
 * Runs the program for a collective by name, also one that users wrote. Buffers have the elements that
 * gc3ProgramElements says; a rank without one passes anything. `op` must be valid and alike on all ranks; collectives
 * that do not reduce make no other use of it, but for reductions of one's own, which multiply the inputs of all that
 * are not in the list above. In place: as for the collective's namesake above, else sendbuff == recvbuff or where the
 * program's alias puts one in the other.
 */
GC3_API gc3Result_t gc3RunCollective(gc3Comm_t comm, const char *collective, const void *sendbuff, void *recvbuff,
                                     size_t count, gc3DataType_t type, gc3RedOp_t op, gc3Stream_t stream);

/** As gc3RunCollective with the program of that name, whatever size it is meant for. gc3NoProgram: no such name for
 * this many ranks. */
GC3_API gc3Result_t gc3RunProgram(gc3Comm_t comm, const char *program, const void *sendbuff, void *recvbuff,
                                  size_t count, gc3DataType_t type, gc3RedOp_t op, gc3Stream_t stream);

/**
 * The name of the program that a call of this thread's rank would run; belongs to the bundle. `root` is -1 where the
 * collective has none. Errors as for the call, before any communication.
 */
GC3_API gc3Result_t gc3SelectProgram(gc3Comm_t comm, const char *collective, size_t count, gc3DataType_t type, int root,
                                     const char **program);

/* ---- Groups
 * ----------------------------------------------------------------------------------------------------------- */

/** Calls of this thread up to the matching gc3GroupEnd are only noted. Groups nest; the outermost end runs them. */
GC3_API gc3Result_t gc3GroupStart(void);

/**
 * Runs the noted calls: the k-th calls on the communicators of one group of ranks run together, k = 1, 2, … Returns the
 * first error. On CPUs the calls after it on the same ranks' communicators are dropped, those on others are made; on
 * GPUs all calls are, as if one by one in the order of the group. gc3InvalidUsage: no gc3GroupStart.
 */
GC3_API gc3Result_t gc3GroupEnd(void);

#undef GC3_ENUM_TYPE
#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* GC3_H */
