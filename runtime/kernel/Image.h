// SPDX-License-Identifier: Apache-2.0
// What a kernel reads: a program as it lies in device memory (written once), the state of connections that goes on from
// call to call, and the numbers of one call (kernel arguments, which a replayed graph repeats).
#pragma once

#include "kernel/Words.h"

namespace gc3::kernel {

inline constexpr uint32_t none = UINT32_MAX;

/// How messages are laid out in FIFO slots, and how their receiver knows that they are there.
enum class Protocol : uint8_t {
  Simple, ///< data, then a counter
  LL,     ///< 4 bytes of data and 4 of flag in each store
  LL128,  ///< 120 bytes of data and 8 of flag in each line of 128; needs a link that keeps lines whole
};
inline constexpr uint32_t protocolCount = 3;

/// How far a fence or a strong access reaches: what shares the GPU, or all of the machine.
enum class Scope : uint8_t { Gpu, System };

/// Buffers of a rank as steps name them. All scratch buffers are one, and an aliased buffer is the one that contains
/// it.
enum class Buffer : uint8_t { Input, Output, Scratch };
inline constexpr uint32_t bufferKinds = 3;

/// One instruction. Slots are those of the rank's buffers.
struct alignas(8) StepImage {
  uint8_t opcode; ///< common::Opcode
  Buffer source;
  Buffer target;
  uint8_t awaited; ///< some thread block of the rank waits for it
  uint32_t count;  ///< slots moved
  uint32_t sourceSlot;
  uint32_t targetSlot;
  uint32_t firstWait;
  uint32_t waitCount;
};

/// Waits until thread block `block` of the same rank has done its step `step` of the same tile.
struct alignas(16) WaitImage {
  uint32_t block;
  uint32_t step;
  uint32_t stepCount; ///< of the thread block
};

struct ThreadBlockImage {
  uint32_t firstStep;
  uint32_t stepCount;
  uint32_t outgoing; ///< index in Rank::sends, or none
  uint32_t incoming; ///< index in Rank::receives, or none
};

/// The two ends of a connection. Counters count messages since the connection was made and never go back. Who waits
/// polls memory of its own rank; who tells stores into memory of the peer. So the same code serves a rank on the same
/// GPU and one behind NVLink; only addresses differ.
///
/// Over a network (GIN) there are no addresses at the peer. The sender has slots of its own, from which messages are
/// put into the receiver's, and counters are signals, which the network adds to.
struct SendEnd {
  std::byte *slots;      ///< the FIFO, at the receiver; over a network the sender's own slots
  uint64_t *arrived;     ///< at the receiver, Simple only: messages sent
  const uint64_t *freed; ///< here: messages whose slots may be used again
  uint64_t *sent;        ///< here, nobody else's: messages sent before this call
  uint32_t network;      ///< index in Rank::networkSends, or none
};
struct ReceiveEnd {
  const std::byte *slots;  ///< here
  const uint64_t *arrived; ///< here
  uint64_t *freed;         ///< at the sender
  uint64_t *received;      ///< here, nobody else's: messages received before this call
  uint32_t network;        ///< index in Rank::networkReceives, or none
};

/// A signal of a rank; signals count per context. Each slot has its own for what has arrived: nothing orders what the
/// network does for one slot with what it does for another, so a common one might tell of the later message first.
struct Signal {
  uint32_t context;
  uint32_t id;
};
struct NetworkSend {
  uint32_t peer;
  Signal arrived;     ///< the peer's, of the first slot; ids of others follow
  Signal freed;       ///< ours
  const void *window; ///< that both ranks have a part of
  uint64_t from, to;  ///< of the first slot, from the beginning of our part and of the peer's
};
struct NetworkReceive {
  uint32_t peer;
  Signal arrived;     ///< ours, of the first slot
  Signal freed;       ///< the peer's
  uint32_t batch;     ///< slots are given back so many at a time, and at the end of a call
  uint64_t *credited; ///< here, nobody else's: slots given back before this call
};

/// What a thread block waited for when it was told to stop.
enum class Waiting : uint32_t { Nothing, Step, Message, Slot, Data };
struct Report {
  Waiting what;
  uint32_t step; ///< within the thread block
  uint64_t tile;
};

/// When a step ran, by the GPU's clock: nanoseconds. From when all that it needs is there, under LL and LL128 but for
/// the data, to when its data is moved. Zeros: there was none.
struct alignas(16) StepTimes {
  uint64_t step; ///< within the thread block
  uint64_t tile;
  uint64_t begin, end;
};

/// One rank's part of a program.
struct RankImage {
  const StepImage *steps;
  const WaitImage *waits;
  const ThreadBlockImage *blocks;
  const SendEnd *sends;
  const ReceiveEnd *receives;
  const NetworkSend *networkSends;
  const NetworkReceive *networkReceives;
  const void *network; ///< what the machine has to know of it; null: there is none
  uint64_t *progress;  ///< by thread block: steps done since the program was loaded, over all calls and tiles
  uint64_t *tiles;     ///< by thread block, nobody else's: tiles done before this call
  Report *reports;     ///< by thread block
};

/// Slots of a buffer: `slotElements` apart within a block, the last ones of a block short or empty (docs/bundle.md).
struct Shape {
  uint64_t blockElements;
  uint32_t slotsPerBlock;
};

struct RankBuffers {
  std::byte *buffers[bufferKinds];
};

/// A block of the grid: which thread block of which rank of the launch it is.
struct Seat {
  uint32_t rank;
  uint32_t block;
};

/// More than a GPU has room for, with a block or more for each.
inline constexpr uint32_t maxRanksPerLaunch = 32;

/// The arguments of a launch.
struct KernelArgs {
  const RankImage *ranks; ///< those of the launch
  const Seat *seats;      ///< by block of the grid
  const uint32_t *stop;   ///< host memory: not 0 if all blocks have to end at once
  uint64_t *running; ///< host memory, by block of the grid: 0, or in each of its calls another number while it is in
                     ///< that; null: nobody watches
  Shape shapes[bufferKinds];
  uint64_t slotElements;
  uint64_t tileElements; ///< of each slot that a message moves, in one tile
  uint64_t tiles;
  uint64_t slotBytes;   ///< of a FIFO slot, flags included
  uint64_t pieceStride; ///< bytes of data in a message from one slot's tile to the next one's
  StepTimes *records;   ///< a ring for each block of the grid, in its order; null: nothing is recorded
  uint32_t ringRecords; ///< a power of two
  uint32_t slots;       ///< of each connection
  Operation op;
  Scope peers; ///< of what both ends of a connection do: Gpu where they are of one launch. Ranks that share a GPU
               ///< behind NCCL see memory at addresses of their own, which only System covers
  RankBuffers memory[maxRanksPerLaunch]; ///< by rank of the launch
};

} // namespace gc3::kernel
