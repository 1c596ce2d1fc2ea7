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
 * - It returns gc3Success or an error code, except two functions that return texts. It does not throw, and does not
 *   abort the process because of bad input. After an error, gc3GetLastError returns a text.
 * - Comments list errors as "code: cause". "null" means that a pointer or handle is null.
 * - Handles are opaque. The caller owns them, and frees each with the function for its type. For a null handle,
 *   functions return gc3InvalidArgument unless their comment says otherwise.
 * - Threads may call functions on different communicators concurrently. Only one thread at a time may use a
 *   communicator, except that any thread may call gc3CommGetAsyncError, gc3GetLastError and gc3CommAbort while the
 *   handle is valid. gc3CommDestroy and gc3CommAbort free the handle: call only one of them, once.
 * - Counts are elements, sizes are bytes. `count` is always the number of elements of one block. It is the count,
 *   sendcount or recvcount of NCCL's function for the same collective. Any count from 0 on is valid.
 *
 * Calls on a host communicator are synchronous: outside of a group, a call returns when all ranks have made it and the
 * collective is done. So each rank needs its own thread, or one thread makes the calls of all ranks between
 * gc3GroupStart and gc3GroupEnd. If the calls of the ranks do not match (collective, count, type, operation, root), all
 * ranks return gc3InvalidUsage. If a rank does not make the call, the other ranks wait until the timeout
 * (gc3HostConfig_t.timeoutMs) and return gc3Timeout. All later calls on these communicators then return gc3Timeout,
 * too, because the ranks have made different numbers of calls. A call with count 0 moves nothing.
 *
 * Each rank detects from its pointers whether a call is in place, like NCCL. AllGather and Gather are in place if
 * sendbuff == recvbuff + rank * count; ReduceScatter and Scatter if recvbuff == sendbuff + rank * count; the others if
 * sendbuff == recvbuff. If buffers overlap in another way, the call returns gc3InvalidArgument. Every program supports
 * calls in place and out of place. A call out of place does not change the send buffer.
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
  gc3RemoteError = 6,        /**< another rank has ended, has left or has failed; the text names it */
  gc3InProgress = 7,         /**< reserved */
  gc3Timeout = 8,            /**< a rank did not make the call in time, or a kernel did not end in time */
  gc3Deadlock = 9,    /**< the program cannot continue; the text lists which thread block waits for which. A rank whose
                         part ended before the deadlock returns gc3Success */
  gc3NoProgram = 10,  /**< the bundle has no program for the call */
  gc3NotABundle = 11, /**< the file is not a bundle */
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
 * Reductions, with NCCL's numbers. Integer results wrap around. half and bfloat16 values are rounded after each
 * operation. fp8 values are computed in half, and results saturate. gc3Max and gc3Min of a NaN and a number return the
 * number. With n contributions, gc3Avg multiplies floating-point inputs by 1 / n before the sum, and divides integer
 * sums by n, truncating. A program whose outputs have different numbers of contributions rejects gc3Avg with
 * gc3InvalidArgument. gc3RedOpCreatePreMulSum creates further reductions.
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
  uint64_t minBytes;      /**< smallest intended size of a call: bytes of the larger of one rank's input and output */
  uint64_t maxBytes;      /**< intended sizes are below this; UINT64_MAX: no limit */
  int inPlace;            /**< 1: written for calls in place; also runs out of place */
  uint32_t contributions; /**< number of input chunks that each output chunk combines; 0: the number differs */
  uint32_t fifoSlots;     /**< number of slots per connection with which the program was proven */
  uint32_t minFifoSlots;  /**< smallest number of slots per connection with which the program works */
  uint32_t verified;      /**< proofs: bit 0 structure, 1 no deadlock, 2 postcondition, 3 no races */
  uint64_t digest;        /**< programs with equal digests are equal */
  const char *form;       /**< the collective with its arguments, such as "shift(n = 4, by = 1)"; only the name if there
                             are none, or if the bundle is older than version 1.1. A call can pass it to gc3RunCollective */
  int nodes; /**< number of nodes, each with equally many consecutive ranks, that the program is for; 0: it is
                for any */
} gc3ProgramInfo_t;

/** Writes the bundle's number of programs. gc3InvalidArgument: null. */
GC3_API gc3Result_t gc3BundleProgramCount(gc3Bundle_t bundle, int *count);

/** Fills `info` for program `index` (0 .. count - 1). gc3InvalidArgument: null, index out of range, `size` not set. */
GC3_API gc3Result_t gc3BundleProgramInfo(gc3Bundle_t bundle, int index, gc3ProgramInfo_t *info);

/**
 * Writes the numbers of elements of a rank's buffers in program `index`, for `count` elements per block. Writes 0 for a
 * buffer that the rank does not have. gc3InvalidArgument: null, `index` or `rank` out of range, or more than 2^64 - 1
 * elements. gc3BundleCorrupt, gc3BundleInvalid: the rank's section of the bundle has this error.
 */
GC3_API gc3Result_t gc3ProgramElements(gc3Bundle_t bundle, int index, int rank, size_t count, size_t *inputElements,
                                       size_t *outputElements);

/* ---- Communicators ---- */

/** The question to a tuner: a call, which is identical on all ranks, and the programs that can serve it. */
typedef struct {
  size_t size;            /**< size of this struct in the library; a tuner must not read beyond it */
  const char *collective; /**< as in the call: a name, or a name with arguments */
  int ranks;
  int root; /**< -1: the collective has no root */
  size_t count;
  uint64_t bytes; /**< bytes of the larger of one rank's input and output */
  gc3DataType_t type;
  gc3RedOp_t op; /**< gc3Sum if the collective does not reduce, if the application created the reduction, and in
                    gc3SelectProgram */
  const char *const *programs; /**< names in the order of the bundle, including programs for other sizes */
  int programCount;            /**< at least 1 */
} gc3TunerCall_t;

/** Answers of a tuner, in addition to the index of a program. */
typedef enum GC3_ENUM_TYPE {
  gc3TunerBySize = -1, /**< choose by size, as without a tuner */
  gc3TunerNone = -2    /**< choose no program: the call returns gc3NoProgram */
} gc3TunerAnswer_t;

/**
 * Chooses the program that runs a call. Returns an index of call->programs, or a gc3TunerAnswer_t. After any other
 * answer the call returns gc3InvalidUsage. The tuner must always return the same answer to the same question on all
 * ranks, in all processes. So the answer may depend only on `call`, and on data at `data` that is identical on all
 * ranks. If ranks choose different programs, they wait for each other until the timeout. The library does not call the
 * tuner for gc3RunProgram, and not for calls that no program can serve. On host communicators, it does not call the
 * tuner again for repeated calls. With GC3_DEBUG=INFO it calls the tuner once more per call. Several threads can call
 * the tuner concurrently. The tuner must not call functions of gc3.
 */
typedef int (*gc3Tuner_t)(const gc3TunerCall_t *call, void *data);

/** The measured time of a call whose program a tuner could choose. */
typedef struct {
  size_t size;            /**< size of this struct in the library; a function must not read beyond it */
  const char *collective; /**< this and the next fields are as in gc3TunerCall_t */
  int ranks;
  int rank; /**< the rank that has measured the call; -1: all ranks, which share a GPU */
  int root;
  size_t count;
  uint64_t bytes;
  gc3DataType_t type;
  gc3RedOp_t op;
  float microseconds;
  const char *program; /**< the program that has run the call */
} gc3TunerTime_t;

/**
 * Receives the times of calls, so that the application can improve its tuner. On host communicators, the time lasts
 * from the moment when all ranks have arrived, and the call returns after the function. On GPUs, it is the time of the
 * work on the GPU, which includes the wait for late ranks. The function is called in later calls of the rank, or when
 * the communicator is destroyed, then on a thread of the library. Calls of captures have no times, and of many calls
 * that run ahead of the GPU only some. Several threads can call the function concurrently. It must not call functions
 * of gc3. Ranks measure different times, so a tuner may use them only after the ranks have exchanged them (gc3Tuner_t).
 */
typedef void (*gc3TunerTimes_t)(const gc3TunerTime_t *time, void *data);

/** Online selection: a communicator chooses among its bundle's programs from the times of earlier calls. */
typedef enum GC3_ENUM_TYPE {
  gc3TuneDefault = 0, /**< GC3_TUNE, else off */
  gc3TuneOff = 1,
  gc3TuneOnline = 2,
  gc3TuneOnlineSameBits = 3, /**< calls whose results are rounded keep the program that they have without selection */
  gc3TuneOnlineShapes = 4,   /**< also chooses the size of tiles, and on GPUs the number of threads of thread blocks */
  gc3TuneOnlineSameBitsShapes = 5 /**< both */
} gc3Tune_t;

/** The order in which the host executor runs steps. */
typedef enum GC3_ENUM_TYPE {
  gc3OrderFair = 0,       /**< fast */
  gc3OrderAdversarial = 1 /**< for tests: one step at a time, in orders that expose wrong programs, with the smallest
                             possible number of slots and small tiles */
} gc3Order_t;

/**
 * Settings of host communicators. Initialise with GC3_HOST_CONFIG_INITIALIZER. 0 means the default. The struct belongs
 * to one version of gc3: if the application was compiled with another gc3.h, whose struct has another size, the library
 * rejects it.
 */
typedef struct {
  size_t size;           /**< sizeof(gc3HostConfig_t), set by the initialiser */
  uint32_t slots;        /**< FIFO slots per connection; default: fifoSlots of the program, in adversarial order its
                            minFifoSlots */
  uint32_t workers;      /**< largest number of threads that run a call that one thread makes for all ranks; default:
                            the machine's number of threads */
  uint64_t slotBytes;    /**< bytes of a FIFO slot, which determine the tile size; default 128 KiB (64 to 512 KiB if
                            messages bypass their slots), less if there are many connections */
  uint64_t tileElements; /**< number of elements of a slot that one tile moves; overrides slotBytes */
  gc3Order_t order;
  uint32_t timeoutMs;   /**< time limit for ranks that wait for each other; default: GC3_TIMEOUT_MS, else 60000 */
  uint64_t seed;        /**< seed of the adversarial order */
  int allowUnproven;    /**< 1: also run programs without a proof; default: GC3_ALLOW_UNPROVEN, else 0 */
  const char *trace;    /**< name of a file in Chrome's trace format. When communicators are destroyed, they write the
                           time of each instruction to it. "%p" in the name is replaced by the process id. Default:
                           GC3_TRACE, else none */
  const char *programs; /**< list of programs that may serve calls, in the syntax of GC3_PROGRAM. Items are separated by
                           commas: PROGRAM, COLLECTIVE:PROGRAM, COLLECTIVE:none, or none for all collectives that no
                           item names. COLLECTIVE is written as for gc3RunCollective, and must have one meaning. If an
                           item names a collective, only the named programs serve it: the first program that is for the
                           call's size, else the first program. An item COMMUNICATOR:COLLECTIVE:PROGRAM is only for
                           communicators whose `name` matches the pattern COMMUNICATOR, in which * stands for any text.
                           There it replaces the other items for its collective, or for all if COLLECTIVE is empty. The
                           list does not affect other collectives and gc3RunProgram. Default: GC3_PROGRAM, else no list
                         */
  gc3Tuner_t tuner;     /**< chooses among the programs that the list allows; default: none */
  void *tunerData;      /**< argument of the tuner; must outlive the communicators */
  gc3Tune_t tune;       /**< online selection among the programs that the list allows. A tuner takes precedence */
  float tuneBudget;     /**< percent of the time of all calls that online selection may spend on trying other programs,
                           after the first 50 calls of a size; negative: choices are frozen. Default:
                           GC3_TUNE_BUDGET, else 2 */
  const char *tuneFile; /**< path of the file of the times that online selection learns; "%b" in it is replaced by the
                           bundle's digest. Communicators begin with them. When the last rank is destroyed, they add
                           their own, unless choices are frozen or a rank was aborted. A file that can't be used changes
                           nothing but the log. Default: GC3_TUNE_FILE, else none */
  gc3TunerTimes_t tunerTimes; /**< gets the times of calls, and tunerData; only with a tuner. Default: none */
  const char *name;           /**< name of the communicator, for the list of programs and the log; default: none */
  uint64_t nodes; /**< number of nodes on which the ranks are, each with equally many consecutive ranks. Programs whose
                     `nodes` differ do not serve calls. Default: the library finds out which ranks share a host */
} gc3HostConfig_t;

#define GC3_HOST_CONFIG_INITIALIZER                                                                                    \
  { sizeof(gc3HostConfig_t), 0, 0, 0, 0, gc3OrderFair, 0, 0, 0, 0, 0, 0, 0, gc3TuneDefault, 0, 0, 0, 0, 0 }

/**
 * Creates `nranks` communicators of one group in this process; comms[r] is rank r. Free each with gc3CommDestroy.
 * `config` can be NULL. Programs are loaded at their first use. gc3InvalidArgument: null; nranks not in 1 .. 65536; a
 * config that is not initialised or belongs to another version of gc3; an invalid environment variable that the config
 * does not override; or a list of programs with a name that the bundle does not have, or with a collective that has
 * several meanings. gc3BundleUnproven: a program for `nranks` ranks has no proof (gc3c --verify=off). A later call of a
 * standard collective can also return gc3BundleUnproven, if its program promises something else than the collective. A
 * process reads its environment only once.
 */
GC3_API gc3Result_t gc3HostCommInitAll(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle, const gc3HostConfig_t *config);

/** Identifies a new communicator. The application carries the bytes to the processes of its ranks. */
typedef struct {
  char internal[256];
} gc3UniqueId_t;

/**
 * Creates the id of a new communicator. Call it in the process of rank 0. From then on, the process listens on a port,
 * until rank 0 has joined. NCCL_SOCKET_IFNAME selects the network interfaces. gc3InvalidArgument: null. gc3SystemError:
 * the system refuses a port.
 */
GC3_API gc3Result_t gc3GetUniqueId(gc3UniqueId_t *id);

/**
 * Creates one rank of a host communicator whose ranks are in several processes, on one host or several. Each of the
 * `nranks` ranks calls this function once with the same id, and waits until all have done so. A process can have
 * several ranks: each calls this function in its own thread, or one thread calls it for all between gc3GroupStart and
 * gc3GroupEnd. Then gc3GroupEnd writes `comm`.
 *
 * Calls work as for gc3HostCommInitAll. If a process ends, or reports an error that is not the same on all ranks, the
 * calls of all other ranks return gc3RemoteError. If the ranks of a call move no message within the timeout, it returns
 * gc3Timeout. After one of these errors, all later calls fail, and other processes may still access the buffers of the
 * call until they have ended it. The error's text says what each thread block of this process waits for, and for which
 * process. gc3CommAbort fails the calls of all other ranks. The config's trace gets one file for each process; "%r" in
 * its name is replaced by the rank.
 *
 * `config` can be NULL. gc3InvalidArgument: as for gc3HostCommInitAll; `rank` is out of range; `id` is damaged or of
 * another version of gc3. gc3InvalidUsage: the ranks have different bundles or configs; or rank 0 is not in the process
 * that has called gc3GetUniqueId. gc3Timeout: not all ranks have joined within the timeout (gc3HostConfig_t.timeoutMs);
 * the text names them. gc3RemoteError: a rank was lost; the text names it. gc3SystemError: there is no memory; or the
 * ranks are on several hosts, and this gc3 was built without UCX, or UCX is not installed or finds no network.
 * gc3BundleUnproven: as for gc3HostCommInitAll.
 */
GC3_API gc3Result_t gc3HostCommInitRank(gc3Comm_t *comm, int nranks, gc3UniqueId_t id, int rank, gc3Bundle_t bundle,
                                        const gc3HostConfig_t *config);

/**
 * Like gc3HostCommInitRank, with one rank for each process that a launcher has started: torchrun, mpirun of Open MPI or
 * MPICH, srun, or gc3-run --processes. Reads the launcher's environment variables. All processes create their
 * communicators in the same order: those with equally many earlier communicators of this function join each other. A
 * failed call does not count, so a process can call again. Rank 0 takes one of 16 ports for each communicator until its
 * ranks have joined, so at most 16 communicators can join in one group. gc3InvalidUsage: no launcher has started the
 * process, or variables are missing or contradict each other; the text names them. gc3SystemError: as for
 * gc3HostCommInitRank, or the 16 ports are in use; the text names them.
 */
GC3_API gc3Result_t gc3HostCommInitEnv(gc3Comm_t *comm, gc3Bundle_t bundle, const gc3HostConfig_t *config);

/**
 * Allocates a buffer for calls of host communicators, which contains zeros and is aligned to a page. Any memory can be
 * a buffer of a call. But if all buffers of a call are of this function, ranks in several processes exchange large
 * messages as fast as threads of one process: each process maps the buffers of the others. The memory counts as shared
 * memory of the process. After fork(), the parent's buffers are memory that parent and child share.
 * gc3InvalidArgument: null. gc3SystemError: the machine or a control group of the process has not enough memory left,
 * or a limit of the process refuses it.
 */
GC3_API gc3Result_t gc3HostMemAlloc(void **buffer, size_t bytes);

/**
 * Releases a buffer of gc3HostMemAlloc; NULL: does nothing. No rank of any process may be in a call with the buffer.
 * gc3InvalidArgument: gc3HostMemAlloc has not returned it in this process, or it has been released.
 */
GC3_API gc3Result_t gc3HostMemFree(void *buffer);

/** The layout of messages in FIFO slots. A program is proven for one protocol. */
typedef enum GC3_ENUM_TYPE { gc3Simple = 0, gc3LL = 1, gc3LL128 = 2, gc3NumProtocols = 3 } gc3Protocol_t;

/** Settings for one protocol. 0 means that the field of the same name in gc3GpuConfig_t holds. */
typedef struct {
  uint32_t slots;
  uint32_t threads;
  uint64_t slotBytes;
} gc3Tuning_t;

/** The treatment of a program for LL128 if a link that the program uses tears lines of 128 bytes. */
typedef enum GC3_ENUM_TYPE {
  gc3LL128Default = 0, /**< GC3_LL128 decides: "replace" or "refuse"; if it is not set, like gc3LL128Replace */
  gc3LL128Replace = 1, /**< run the program under Simple */
  gc3LL128Refuse = 2   /**< do not run the program */
} gc3LL128_t;

/**
 * Settings of communicators on GPUs. Initialise with GC3_GPU_CONFIG_INITIALIZER. 0 means the default. The struct
 * belongs to one version of gc3, like gc3HostConfig_t.
 */
typedef struct {
  size_t size;        /**< sizeof(gc3GpuConfig_t), set by the initialiser */
  uint32_t slots;     /**< FIFO slots per connection; default: GC3_SLOTS, else fifoSlots of the programs */
  uint32_t threads;   /**< threads per block, a multiple of 32 up to 512; default: GC3_THREADS, else 512, halved until
                         all blocks fit on the GPU at once, but at least 32 */
  uint64_t slotBytes; /**< bytes of a FIFO slot, at least 128; under LL128 at least 256 for each buffer slot that a
                         message moves; default: GC3_SLOT_BYTES, else 512 KiB, 64 KiB for LL, 600 KiB for LL128, less if
                         there are many connections */
  int simple;         /**< 1: run all programs under Simple, even if they were proven for another protocol */
  uint32_t timeoutMs; /**< time limit for a kernel, which is stopped if it runs longer; default: GC3_TIMEOUT_MS, else
                         none. With gc3CommInit also the time limit for ranks that wait until all ranks have loaded a
                         program. A rank that reaches a limit fails */
  int allowUnproven;  /**< as in gc3HostConfig_t */
  gc3LL128_t ll128;   /**< must be identical on all ranks */
  gc3Tuning_t tuning[gc3NumProtocols]; /**< by gc3Protocol_t; slots and slotBytes must be identical on all ranks */
  const char *trace; /**< as in gc3HostConfig_t, but the library waits for each call. With gc3CommInit it does not wait,
                        and the ranks on each GPU have their own file */
  const char *programs; /**< as in gc3HostConfig_t; must be identical on all ranks */
  gc3Tuner_t tuner;     /**< as in gc3HostConfig_t; all ranks must have one, or none */
  void *tunerData;
  gc3Tune_t tune;       /**< as in gc3HostConfig_t; must be identical on all ranks, like tuneBudget */
  float tuneBudget;     /**< as in gc3HostConfig_t */
  const char *tuneFile; /**< as in gc3HostConfig_t. If ranks have read different contents, they begin without them. Rank
                           0 saves */
  gc3TunerTimes_t tunerTimes; /**< as in gc3HostConfig_t */
  const char *name;           /**< as in gc3HostConfig_t */
  uint64_t nodes;             /**< as in gc3HostConfig_t, but ranks of one NVLink domain share a node, too. Must be
                                 identical on all ranks */
} gc3GpuConfig_t;

#define GC3_GPU_CONFIG_INITIALIZER                                                                                     \
  {                                                                                                                    \
    sizeof(gc3GpuConfig_t), 0, 0, 0, 0, 0, 0, gc3LL128Default, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 0, 0, 0, 0,          \
        gc3TuneDefault, 0, 0, 0, 0, 0                                                                                  \
  }

/**
 * Creates `nranks` communicators whose ranks share the calling thread's current CUDA device; comms[r] is rank r. Free
 * each with gc3CommDestroy, after the streams of its calls are done. Buffers of calls must be in device memory. One
 * thread makes the calls of all ranks between gc3GroupStart and gc3GroupEnd, all on one stream. A call has ended when
 * the stream has completed it. A call can be captured into a graph only after a call of the same program outside of a
 * capture. `config` can be NULL. Errors as for gc3HostCommInitAll. gc3InvalidUsage: this gc3 was built without CUDA, or
 * the GPU lacks a required feature. gc3UnhandledCudaError: a CUDA call failed.
 */
GC3_API gc3Result_t gc3LoopbackCommInitAll(gc3Comm_t *comms, int nranks, gc3Bundle_t bundle,
                                           const gc3GpuConfig_t *config);

/**
 * Creates a rank that runs a bundle's programs on the ranks of an NCCL communicator. `ncclComm` is this rank's
 * ncclComm_t; buffers of calls must be on its GPU. All ranks of the NCCL communicator must call this with the same
 * bundle and config. A thread with several ranks calls it for all of them between gc3GroupStart and gc3GroupEnd; then
 * gc3GroupEnd writes `comm`.
 *
 * All ranks must make the same collective calls in the same order, each rank on a stream of its GPU. A thread with
 * several ranks makes their calls in a group. A call has ended when the stream has completed it. The ranks that a
 * program connects must be able to access each other's memory (NVLink, or PCIe with peer access) through NCCL's
 * symmetric windows. A program is loaded at its first call, on all ranks or on none. Ranks wait for each other
 * in that first call, and the call cannot be captured into a graph. gc3 splits its own communicator off `ncclComm`, and
 * makes no other call on `ncclComm`, except queries.
 *
 * Free the rank with gc3CommDestroy, before the NCCL communicator is destroyed. `config` can be NULL.
 * gc3InvalidArgument: null; an invalid config or environment variable, as for gc3HostCommInitAll; or a value out of
 * range. gc3InvalidUsage: the ranks have different bundles or configs; this gc3 was built without CUDA; or NCCL is
 * older than 2.28.7. Later calls return gc3InvalidUsage if the program cannot run on these ranks or could not be
 * loaded; the text has the reason. gc3BundleUnproven: as for gc3HostCommInitAll. gc3UnhandledCudaError, gc3SystemError:
 * this rank failed; the other ranks can be waiting for it, and may have to be aborted. gc3Timeout: not all ranks have
 * called this function within a minute, or within timeoutMs if that is longer. After an error the NCCL communicator is
 * unchanged. If it is blocking and other ranks have not called this function, a thread of gc3 can still wait inside
 * NCCL; only an abort of the NCCL communicator ends that wait.
 */
GC3_API gc3Result_t gc3CommInit(gc3Comm_t *comm, gc3Bundle_t bundle, void *ncclComm, const gc3GpuConfig_t *config);

/**
 * Writes the common result of all calls on streams so far, including replays of graphs: gc3Success; gc3Timeout if a
 * kernel was stopped (gc3GetLastError returns what each thread block waited for); or gc3UnhandledCudaError. After an
 * error only gc3CommDestroy and gc3CommAbort are valid. gc3InvalidArgument: null.
 */
GC3_API gc3Result_t gc3CommGetAsyncError(gc3Comm_t comm, gc3Result_t *result);

/**
 * Frees one rank. No call on it may be running. Later calls of other ranks wait for this rank until the timeout; if it
 * is in another process, they return gc3RemoteError within seconds. If `comm` is null, returns gc3Success.
 */
GC3_API gc3Result_t gc3CommDestroy(gc3Comm_t comm);

/**
 * Aborts and frees one rank. Call this instead of gc3CommDestroy if kernels may be waiting for ranks that never arrive:
 * the library ends these kernels. Returns at once. A thread of the library releases the rank's resources when its
 * kernels have ended. If another thread is in a call on the rank, that call returns gc3InvalidUsage. On host
 * communicators, waiting calls of the same process end only at their timeout; those of other processes return
 * gc3RemoteError. The NCCL communicator of gc3CommInit is unchanged. If `comm` is null, returns gc3Success.
 */
GC3_API gc3Result_t gc3CommAbort(gc3Comm_t comm);

/** Writes the number of ranks. */
GC3_API gc3Result_t gc3CommCount(gc3Comm_t comm, int *count);

/** Writes this communicator's rank. */
GC3_API gc3Result_t gc3CommUserRank(gc3Comm_t comm, int *rank);

/** What online selection has done on the ranks of a communicator. Set `size` to sizeof(gc3TuneCounters_t) before the
 * call. */
typedef struct {
  size_t size;
  uint64_t calls;      /**< calls whose program was chosen. A call of all ranks counts once. A choice can be for several
                          calls, which count at once */
  uint64_t explored;   /**< calls that tried another choice than the best known one */
  uint64_t changes;    /**< number of times that the best known program of a size changed */
  double microseconds; /**< time of these calls; calls that were not timed count with their expected time */
  double exploredMicroseconds; /**< the part that exploration has cost, without the first 50 calls of a size */
} gc3TuneCounters_t;

/** Fills `counters`; zeros without online selection. gc3InvalidArgument: null, or `size` not set. */
GC3_API gc3Result_t gc3CommGetTuneCounters(gc3Comm_t comm, gc3TuneCounters_t *counters);

/**
 * Adds the times that online selection has learned so far to the file at `path`, which is created if necessary. If
 * `path` is null, takes the path that was chosen when the communicator was created (tuneFile, GC3_TUNE_FILE). Call it
 * on one rank. Other ranks may be in calls. Processes and communicators may save to one file at the same time. The file
 * is replaced as a whole; after an error it has not changed. If it is for another machine or bundle, all it has is
 * replaced. gc3InvalidArgument: `comm` is null. gc3InvalidUsage: there is no path, or the communicator has no online
 * selection. gc3SystemError: the file cannot be read or replaced, or is no file of learned times.
 */
GC3_API gc3Result_t gc3CommSaveTuneFile(gc3Comm_t comm, const char *path);

/* ---- Reductions that the application creates ---- */

/** The location of a reduction's scalar, which determines when the library reads the scalar. The numbers are NCCL's. */
typedef enum GC3_ENUM_TYPE {
  gc3ScalarDevice = 0, /**< memory that the GPU can access; it is read when a call runs, and in a graph at each replay.
                          On host communicators any memory; it is read before the call or its group ends */
  gc3ScalarHostImmediate = 1 /**< host memory; it is read before gc3RedOpCreatePreMulSum returns */
} gc3ScalarResidence_t;

/**
 * Creates a reduction that multiplies each element of this rank's input by *scalar, as gc3Prod would, and then sums. It
 * is valid for calls on this communicator with elements of `type`, which is also the scalar's type. Other calls return
 * gc3InvalidArgument; if the ranks share a host or a GPU, all of them return it. Each rank passes its own reduction to
 * a call. The scalars and their locations can differ between ranks. Free the reduction with gc3RedOpDestroy;
 * gc3CommDestroy and gc3CommAbort free it, too. gc3InvalidArgument: null, or unknown type or residence.
 */
GC3_API gc3Result_t gc3RedOpCreatePreMulSum(gc3RedOp_t *op, const void *scalar, gc3DataType_t type,
                                            gc3ScalarResidence_t residence, gc3Comm_t comm);

/**
 * Frees the handle. Earlier calls are not affected, including deferred calls of a group. gc3InvalidArgument: the handle
 * was not created on this communicator, or was destroyed.
 */
GC3_API gc3Result_t gc3RedOpDestroy(gc3RedOp_t op, gc3Comm_t comm);

/* ---- Windows ---- */

/**
 * Lets gc3 store messages straight into `buffer`, which the application has registered as a window of the
 * communicator's NCCL communicator (ncclCommWindowRegister). `window` is the ncclWindow_t, or null if this rank got
 * none. A call uses the window if it has at least 1 MiB, its receive buffer lies in the window, and the receive buffers
 * of its peers have the same offset in theirs; otherwise the call works without it. With GC3_SWITCH=1, the offset must
 * be the same on all ranks. All ranks call this function, for the same windows, in the same order with their calls. In
 * a group, a window also counts for the group's earlier calls.
 * With GC3_SWITCH=1, waits until all ranks have called it, so each rank calls it in its own thread; else does not
 * communicate. With libgc3nccl.so, the registration itself suffices. gc3InvalidArgument: `comm` or `buffer` is null, or
 * the communicator is not one of gc3CommInit.
 */
GC3_API gc3Result_t gc3CommAddWindow(gc3Comm_t comm, void *window, const void *buffer, size_t bytes);

/**
 * Makes later calls of this rank not use the window. Call this before the window is deregistered. gc3InvalidArgument:
 * null, or the communicator is not one of gc3CommInit.
 */
GC3_API gc3Result_t gc3CommRemoveWindow(gc3Comm_t comm, void *window);

/* ---- Collectives ---- */

/*
 * A collective call selects a program of the bundle by its collective, the number of ranks, the root, and the size. The
 * size is the bytes of the larger of one rank's input and output. GC3_PROGRAM or a tuner can choose another program.
 * All functions can return these errors: gc3InvalidArgument: a null communicator, a null buffer with elements, unknown
 * type or operation, root out of range, a stream on a host communicator, overlapping buffers, or a size beyond the
 * address space; gc3NoProgram; gc3InvalidUsage; gc3Timeout; gc3Deadlock; gc3SystemError: no memory; gc3BundleCorrupt,
 * gc3BundleInvalid: the sections of the selected program have this error.
 */

/** recvbuff[i] = reduction of all ranks' sendbuff[i]; `count` elements each. */
GC3_API gc3Result_t gc3AllReduce(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3RedOp_t op,
                                 gc3Comm_t comm, gc3Stream_t stream);
/** recvbuff has ranks * count elements. The `count` elements of rank r's sendbuff are copied to r * count. */
GC3_API gc3Result_t gc3AllGather(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3Comm_t comm,
                                 gc3Stream_t stream);
/** sendbuff has ranks * count elements. Rank r receives the reduction of the `count` elements at r * count. */
GC3_API gc3Result_t gc3ReduceScatter(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type,
                                     gc3RedOp_t op, gc3Comm_t comm, gc3Stream_t stream);
/** Copies `count` elements of the root's sendbuff to each rank's recvbuff. Other ranks ignore sendbuff. */
GC3_API gc3Result_t gc3Broadcast(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root,
                                 gc3Comm_t comm, gc3Stream_t stream);
/** On the root, recvbuff[i] = reduction of all ranks' sendbuff[i]. Other ranks ignore recvbuff. */
GC3_API gc3Result_t gc3Reduce(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3RedOp_t op,
                              int root, gc3Comm_t comm, gc3Stream_t stream);
/** Both buffers have ranks * count elements. Block q of rank r is sent to block r of rank q. */
GC3_API gc3Result_t gc3AllToAll(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, gc3Comm_t comm,
                                gc3Stream_t stream);
/** On the root, recvbuff has ranks * count elements. The `count` elements of rank r's sendbuff are copied to r * count.
 * Other ranks ignore recvbuff. */
GC3_API gc3Result_t gc3Gather(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root,
                              gc3Comm_t comm, gc3Stream_t stream);
/** On the root, sendbuff has ranks * count elements. Rank r receives the `count` elements at r * count. Other ranks
 * ignore sendbuff. */
GC3_API gc3Result_t gc3Scatter(const void *sendbuff, void *recvbuff, size_t count, gc3DataType_t type, int root,
                               gc3Comm_t comm, gc3Stream_t stream);

/**
 * Runs a program for this collective, which can be a collective of the application. `collective` is a name, or a name
 * with some or all arguments, by position or by name: "shift", "shift(4, 1)", "shift(by = 1)". gc3ProgramInfo_t.form
 * has all arguments; each argument must have the same text there, except for blanks. All ranks must pass the same text.
 * The programs that have these arguments, for the communicator's number of ranks, must all promise the same, so that a
 * call has one meaning at every size. Otherwise the call returns gc3InvalidArgument, and the error lists their forms.
 * The forms of standard collectives have only a root: "broadcast(root = 1)". Buffers have the numbers of elements that
 * gc3ProgramElements returns; a rank without a buffer can pass any pointer. `op` must be valid, and identical on all
 * ranks. Collectives that do not reduce ignore `op`, with one exception: for a collective that has no function above, a
 * reduction of gc3RedOpCreatePreMulSum multiplies the inputs. If the collective has a function above, a call is in
 * place as defined for that function. Otherwise, it is in place if sendbuff == recvbuff, or if the buffers overlap as
 * the program's alias states.
 */
GC3_API gc3Result_t gc3RunCollective(gc3Comm_t comm, const char *collective, const void *sendbuff, void *recvbuff,
                                     size_t count, gc3DataType_t type, gc3RedOp_t op, gc3Stream_t stream);

/**
 * Like gc3RunCollective, but runs the program with this name, for any size. gc3NoProgram: no program for this number of
 * ranks has this name.
 */
GC3_API gc3Result_t gc3RunProgram(gc3Comm_t comm, const char *program, const void *sendbuff, void *recvbuff,
                                  size_t count, gc3DataType_t type, gc3RedOp_t op, gc3Stream_t stream);

/**
 * Writes the name of the program that a call of this rank would run. The string belongs to the bundle. `collective` is
 * as in gc3RunCollective. `root` is -1 if the collective has none. With online selection, this is the program of a
 * sum that is not in place, tries no other program, and runs while no other communicator of the process is in a call;
 * other calls have their own choices. Errors as for the call. Does not communicate.
 */
GC3_API gc3Result_t gc3SelectProgram(gc3Comm_t comm, const char *collective, size_t count, gc3DataType_t type, int root,
                                     const char **program);

/* ---- Groups ---- */

/** Begins a group: calls of this thread are deferred until the matching gc3GroupEnd. Groups nest; the outermost end
 * runs the calls. */
GC3_API gc3Result_t gc3GroupStart(void);

/**
 * Ends a group. At the outermost end, runs the deferred calls. The k-th calls on the communicators of one group of
 * ranks run together, k = 1, 2, ... Calls on host communicators of different groups of ranks run on concurrent threads,
 * so ranks can make them in different orders. Returns the first error. On host communicators, an error drops the later
 * calls on communicators of the same ranks; calls on other communicators still run. On GPUs all calls run, as if they
 * were made one by one in the order of the group. gc3InvalidUsage: no gc3GroupStart. gc3SystemError: no memory, or no
 * thread.
 */
GC3_API gc3Result_t gc3GroupEnd(void);

#undef GC3_ENUM_TYPE
#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* GC3_H */
