// SPDX-License-Identifier: Apache-2.0
#include "Reduction.h"

#include <cstring>

namespace gc3::run {

namespace {

using core::ElementType;

/// Returns `value`, which is 1 or 2, as an element of the type. The element begins at the result's first byte.
uint64_t elementOf(ElementType type, uint32_t value) {
  const auto number = static_cast<float>(value);
  uint64_t element = 0;
  const auto set = [&](auto typed) { std::memcpy(&element, &typed, sizeof typed); };
  switch (type) {
  case ElementType::Half: set(core::toHalf(number)); break;
  case ElementType::Bfloat16: set(core::toBfloat16(number)); break;
  case ElementType::Float8E4M3: set(core::toFloat8E4M3(number)); break;
  case ElementType::Float8E5M2: set(core::toFloat8E5M2(number)); break;
  case ElementType::Float: set(number); break;
  case ElementType::Double: set(static_cast<double>(number)); break;
  case ElementType::Int8:
  case ElementType::Uint8: set(static_cast<uint8_t>(value)); break;
  case ElementType::Int32:
  case ElementType::Uint32: set(value); break;
  case ElementType::Int64:
  case ElementType::Uint64: set(uint64_t{value}); break;
  }
  return element;
}

} // namespace

const char *nameOf(Reduction op) {
  return op == Reduction::MulSum ? "mulsum" : core::reduceOpName(static_cast<core::ReduceOp>(op));
}

uint64_t scalarOf(Reduction op, gc3DataType_t type, uint32_t rank) {
  return elementOf(static_cast<ElementType>(type), factorOf(op, rank));
}

Operation::Operation(Reduction reduction, gc3DataType_t type, uint32_t rank, gc3Comm_t ofComm)
    : comm(ofComm), isOwn(reduction == Reduction::MulSum), op(builtIn(reduction)) {
  const uint64_t scalar = scalarOf(reduction, type, rank);
  if (isOwn)
    made = gc3RedOpCreatePreMulSum(&op, &scalar, type, gc3ScalarHostImmediate, comm);
}

Operation::~Operation() {
  if (isOwn && made == gc3Success)
    gc3RedOpDestroy(op, comm);
}

} // namespace gc3::run
