// SPDX-License-Identifier: Apache-2.0
// Merges a receive with a local reduce that is the only reader of the received data. The receive combines the data
// itself and never stores it: `recv -> scratch[0]` and `reduce scratch[0] -> output[0]` become
// `rrc output[0] -> output[0]`. It does not matter which operand was received, because reductions are commutative.
//
// The merged instruction takes the place of the receive. So the reduce's other dependencies must come before the send
// of the message. The scheduler relies on this rule for all receives. Linear in instructions and edges.
#include "Stages.h"
#include "Users.h"

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::lower;

static bool isLocalReduce(const Unfused &unfused, uint32_t number) {
  const ChunkOp &op = unfused.operation(number);
  return op.kind == ChunkOpKind::Reduce && !Unfused::isTransfer(op);
}

/// Returns true if `receive` can replace the local reduce `reduce`, which depends on it.
static bool canMerge(const Unfused &unfused, const Users &users, uint32_t receive, uint32_t reduce) {
  const ChunkOp &op = unfused.operation(receive);
  if (!Unfused::isReceiveNumber(receive) || !Unfused::isTransfer(op) || op.kind != ChunkOpKind::Copy)
    return false;
  bool isTarget = unfused.target(receive) == unfused.target(reduce);
  if (!isTarget && unfused.target(receive) != unfused.source(reduce))
    return false;
  if (users.dataReaders[receive] != 1 || unfused.wanted[receive] != 0)
    return false;
  bool comesEarly = true;
  uint32_t send = receive - 1;
  unfused.eachDependency(reduce, [&](uint32_t on, bool) { comesEarly &= on == receive || on < send; });
  return comesEarly && (isTarget || !overwritesSent(unfused, receive));
}

static uint32_t findReceive(const Unfused &unfused, const Users &users, uint32_t reduce) {
  uint32_t found = None;
  unfused.eachDependency(reduce, [&](uint32_t on, bool isFalse) {
    if (!isFalse && found == None && canMerge(unfused, users, on, reduce))
      found = on;
  });
  return found;
}

void gc3::lower::mergeReceives(Unfused &unfused) {
  bool reducesLocally = std::any_of(unfused.chunks.ops.begin(), unfused.chunks.ops.end(), [](const ChunkOp &op) {
    return op.kind == ChunkOpKind::Reduce && !Unfused::isTransfer(op);
  });
  if (!reducesLocally)
    return;
  const Users users(unfused);
  std::vector<uint32_t> merged(unfused.size(), None);
  for (uint32_t number = 0; number != unfused.size(); number += 2) {
    const Directive &directive = unfused.directive(number);
    bool isManual = directive.sendThreadBlock >= 0 || directive.recvThreadBlock >= 0;
    if (isManual || !isLocalReduce(unfused, number))
      continue;
    if (uint32_t receive = findReceive(unfused, users, number); receive != None) {
      merged[receive] = number;
      merged[number] = receive;
    }
  }
  unfused.merged = std::move(merged);
}
