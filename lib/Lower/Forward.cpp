// SPDX-License-Identifier: Apache-2.0
// Copy forwarding: leaves out a local copy if its only reader is a send, or a receive that combines the copy. The
// reader then reads the copy's source. So a program can add to a copy, to preserve the original, without the cost of
// the copy, and fusion applies. The reader may read the source later than the copy would have read it, so no
// instruction may overwrite the source before the reader runs. This holds if every instruction that depends on the copy
// comes after the reader. This condition also keeps every edge pointing backwards. Linear in instructions and edges.
#include "Stages.h"
#include "Users.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::lower;

namespace {

class Forwarder {
public:
  explicit Forwarder(Unfused &unfused) : unfused(unfused), users(unfused) {}

  void run();

private:
  bool canForward(uint32_t copy) const;
  bool readsJustThis(uint32_t reader, uint32_t copy) const;

  Unfused &unfused;
  const Users users;
};

} // namespace

bool Forwarder::readsJustThis(uint32_t reader, uint32_t copy) const {
  const ChunkOp &op = unfused.operation(reader);
  bool receives = Unfused::isReceiveNumber(reader);
  if (!Unfused::isTransfer(op) || (receives && !unfused.combines(reader)))
    return false;
  if ((receives ? unfused.operand(reader) : unfused.source(reader)) != unfused.target(copy))
    return false;
  bool just = true;
  unfused.eachDependency(reader, [&](uint32_t on, bool isFalse) { just &= isFalse || on == copy; });
  return just;
}

bool Forwarder::canForward(uint32_t copy) const {
  const ChunkOp &op = unfused.operation(copy);
  if (op.kind != ChunkOpKind::Copy || Unfused::isTransfer(op) || Unfused::isReceiveNumber(copy))
    return false;
  const Directive &directive = unfused.directive(copy);
  bool pinned = directive.sendThreadBlock >= 0 || directive.recvThreadBlock >= 0;
  if (pinned || unfused.wanted[copy] != 0 || users.dataReaders[copy] != 1)
    return false;
  uint32_t reader = users.first[copy];
  bool overwrites = Unfused::isReceiveNumber(reader) && unfused.target(reader) == unfused.target(copy);
  return readsJustThis(reader, copy) && (overwrites || !overwritesSent(unfused, copy));
}

void Forwarder::run() {
  std::vector<std::pair<uint32_t, uint32_t>> found; // copies and their readers
  for (uint32_t number = 0; number != unfused.size(); number += 2)
    if (canForward(number))
      found.emplace_back(number, users.first[number]);
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
