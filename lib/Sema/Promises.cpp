// SPDX-License-Identifier: Apache-2.0
// Rows that are shared until they differ.
#include "Promises.h"
#include "gc3/IR/Collective.h"
#include <algorithm>

using namespace gc3::sema;
using gc3::ir::Postcondition;

void Promises::reset(uint32_t ranks, uint32_t width) {
  common.values.assign(width, Postcondition::Anything);
  common.clauseOf.assign(width, 0);
  rows.clear();
  own.assign(ranks, Common);
}

static void setIn(Promises::Row &row, uint32_t index, uint32_t value, uint16_t clause) {
  row.values[index] = value;
  row.clauseOf[index] = clause;
}

void Promises::set(uint32_t rank, uint32_t index, uint32_t value, uint16_t clause) {
  if (own[rank] == Common) {
    own[rank] = static_cast<uint32_t>(rows.size());
    rows.push_back(common);
  }
  setIn(rows[own[rank]], index, value, clause);
}

bool Promises::setEverywhere(uint32_t index, uint32_t value, uint16_t clause) {
  auto isFree = [&](const Row &row) { return row.values[index] == Postcondition::Anything; };
  if (!isFree(common) || !std::all_of(rows.begin(), rows.end(), isFree))
    return false;
  setIn(common, index, value, clause);
  for (Row &row : rows)
    setIn(row, index, value, clause);
  return true;
}
