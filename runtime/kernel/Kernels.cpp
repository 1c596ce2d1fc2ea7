// SPDX-License-Identifier: Apache-2.0
#include "kernel/Kernels.h"

namespace gc3::kernel {

using core::ElementType;

const void *kernelFor(ElementType type, Protocol protocol) {
  switch (type) {
  case ElementType::Int8: return kernelsInt8(protocol);
  case ElementType::Uint8: return kernelsUint8(protocol);
  case ElementType::Int32: return kernelsInt32(protocol);
  case ElementType::Uint32: return kernelsUint32(protocol);
  case ElementType::Int64: return kernelsInt64(protocol);
  case ElementType::Uint64: return kernelsUint64(protocol);
  case ElementType::Half: return kernelsHalf(protocol);
  case ElementType::Float: return kernelsFloat(protocol);
  case ElementType::Double: return kernelsDouble(protocol);
  case ElementType::Bfloat16: return kernelsBfloat16(protocol);
  case ElementType::Float8E4M3: return kernelsFp8e4m3(protocol);
  case ElementType::Float8E5M2: return kernelsFp8e5m2(protocol);
  }
  return nullptr;
}

} // namespace gc3::kernel
