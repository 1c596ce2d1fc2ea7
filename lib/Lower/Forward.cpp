// SPDX-License-Identifier: Apache-2.0
// Copy forwarding: leaves out a local copy if its only reader is a send, or a receive that reduces into the copy. The
// reader then reads the copy's source. So a program can add to a copy, to preserve the original, without the cost of
// the copy, and fusion applies. The reader may read the source later than the copy would have read it, so no
// instruction may overwrite the source before the reader runs. This holds if every instruction that depends on the copy
// comes after the reader. This condition also keeps every edge pointing backwards. Linear in instructions and edges.
#include "Stages.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::lower;

namespace {

class Forwarder {
public:
  explicit Forwarder(Unfused &unfused) : unfused(unfused) {}

  void run();

private:
  void findUsers();
  bool canForward(uint32_t copy) const;
  bool overwritesSent(uint32_t copy) const;
  bool readsJustThis(uint32_t reader, uint32_t copy) const;

  Unfused &unfused;
  std::vector<uint32_t> firstUser;  // by number: the first number with an edge to it
  std::vector<uint8_t> dataReaders; // number of true edges to a number, at most 2
};

} // namespace

void Forwarder::findUsers() {
  firstUser.assign(unfused.size(), None);
  dataReaders.assign(unfused.size(), 0);
  for (uint32_t number = 0; number != unfused.size(); ++number) {
    unfused.eachDependency(number, [&](uint32_t on, bool isFalse) {
      firstUser[on] = std::min(firstUser[on], number);
      dataReaders[on] = static_cast<uint8_t>(std::min(dataReaders[on] + int(!isFalse), 2));
    });
  }
}

bool Forwarder::readsJustThis(uint32_t reader, uint32_t copy) const {
  const ChunkOp &op = unfused.operation(reader);
  bool receives = Unfused::isReceiveNumber(reader);
  if (!Unfused::isTransfer(op) || (receives && op.kind != ChunkOpKind::Reduce))
    return false;
  if ((receives ? unfused.operand(reader) : unfused.source(reader)) != unfused.target(copy))
    return false;
  bool just = true;
  unfused.eachDependency(reader, [&](uint32_t on, bool isFalse) { just &= isFalse || on == copy; });
  return just;
}

/// Returns true if the copy overwrites slots from which a message was sent. The scheduler can split a fused send again.
/// Then only instructions that write these slots are ordered after the send.
bool Forwarder::overwritesSent(uint32_t copy) const {
  bool overwrites = false;
  unfused.eachDependency(copy, [&](uint32_t on, bool isFalse) { overwrites |= isFalse && unfused.isSend(on); });
  return overwrites;
}

bool Forwarder::canForward(uint32_t copy) const {
  const ChunkOp &op = unfused.operation(copy);
  if (op.kind != ChunkOpKind::Copy || Unfused::isTransfer(op) || Unfused::isReceiveNumber(copy))
    return false;
  const Directive &directive = unfused.directive(copy);
  bool pinned = directive.sendThreadBlock >= 0 || directive.recvThreadBlock >= 0;
  if (pinned || unfused.wanted[copy] != 0 || dataReaders[copy] != 1)
    return false;
  uint32_t reader = firstUser[copy];
  return readsJustThis(reader, copy) && !(unfused.isSend(reader) && overwritesSent(copy));
}

void Forwarder::run() {
  findUsers();
  std::vector<std::pair<uint32_t, uint32_t>> found; // copies and their readers
  for (uint32_t number = 0; number != unfused.size(); number += 2)
    if (canForward(number))
      found.emplace_back(number, firstUser[number]);
  if (found.empty())
    return;
  unfused.forwarded.assign(unfused.size(), None);
  for (auto [copy, reader] : found) {
    unfused.forwarded[copy] = reader;
    unfused.forwarded[reader] = copy;
  }
}

void gc3::lower::forwardCopies(Unfused &unfused) {
  bool copiesLocally = std::any_of(unfused.chunks.ops.begin(), unfused.chunks.ops.end(), [](const ChunkOp &op) {
    return op.kind == ChunkOpKind::Copy && !Unfused::isTransfer(op);
  });
  if (copiesLocally)
    Forwarder(unfused).run();
}
