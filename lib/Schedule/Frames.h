// SPDX-License-Identifier: Apache-2.0
// Frames are thread blocks under construction. A connection (source, destination, channel) has one sending and one
// receiving frame. A fused instruction needs one frame for both its incoming and its outgoing connection. A manual
// thread block number, with the parallel instance, pins a frame. Every change can be undone, so that a channel can be
// tried for a whole chain.
#pragma once

#include "gc3/IR/InstructionDag.h"
#include "gc3/Support/PackedKey.h"
#include "llvm/ADT/DenseMap.h"
#include <algorithm>

namespace gc3::schedule {

using ir::None;

/// One copy of a manual thread block: each parallel instance has its own copy of the block with a number.
struct Pin {
  int32_t number = -1; ///< negative: no manual thread block
  uint32_t instance = 0;
  explicit operator bool() const { return number >= 0; }
  bool operator==(const Pin &) const = default;
};

/// Packs a rank and a pin. Ranks and numbers have less than 20 bits, and instances at most 20.
inline uint64_t keyOf(uint32_t rank, Pin pin) {
  return uint64_t(rank) << 40 | uint64_t(static_cast<uint32_t>(pin.number)) << 20 | pin.instance;
}

/// Returns the pin of a local operation, which runs in one thread block.
inline Pin pinOfLocal(const ir::Directive &directive, uint32_t instance) {
  return {std::max(directive.sendThreadBlock, directive.recvThreadBlock), instance};
}

struct Connection {
  uint32_t source;
  uint32_t destination;
  uint32_t channel;
  uint32_t sendFrame = None;
  uint32_t recvFrame = None;
};

struct Frame {
  uint32_t rank;
  uint32_t channel;
  uint32_t sendConnection = None;
  uint32_t recvConnection = None;
  Pin pin;
  uint32_t directive; ///< directive of the first message or local operation of the frame
  uint32_t site;
  bool merged = false; ///< true: merged into another frame, so this frame is unused
};

/// Identifies a connection by its ends and its channel.
struct ConnectionKey {
  uint32_t source;
  uint32_t destination;
  uint32_t channel;
  bool operator==(const ConnectionKey &) const = default;
};

/// Traits for llvm::DenseMap. LLVM's own hash of numbers and pairs puts all connections to one rank into one bucket.
/// With this hash, connections between four neighbouring sources and four neighbouring destinations share cache lines.
/// Programs mostly create such connections one after another.
struct ConnectionKeyInfo {
  static ConnectionKey getEmptyKey() { return {None, None, 0}; }
  static ConnectionKey getTombstoneKey() { return {None, None, 1}; }
  static unsigned getHashValue(const ConnectionKey &key) {
    uint64_t hash = (uint64_t(key.source / 4) << 32 | key.destination / 4) + key.channel * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93ull;
    return static_cast<unsigned>(hash >> 32) << 4 | (key.source % 4) << 2 | key.destination % 4;
  }
  static bool isEqual(const ConnectionKey &a, const ConnectionKey &b) { return a == b; }
};

class Frames {
public:
  explicit Frames(uint32_t ranks) : frameCounts(ranks), outgoing(ranks), incoming(ranks) {}

  /// Requirements of one instruction on its frame.
  struct Request {
    uint32_t rank;
    uint32_t channel;
    uint32_t recvConnection = None;
    uint32_t sendConnection = None;
    Pin pin = {};
    uint32_t directive;
    uint32_t site;
  };

  uint32_t connection(uint32_t source, uint32_t destination, uint32_t channel);

  /// Finds or makes a frame that meets the requirements. Returns false if no frame can: then a rollback to a mark from
  /// before the call undoes everything that this call changed.
  bool place(const Request &request);

  /// Moves the connections of frame `b` to frame `a`. Both frames must be on one rank and channel and unpinned, and
  /// must not conflict.
  void join(uint32_t a, uint32_t b);

  /// Returns the frame of a manual thread block, or None.
  uint32_t pinned(uint32_t rank, Pin pin) const;

  size_t mark() const { return log.size(); }
  void rollBack(size_t mark);
  void commit() { log.clear(); } ///< keeps all changes; earlier marks become invalid

  uint32_t framesOn(uint32_t rank) const { return frameCounts[rank]; }
  /// Returns the smallest number of frames on the rank that joining can lead to. A frame has at most one connection per
  /// direction.
  uint32_t fewestOn(uint32_t rank) const { return std::max(outgoing[rank], incoming[rank]); }
  const std::vector<Frame> &all() const { return frames; }
  const std::vector<Connection> &connections() const { return links; }

private:
  struct Change {
    enum Kind : uint8_t { FrameChanged, FrameAdded, ConnectionChanged, ConnectionAdded, PinAdded } kind;
    uint32_t index;
    Frame frame;
    Connection connection;
  };
  void change(uint32_t frame) { log.push_back({Change::FrameChanged, frame, frames[frame], {}}); }
  void changeConnection(uint32_t index) { log.push_back({Change::ConnectionChanged, index, {}, links[index]}); }
  bool alreadyThere(const Request &request) const;
  bool merge(uint32_t &into, uint32_t from);
  bool fill(uint32_t frame, const Request &request);
  uint32_t add(const Request &request);

  std::vector<Frame> frames;
  std::vector<Connection> links;
  std::vector<uint32_t> frameCounts; // by rank
  std::vector<uint32_t> outgoing;    // by rank: number of connections that begin there
  std::vector<uint32_t> incoming;    // by rank: number of connections that end there
  llvm::DenseMap<ConnectionKey, uint32_t, ConnectionKeyInfo> linkOf;
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> pinOf; // rank and pin → frame
  std::vector<Change> log;
};

} // namespace gc3::schedule
