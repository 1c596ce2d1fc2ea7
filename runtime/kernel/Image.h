// SPDX-License-Identifier: Apache-2.0
// The data that a kernel reads: a program in device memory (written once), the state of connections (persists across
// calls), and the arguments of one call (kernel arguments, which a replayed graph repeats).
#pragma once

#include "kernel/OpcodeFlags.h"
#include "kernel/Words.h"

namespace gc3::kernel {

/// The layout of messages in FIFO slots, and how a receiver detects a message.
enum class Protocol : uint8_t {
  Simple, ///< the sender stores the data, then increases a counter
  LL,     ///< each store has 4 bytes of data and 4 bytes of flag
  LL128,  ///< each line of 128 bytes has 120 bytes of data and 8 of flag; needs a link that does not tear lines
};
inline constexpr uint32_t protocolCount = 3;

/// The reach of a fence or a strong access: the threads of one GPU, or the whole system.
enum class Scope : uint8_t { Gpu, System };

/// A buffer of a rank, as steps name it. All scratch buffers together are one buffer. A step that uses an aliased
/// buffer names the buffer that contains it.
enum class Buffer : uint8_t { Input, Output, Scratch };
inline constexpr uint32_t bufferKinds = 3;

/// One instruction. Counts and positions are in slots of the rank's buffers.
struct alignas(16) StepImage {
  OpcodeFlags flags;
  Buffer source;
  Buffer target;
  bool isAwaited; ///< another thread block of the rank waits for this step
  uint32_t count; ///< slots moved; 1 if the step only waits for a message that has no slot
  uint32_t sourceSlot;
  uint32_t targetSlot;
  uint32_t firstWait;
  uint32_t waitCount;
  uint32_t peerSlot; ///< if the step sends directly: the message's place in buffer `peerTarget` of the receiver
  Buffer peerTarget;
  uint8_t peer;     ///< the receiver's index in KernelArgs::memory
  OpcodeFlags data; ///< if the step is for calls over the switch: the data that it moves. `flags` has its signals
  uint8_t switched; ///< loadsOverSwitch, storesOverSwitch
};

/// The versions of a thread block's steps, as bits. A call uses the version with a bit if the messages of that
/// connection go directly, where they can. The last version is for calls over the switch.
inline constexpr uint32_t receivesDirectly = 1, sendsDirectly = 2, switchVersion = 4, stepVersions = 5;

/// The operands of a step that are in the memory of all ranks of the team at once, as bits: the switch combines what it
/// loads from the source, and stores to the targets.
inline constexpr uint8_t loadsOverSwitch = 1, storesOverSwitch = 2;

/// A wait for thread block `block` of the same rank to complete its step `step` of the same tile.
struct alignas(16) WaitImage {
  uint32_t block;
  uint32_t step;
  uint32_t stepCount; ///< steps of thread block `block`
};

/// A signal of a rank. Each context has its own signal ids, from 0. Each slot has its own arrival signal. The network
/// does not order puts to different slots, so a shared signal could count a later message first.
struct Signal {
  uint32_t context;
  uint32_t id;
};
struct NetworkSend {
  uint32_t peer;
  Signal arrived;     ///< the peer's signal for arrivals in the first slot; the ids for the other slots follow
  Signal freed;       ///< this rank's signal for free slots
  const void *window; ///< the NCCL window in which both ranks have a part
  uint64_t from, to;  ///< byte offsets of the first slot: in this rank's part of the window, in the peer's part
};
struct NetworkReceive {
  uint32_t peer;
  Signal arrived; ///< this rank's signal for arrivals in the first slot
  Signal freed;   ///< the peer's signal for free slots
};

/// A rank announces to the other end of a connection where its receive buffer is (KernelArgs::place), and then the
/// number of the connection's next message. Both lie after the counter that the rank publishes to this end, at these
/// indices of 64-bit words.
inline constexpr uint32_t placeWord = 2, announcementWord = 3;

/// The two ends of a connection. Counters count messages since the connection was created and never decrease. The
/// waiting side polls memory of its own rank; the signalling side stores to memory of the peer. Peers on the same GPU
/// and peers across NVLink differ only in addresses.
///
/// Over a network (GIN) the peer's memory has no addresses here. The sender has slots of its own, and puts messages
/// from them into the receiver's slots. Signals, to which the network adds, count arrivals and free slots.
struct SendEnd {
  std::byte *slots;      ///< FIFO slots at the receiver; over a network, the sender's own slots
  uint64_t *arrived;     ///< at the receiver, Simple only: number of messages sent
  const uint64_t *freed; ///< at this rank: number of messages whose slots are free again
  uint64_t *sent; ///< at this rank, used only by this thread block: messages sent before this call; null: no connection
  const NetworkSend *network; ///< null if the peer's memory has addresses here
};
struct ReceiveEnd {
  const std::byte *slots;  ///< FIFO slots at this rank
  const uint64_t *arrived; ///< at this rank, Simple only: number of messages sent
  uint64_t *freed;         ///< at the sender: number of messages whose slots are free again
  uint64_t *received; ///< at this rank, used only by this thread block: messages received before this call; null: no
                      ///< connection
  const NetworkReceive *network; ///< null if the peer's memory has addresses here
  uint32_t batch;                ///< number of free slots to return at a time; the end of a call returns the rest
};

/// The dependency that a thread block waited for when the host stopped it. Receiver and Sender: the begin of the peer's
/// call. Place: a peer whose receive buffer is at another place, in a call over the switch.
enum class Waiting : uint32_t { Nothing, Step, Message, Slot, Data, Receiver, Sender, Place };
struct Report {
  Waiting what;
  uint32_t step; ///< number within the thread block
  uint64_t tile;
};

/// The times of a step in nanoseconds, by the GPU's clock. `begin` is the time when all dependencies are met; under LL
/// and LL128 the step can still wait for data then. `end` is the time when the data has been moved. All fields are 0 if
/// no step is recorded here.
struct alignas(16) StepTimes {
  uint64_t step; ///< number within the thread block
  uint64_t tile;
  uint64_t begin, end;
};

/// When a block of the grid begins and ends, by the GPU's clock in nanoseconds. 0: it has not begun or ended.
struct BlockTimes {
  uint64_t begin, end;
};

/// The thread block that a block of the grid runs. One record has all of this, so that a kernel starts after few loads
/// that depend on each other.
struct alignas(16) BlockImage {
  const StepImage *steps; ///< of this thread block, in the first version
  const WaitImage *waits; ///< of the rank
  uint64_t *progress;     ///< of the rank, indexed by thread block: steps completed since the program was loaded
  uint64_t *tiles;        ///< used only by this thread block: tiles completed before this call
  Report *report;
  const void *network; ///< the machine's state for the network; null: no network
  SendEnd out;
  ReceiveEnd in;
  uint32_t rank;  ///< within the launch
  uint32_t block; ///< within the rank
  uint32_t stepCount;
  uint32_t stepsOfVersion; ///< distance between two versions of a step
};

/// The shape of a buffer. Within a block, slots begin `slotElements` apart. The last slots of a block can be short or
/// empty (docs/bundle.md).
struct Shape {
  uint64_t blockElements;
  uint32_t slotsPerBlock;
};

struct RankBuffers {
  std::byte *buffers[bufferKinds];
};

/// A rank's place of its receive buffer: a number that is equal on two ranks if the buffers have the same offset in the
/// same window of a communicator (comm/UserWindows.h).
enum class Place : uint64_t {
  NotCompared, ///< ranks do not compare places in this call, and use the first version of all steps
  Nowhere      ///< the buffer is not in a window
};
/// A bit of all places of a call over the switch.
inline constexpr uint64_t switchPlaces = uint64_t{1} << 63;

/// Limit on the ranks of one launch. It bounds the size of KernelArgs. StepImage::peer has 8 bits.
inline constexpr uint32_t maxRanksPerLaunch = 32;
/// The index in KernelArgs::memory of the addresses at which the switch accesses all ranks. Only outputs have one.
inline constexpr uint32_t switchMemory = maxRanksPerLaunch - 1;

/// The arguments of a launch.
struct KernelArgs {
  const BlockImage *blocks; ///< indexed by block of the grid
  const uint32_t *stop;     ///< host memory: not 0 if all blocks must end at once
  uint64_t *running; ///< host memory, one word per grid block: 0 if idle, else a number that differs between calls;
                     ///< null: no watchdog
  Shape shapes[bufferKinds];
  uint64_t slotElements;
  uint64_t tileElements; ///< elements of one tile in each slot that a message moves
  uint64_t tiles;
  uint64_t slotBytes;   ///< bytes of a FIFO slot, including flags
  uint64_t tileStride;  ///< data bytes between the tiles of consecutive slots in a message
  StepTimes *records;   ///< a ring for each block of the grid, in grid order; null: nothing is recorded
  BlockTimes *times;    ///< host memory, one for each block of the grid; null: the launch is not timed
  uint32_t ringRecords; ///< records in a ring, a power of two
  uint32_t slots;       ///< FIFO slots of each connection
  Operation op;
  Scope peers; ///< scope of accesses between the ends of a connection: Gpu if one launch runs both ends. Ranks that
               ///< share a GPU under NCCL see the same memory at different addresses, so they need System
  Place place; ///< the place of the launch's only rank; NotCompared if there are several ranks
  /// Indexed by rank of the launch. If ranks compare places, the only rank has index 0. The peers to which it sends
  /// directly follow, with the addresses of their outputs. The last index is switchMemory.
  RankBuffers memory[maxRanksPerLaunch];
};

} // namespace gc3::kernel
