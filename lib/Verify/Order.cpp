// SPDX-License-Identifier: Apache-2.0
// Sorts an order by rank with a counting sort.
#include "Order.h"

using namespace gc3::verify;

RankOrders::RankOrders(const gc3::ir::Program &program, const Order &order)
    : begin(size_t(program.ranks()) + 2), stretches(order.size()) {
  for (const Stretch &stretch : order)
    ++begin[program.threadBlocks[stretch.block].rank + 2];
  for (size_t rank = 2; rank < begin.size(); ++rank)
    begin[rank] += begin[rank - 1];
  for (const Stretch &stretch : order)
    stretches[begin[program.threadBlocks[stretch.block].rank + 1]++] = stretch;
  begin.pop_back();
}
