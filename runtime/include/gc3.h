/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc3.h: runs programs of gc3 bundles (.gc3b) as collectives, with an API like NCCL's.
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
 * Rules for every function:
 * - It returns gc3Success or an error code. It never throws or aborts because of bad input. After an error,
 *   gc3GetLastError returns a text.
 * - Handles are opaque. The caller owns them, and frees each with its function. A null handle is gc3InvalidArgument.
 * - Threads may call functions on different communicators concurrently. Only one thread at a time may use a
 *   communicator, except that any thread may call gc3CommGetAsyncError, gc3GetLastError and gc3CommAbort while the
 *   handle is valid. gc3CommDestroy and gc3CommAbort free the handle: call only one of them, once.
 * - Counts are elements, sizes are bytes. `count` is always the number of elements of one block, which is NCCL's count,
 *   sendcount or recvcount of the same collective. Any count from 0 on is valid.
 *
 * Calls on a host communicator are synchronous: outside of a group, a call returns when all ranks have made it and the
 * collective is done. So each rank needs its own thread, or one thread makes the calls of all ranks between
 * gc3GroupStart and gc3GroupEnd. If the calls of the ranks do not match (collective, count, type, operation, root), all
 * ranks return gc3InvalidUsage. If a rank does not make the call, the other ranks wait until the timeout
 * (gc3HostConfig_t.timeoutMs) and return gc3Timeout. All later calls on these communicators then return gc3Timeout,
 * too, because the ranks do not agree on the order of calls. A call with count 0 moves nothing.
 *
 * Each rank detects from its pointers whether a call is in place, like NCCL. AllGather and Gather are in place if
 * sendbuff == recvbuff + rank * count; ReduceScatter and Scatter if recvbuff == sendbuff + rank * count; the others if
 * sendbuff == recvbuff. Buffers that overlap in another way are gc3InvalidArgument. Every program supports both. Out of
 * place, the send buffer is unchanged.
 */
#ifndef GC3_H
#define GC3_H

#include <stddef.h>
#include <stdint.h>

#define GC3_MAJOR 0
#define GC3_MINOR 1
#define GC3_PATCH 0
/** The version as one number: 10000 * major + 100 * minor + patch. */
#define GC3_VERSION (10000 * GC3_MAJOR + 100 * GC3_MINOR + GC3_PATCH)

#if defined(__GNUC__)
#define GC3_API __attribute__((visibility("default")))
#else
#define GC3_API
#endif

/* In C++ the enumerations can hold every int, as in C, so that functions can reject unknown values. */
#ifdef __cplusplus
#define GC3_ENUM_TYPE : int
extern "C" {
#else
#define GC3_ENUM_TYPE
#endif

/** A loaded bundle. Reference-counted: communicators keep their bundle alive. */
typedef struct gc3Bundle *gc3Bundle_t;
/** One rank of a group of ranks. */
typedef struct gc3Comm *gc3Comm_t;
/** A stream: a cudaStream_t. Must be NULL on host communicators. */
typedef void *gc3Stream_t;

/** The result of a call. */
typedef enum GC3_ENUM_TYPE {
  gc3Success = 0,
  gc3UnhandledCudaError = 1, /**< a CUDA call failed; the text names the call and the reason */
  gc3SystemError = 2,        /**< the operating system refused a file, memory or a thread */
  gc3InternalError = 3,      /**< a bug of gc3 */
  gc3InvalidArgument = 4,    /**< an argument is out of range, null, or overlaps another */
  gc3InvalidUsage = 5,       /**< the calls of the ranks do not match, or the order of calls is wrong */
  gc3InProgress = 7,         /**< reserved */
  gc3Timeout = 8,            /**< a rank did not make the call in time, or a kernel did not end in time */
  gc3Deadlock = 9, /**< the program cannot continue; the text lists which thread block waits for which. Ranks whose part
                      had ended before return gc3Success */
  gc3NoProgram = 10,       /**< the bundle has no program for the call */
  gc3NotABundle = 11,      /**< the file is not a bundle */
  gc3BundleTruncated = 12, /**< the file ends early */
  gc3BundleTooNew = 13,    /**< the file was made for a newer gc3 */
  gc3BundleCorrupt = 14,   /**< a checksum does not match */
  gc3BundleInvalid = 15,   /**< the file is intact, but contains an invalid program */
  gc3BundleUnproven = 16   /**< a program has no proof that it does what its collective's name promises */
} gc3Result_t;

/** Element types, with NCCL's numbers. */
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
 * Reductions, with NCCL's numbers. Integers wrap. half and bfloat16 round after each operation. fp8 is computed in half
 * and saturates. gc3Max and gc3Min of a NaN and a number return the number. With n contributions, gc3Avg multiplies
 * floating-point inputs by 1 / n before the sum, and divides integer sums by n, truncating. A program whose outputs
 * have different numbers of contributions rejects gc3Avg with gc3InvalidArgument. gc3RedOpCreatePreMulSum creates
 * further reductions.
 */
typedef enum GC3_ENUM_TYPE { gc3Sum = 0, gc3Prod = 1, gc3Max = 2, gc3Min = 3, gc3Avg = 4, gc3NumOps = 5 } gc3RedOp_t;

/* ---- Library ---- */

/** Writes the GC3_VERSION of the linked library. gc3InvalidArgument: `version` is null. */
GC3_API gc3Result_t gc3GetVersion(int *version);

/** Returns a constant English text for a result code; never null. */
GC3_API const char *gc3GetErrorString(gc3Result_t result);

/**
 * Returns the text of the last error on `comm`. If `comm` is null, returns the text of the last failed call of the
 * calling thread. Returns an empty string if there was no error; never null. Valid until the next call of this thread.
 */
GC3_API const char *gc3GetLastError(gc3Comm_t comm);

/* ---- Bundles ---- */

/**
 * Opens the bundle at `path`. The file must not change while it is in use. Free with gc3BundleFree. gc3SystemError: the
 * file cannot be read. gc3NotABundle, gc3BundleTruncated, gc3BundleTooNew, gc3BundleCorrupt, gc3BundleInvalid: see
 * gc3Result_t.
 */
GC3_API gc3Result_t gc3BundleLoad(gc3Bundle_t *bundle, const char *path);

/** Like gc3BundleLoad, but reads `size` bytes at `bytes`, and copies them. */
GC3_API gc3Result_t gc3BundleLoadMemory(gc3Bundle_t *bundle, const void *bytes, size_t size);

/** Frees the handle. Communicators that use the bundle keep working. Null is gc3Success. */
GC3_API gc3Result_t gc3BundleFree(gc3Bundle_t bundle);

/** One program of a bundle. Strings belong to the bundle. Set `size` to sizeof(gc3ProgramInfo_t) before the call. */
typedef struct {
  size_t size;
  const char *name;
  const char *collective;
  int ranks;
  uint64_t minBytes;      /**< smallest intended size, included: bytes of the larger of one rank's input and output */
  uint64_t maxBytes;      /**< end of the intended sizes, excluded; UINT64_MAX: no bound */
  int inPlace;            /**< 1: written for one buffer; also runs out of place */
  uint32_t contributions; /**< input chunks in every output chunk; 0: their numbers differ */
  uint32_t fifoSlots;     /**< slots per connection with which it was proven */
  uint32_t minFifoSlots;  /**< fewest slots per connection with which it works */
  uint32_t verified;      /**< proofs: bit 0 structure, 1 no deadlock, 2 postcondition, 3 no races */
  uint64_t digest;        /**< programs with equal digests are equal */
} gc3ProgramInfo_t;

/** Writes the number of programs. gc3InvalidArgument: a null pointer. */
GC3_API gc3Result_t gc3BundleProgramCount(gc3Bundle_t bundle, int *count);

/** Fills `info` for program `index` (0 .. count - 1). gc3InvalidArgument: null, index out of range, `size` not set. */
GC3_API gc3Result_t gc3BundleProgramInfo(gc3Bundle_t bundle, int index, gc3ProgramInfo_t *info);

/**
 * Writes the numbers of elements of a rank's buffers in program `index`, for `count` elements per block. Writes 0 for a
 * buffer that the rank does not have. gc3InvalidArgument: null, out of range, or more than 2^64 - 1 elements.
 * gc3BundleCorrupt, gc3BundleInvalid: the rank's section of the bundle has this error.
 */
GC3_API gc3Result_t gc3ProgramElements(gc3Bundle_t bundle, int index, int rank, size_t count, size_t *inputElements,
                                       size_t *outputElements);

/* ---- Communicators ---- */

/** The question to a tuner: a call, identical on all ranks, and the programs that can serve it. */
typedef struct {
  size_t size; /**< size of this struct in the library; fields beyond it do not exist */
  const char *collective;
  int ranks;
  int root; /**< -1: the collective has no root */
  size_t count;
  uint64_t bytes; /**< bytes of the larger of one rank's input and output */
  gc3DataType_t type;
  gc3RedOp_t op;               /**< gc3Sum if nothing is reduced, for created reductions, and in gc3SelectProgram */
  const char *const *programs; /**< names in the order of the bundle, including programs for other sizes */
  int programCount;            /**< at least 1 */
} gc3TunerCall_t;

/** Answers of a tuner, in addition to the index of a program. */
typedef enum GC3_ENUM_TYPE {
  gc3TunerBySize = -1, /**< choose by size, as without a tuner */
  gc3TunerNone = -2    /**< choose no program: the call returns gc3NoProgram */
} gc3TunerAnswer_t;

/**
 * Chooses the program of a call. Returns an index of call->programs, or a gc3TunerAnswer_t. After any other answer the
 * call returns gc3InvalidUsage. The tuner must always return the same answer to the same question on all ranks, in all
 * processes. So the answer may depend only on `call`, and on data at `data` that is identical on all ranks. If ranks
 * choose different programs, they wait for each other until the timeout. The library does not call the tuner for
 * gc3RunProgram, for calls that no program can serve, and on the host for repeated calls. With GC3_DEBUG=INFO it calls
 * the tuner once more per call. Several threads can call the tuner concurrently. It must not call functions of gc3.
 */
typedef int (*gc3Tuner_t)(const gc3TunerCall_t *call, void *data);

/** The order in which the host executor runs steps. */
typedef enum GC3_ENUM_TYPE {
  gc3OrderFair = 0,       /**< fast */
  gc3OrderAdversarial = 1 /**< for tests: one step at a time in orders that expose wrong programs, with the fewest slots
                             and small tiles */
} gc3Order_t;

/**
 * Settings of host communicators. Initialise with GC3_HOST_CONFIG_INITIALIZER. 0 means the default. The struct belongs
 * to one version of gc3: if the application was compiled with another gc3.h, whose struct has another size, the library
 * rejects it.
 */
typedef struct {
  size_t size;           /**< sizeof(gc3HostConfig_t), set by the initialiser */
  uint32_t slots;        /**< FIFO slots per connection; default: the program's; in adversarial order its fewest */
  uint32_t workers;      /**< most threads for the call of one thread for all ranks; default: the machine's */
  uint64_t slotBytes;    /**< bytes of a FIFO slot, which determine the tile size; default 128 KiB (64 to 512 KiB if
                            messages skip their slots), less if there are many connections */
  uint64_t tileElements; /**< elements of a slot that one tile moves; overrides slotBytes */
  gc3Order_t order;
  uint32_t timeoutMs;   /**< time limit for ranks that wait for each other; default: GC3_TIMEOUT_MS, else 60000 */
  uint64_t seed;        /**< of the adversarial order */
  int allowUnproven;    /**< 1: also run programs without a proof; default: GC3_ALLOW_UNPROVEN, else 0 */
  const char *trace;    /**< file to which communicators write the time of each instruction when they are destroyed, in
                           Chrome's trace format; "%p" in it is the process id; default: GC3_TRACE, else none */
  const char *programs; /**< list of programs that may serve calls, in the syntax of GC3_PROGRAM: PROGRAM,
                           COLLECTIVE:PROGRAM, COLLECTIVE:none, or none for all collectives that no item names;
                           separated by commas. If an item names a collective, only the named programs serve it: the
                           first one for the size, else the first one. The list does not affect other collectives and
                           gc3RunProgram. Default: GC3_PROGRAM, else no list */
  gc3Tuner_t tuner;     /**< chooses among the programs that the list allows; default: none */
  void *tunerData;      /**< argument of the tuner; must outlive the communicators */
} gc3HostConfig_t;

#define GC3_HOST_CONFIG_INITIALIZER                                                                                    \
  { sizeof(gc3HostConfig_t), 0, 0, 0, 0, gc3OrderFair, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Creates `nranks` communicators of one group in this process; comms[r] is rank r. Free each with gc3CommDestroy.
 * `config` can be NULL. Programs are loaded at their first use. gc3InvalidArgument: null; nranks not in 1 .. 65536; a
 * config that is not initialised or belongs to another version of gc3; an invalid environment variable that the config
 * does not override; or a list of programs with a name that the bundle does not have. gc3BundleUnproven: a program for
 * `nranks` ranks has no proof (gc3c --verify=off). Later calls of a standard collective can also return
 * gc3BundleUnproven, if their program promises something else. A process reads its environment once.
 */
GC3_API gc3Result_t gc3HostCommInitAll(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3HostConfig_t *config);

/** The layout of messages in FIFO slots. A program is proven for one protocol. */
typedef enum GC3_ENUM_TYPE { gc3Simple = 0, gc3LL = 1, gc3LL128 = 2, gc3NumProtocols = 3 } gc3Protocol_t;

/** Settings for one protocol; 0 means the setting of gc3GpuConfig_t for all protocols. */
typedef struct {
  uint32_t slots;
  uint32_t threads;
  uint64_t slotBytes;
} gc3Tuning_t;

/** The treatment of a program for LL128 if a link that it uses tears lines. */
typedef enum GC3_ENUM_TYPE {
  gc3LL128Default = 0, /**< as GC3_LL128 states, "replace" or "refuse"; without that variable as gc3LL128Replace */
  gc3LL128Replace = 1, /**< run it under Simple */
  gc3LL128Refuse = 2   /**< do not run it */
} gc3LL128_t;

/**
 * Settings of communicators on GPUs. Initialise with GC3_GPU_CONFIG_INITIALIZER. 0 means the default. The struct
 * belongs to one version of gc3, like gc3HostConfig_t.
 */
typedef struct {
  size_t size;        /**< sizeof(gc3GpuConfig_t), set by the initialiser */
  uint32_t slots;     /**< FIFO slots per connection; default: GC3_SLOTS, else the program's */
  uint32_t threads;   /**< threads per block, a multiple of 32 up to 512; default: GC3_THREADS, else as many as leave
                         space for all blocks */
  uint64_t slotBytes; /**< bytes of a FIFO slot, at least 128; under LL128 at least 256 for each slot of a message;
                         default: GC3_SLOT_BYTES, else 512 KiB, 64 KiB for LL, 600 KiB for LL128, less if there are many
                         connections */
  int simple;         /**< 1: run all programs under Simple, whatever they were proven for */
  uint32_t timeoutMs; /**< time limit for a kernel, after which it is stopped; default: GC3_TIMEOUT_MS, else none. With
                         gc3CommInit also the time limit for ranks that wait until all have loaded a program. A rank
                         that reaches a limit fails */
  int allowUnproven;  /**< as in gc3HostConfig_t */
  gc3LL128_t ll128;   /**< must be identical on all ranks */
  gc3Tuning_t tuning[gc3NumProtocols]; /**< by gc3Protocol_t; slots and slotBytes must be identical on all ranks */
  const char *trace; /**< as in gc3HostConfig_t, and the library waits for each call; with gc3CommInit it does not wait,
                        and each rank has a file of its own */
  const char *programs; /**< as in gc3HostConfig_t; must be identical on all ranks */
  gc3Tuner_t tuner;     /**< as in gc3HostConfig_t; all ranks must have one, or none */
  void *tunerData;
} gc3GpuConfig_t;

#define GC3_GPU_CONFIG_INITIALIZER                                                                                     \
  { sizeof(gc3GpuConfig_t), 0, 0, 0, 0, 0, 0, gc3LL128Default, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 0, 0, 0, 0 }

/**
 * Creates `nranks` communicators whose ranks share the calling thread's current CUDA device; comms[r] is rank r. Free
 * each with gc3CommDestroy, after their streams are done. Buffers of calls must be in device memory. One thread makes
 * the calls of all ranks between gc3GroupStart and gc3GroupEnd, all on one stream. A call has ended when the stream has
 * completed it. A call can be captured into a graph after a call of the same program outside of a capture. `config` can
 * be NULL. Errors as for gc3HostCommInitAll. gc3InvalidUsage: this gc3 was built without CUDA, or the GPU lacks a
 * required feature. gc3UnhandledCudaError.
 */
GC3_API gc3Result_t gc3LoopbackCommInitAll(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle,
                                           const gc3GpuConfig_t *config);

/**
 * Creates a rank that runs a bundle's programs next to an NCCL communicator. `ncclComm` is this rank's ncclComm_t;
 * buffers of calls must be on its GPU. All ranks of the NCCL communicator must call this with the same bundle and
 * config. A thread with several ranks does so between gc3GroupStart and gc3GroupEnd, which then writes `comm`.
 *
 * The same holds for collective calls: each rank calls on a stream of its GPU, in the same order on all ranks, and a
 * thread with several ranks calls in a group. A call has ended when the stream has completed it. The ranks that a
 * program connects must be able to access each other's memory (NVLink, or PCIe with peer access) through NCCL's
 * symmetric windows. A program is loaded at its first call, on all ranks or on none. Ranks wait for each other in that
 * call, and it cannot be captured into a graph. gc3 splits its own communicator off `ncclComm`, and makes no other
 * call on `ncclComm`, except queries.
 *
 * Free with gc3CommDestroy before the NCCL communicator. `config` can be NULL. gc3InvalidArgument: null; an invalid
 * config or environment variable, as for gc3HostCommInitAll; or a value out of range. gc3InvalidUsage: the ranks have
 * different bundles or configs; this gc3 was built without CUDA; or NCCL is older than 2.28.7. Later calls return
 * gc3InvalidUsage if the program cannot run on these ranks or could not be loaded; the text has the reason.
 * gc3BundleUnproven. gc3UnhandledCudaError, gc3SystemError: the other ranks can be waiting, and may have to be aborted.
 * gc3Timeout: not all ranks have called within a minute, or within timeoutMs if that is longer. After an error the NCCL
 * communicator is unchanged. If it is blocking, only its abort ends a split that still waits for other ranks.
 */
GC3_API gc3Result_t gc3CommInit(gc3Comm_t *comm, gc3Bundle_t bundle, void *ncclComm, const gc3GpuConfig_t *config);

/**
 * Writes the result of the calls on streams so far, including replays of graphs: gc3Success; gc3Timeout if a kernel was
 * stopped (gc3GetLastError returns what each thread block waited for); or gc3UnhandledCudaError. After an error only
 * gc3CommDestroy and gc3CommAbort are valid. gc3InvalidArgument: null.
 */
GC3_API gc3Result_t gc3CommGetAsyncError(gc3Comm_t comm, gc3Result_t *result);

/** Frees one rank. No call on it may be running. Later calls of other ranks wait for it until the timeout. Null is
 * gc3Success. */
GC3_API gc3Result_t gc3CommDestroy(gc3Comm_t comm);

/**
 * Aborts and frees one rank. Call this instead of gc3CommDestroy if kernels may be waiting for ranks that never arrive:
 * these kernels end. Returns at once. A thread of the library releases the rank's resources when its kernels have
 * ended. A call on the rank can be running in another thread; it returns gc3InvalidUsage. On CPUs, waiting calls end
 * with their timeout. The NCCL communicator of gc3CommInit is unchanged. Null is gc3Success.
 */
GC3_API gc3Result_t gc3CommAbort(gc3Comm_t comm);

/** Writes the number of ranks. */
GC3_API gc3Result_t gc3CommCount(gc3Comm_t comm, int *count);

/** Writes this communicator's rank. */
GC3_API gc3Result_t gc3CommUserRank(gc3Comm_t comm, int *rank);

/* ---- Reductions that the application creates ---- */

/** The location of a reduction's scalar, which determines when it is read; with NCCL's numbers. */
typedef enum GC3_ENUM_TYPE {
  gc3ScalarDevice = 0, /**< memory that the GPU can access; read when a call runs, in a graph at each replay. On host
                          communicators any memory; read before the call or its group has ended */
  gc3ScalarHostImmediate = 1 /**< host memory; read before gc3RedOpCreatePreMulSum returns */
} gc3ScalarResidence_t;

/**
 * Creates a reduction that multiplies each element of this rank's input by *scalar, as gc3Prod would, and then sums. It
 * is valid for calls on this communicator with elements of `type`, which is also the scalar's type. Other calls return
 * gc3InvalidArgument; if ranks share a host or a GPU, they do so on all of them. In a call each rank passes a reduction
 * of its own; the scalars and their locations can differ between ranks. Free with gc3RedOpDestroy, or with the
 * communicator. gc3InvalidArgument: null, or unknown type or residence.
 */
GC3_API gc3Result_t gc3RedOpCreatePreMulSum(gc3RedOp_t *op, const void *scalar, gc3DataType_t type,
                                            gc3ScalarResidence_t residence, gc3Comm_t comm);

/**
 * Frees the handle. Earlier calls are not affected, including deferred calls of a group. gc3InvalidArgument: the handle
 * was not created on this communicator, or was destroyed.
 */
GC3_API gc3Result_t gc3RedOpDestroy(gc3RedOp_t op, gc3Comm_t comm);

/* ---- Collectives ---- */

/*
 * A collective call selects a program of the bundle by its collective, the number of ranks, the root, and the size in
 * bytes (the larger of one rank's input and output), unless GC3_PROGRAM or a tuner chooses another one. Errors of all
 * functions: gc3InvalidArgument: a null communicator, a null buffer with elements, unknown type or operation, root out
 * of range, a stream on a host communicator, overlapping buffers, or a size beyond the address space; gc3NoProgram;
 * gc3InvalidUsage; gc3Timeout; gc3Deadlock; gc3SystemError: no memory; gc3BundleCorrupt, gc3BundleInvalid: the sections
 * of the selected program have this error.
 */

/** recvbuff[i] = reduction of all ranks' sendbuff[i]; `count` elements each. */
GC3_API gc3Result_t gc3AllReduce(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3RedOp_t op,
                                 gc3Comm_t comm, gc3Stream_t stream);
/** recvbuff has ranks * count elements: rank r's sendbuff is at r * count. */
GC3_API gc3Result_t gc3AllGather(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3Comm_t comm,
                                 gc3Stream_t stream);
/** sendbuff has ranks * count elements. Rank r receives the reduction of the `count` elements at r * count. */
GC3_API gc3Result_t gc3ReduceScatter(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type,
                                     gc3RedOp_t op, gc3Comm_t comm, gc3Stream_t stream);
/** recvbuff = root's sendbuff, `count` elements. Other ranks ignore sendbuff. */
GC3_API gc3Result_t gc3Broadcast(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root,
                                 gc3Comm_t comm, gc3Stream_t stream);
/** On the root, recvbuff[i] = reduction of all ranks' sendbuff[i]. Other ranks ignore recvbuff. */
GC3_API gc3Result_t gc3Reduce(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3RedOp_t op,
                              int root, gc3Comm_t comm, gc3Stream_t stream);
/** Both buffers have ranks * count elements. Block q of rank r is sent to block r of rank q. */
GC3_API gc3Result_t gc3AllToAll(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3Comm_t comm,
                                gc3Stream_t stream);
/** On the root, recvbuff has ranks * count elements: rank r's sendbuff is at r * count. Other ranks ignore recvbuff. */
GC3_API gc3Result_t gc3Gather(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root,
                              gc3Comm_t comm, gc3Stream_t stream);
/** On the root, sendbuff has ranks * count elements. Rank r receives the `count` elements at r * count. Other ranks
 * ignore sendbuff. */
GC3_API gc3Result_t gc3Scatter(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root,
                               gc3Comm_t comm, gc3Stream_t stream);

/**
 * Runs a program for the collective of that name, which can be the application's own. Buffers have the elements that
 * gc3ProgramElements returns; a rank without a buffer can pass any pointer. `op` must be valid, and identical on all
 * ranks. Collectives that do not reduce ignore `op`, with one exception: a reduction of gc3RedOpCreatePreMulSum
 * multiplies the inputs of all collectives that have no function above. A call is in place as defined for the function
 * of the same name above. For other collectives it is in place if sendbuff == recvbuff, or if the buffers overlap as
 * the program's alias states.
 */
GC3_API gc3Result_t gc3RunCollective(gc3Comm_t comm, const char *collective, const void *sendbuff, void *recvbuff,
                                     size_t count, gc3DataType_t type, gc3RedOp_t op, gc3Stream_t stream);

/** Like gc3RunCollective, but runs the program of that name, for any size. gc3NoProgram: no program for this number of
 * ranks has that name. */
GC3_API gc3Result_t gc3RunProgram(gc3Comm_t comm, const char *program, const void *sendbuff, void *recvbuff,
                                  size_t count, gc3DataType_t type, gc3RedOp_t op, gc3Stream_t stream);

/**
 * Writes the name of the program that a call of this rank would run. The string belongs to the bundle. `root` is -1 if
 * the collective has none. Errors as for the call. Does not communicate.
 */
GC3_API gc3Result_t gc3SelectProgram(gc3Comm_t comm, const char *collective, size_t count, gc3DataType_t type, int root,
                                     const char **program);

/* ---- Groups ---- */

/** Begins a group: calls of this thread are deferred until the matching gc3GroupEnd. Groups nest; the outermost end
 * runs the calls. */
GC3_API gc3Result_t gc3GroupStart(void);

/**
 * Runs the deferred calls. The k-th calls on the communicators of one group of ranks run together, k = 1, 2, ...
 * Returns the first error. On CPUs, after an error the later calls on communicators of the same ranks are dropped, and
 * calls on other communicators run. On GPUs all calls run, as if they were made one by one in the order of the group.
 * gc3InvalidUsage: no gc3GroupStart.
 */
GC3_API gc3Result_t gc3GroupEnd(void);

#undef GC3_ENUM_TYPE
#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* GC3_H */
