// SPDX-License-Identifier: Apache-2.0
#include "FakeKernels.h"

#include "host/Reduce.h"
#include "ptx/Alone.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace gc3::test {

using core::ElementType;
using cuda::Launch;
using kernel::Protocol;

const Kernel *kernel(const Kernel &wanted) {
  static const auto &all = *new std::vector<Kernel>([] { // never destroyed: threads can call while the process exits
    std::vector<Kernel> kernels;
    for (auto kind : {Kernel::Kind::Interpreter, Kernel::Kind::NetworkInterpreter, Kernel::Kind::SwitchInterpreter,
                      Kernel::Kind::Multiply, Kernel::Kind::Divide, Kernel::Kind::Clock})
      for (unsigned type = 0; type < core::elementTypeCount; ++type)
        for (auto protocol : {Protocol::Simple, Protocol::LL, Protocol::LL128})
          kernels.push_back({kind, static_cast<ElementType>(type), protocol});
    return kernels;
  }());
  return &*std::find_if(all.begin(), all.end(), [&](const Kernel &known) {
    return known.kind == wanted.kind && known.type == wanted.type && known.protocol == wanted.protocol;
  });
}

const void *interpreter(ElementType type, Protocol protocol) {
  return kernel({Kernel::Kind::Interpreter, type, protocol});
}

const void *switchInterpreter(ElementType type) {
  const bool isReduced = type == ElementType::Half || type == ElementType::Float || type == ElementType::Bfloat16;
  return isReduced ? kernel({Kernel::Kind::SwitchInterpreter, type, Protocol::Simple}) : nullptr;
}

const void *multiply(ElementType type) {
  return kernel({Kernel::Kind::Multiply, type, Protocol::Simple});
}

const void *divide(ElementType type) {
  return core::isInteger(type) ? kernel({Kernel::Kind::Divide, type, Protocol::Simple}) : nullptr;
}

const void *clockKernel() {
  return kernel({Kernel::Kind::Clock, ElementType::Uint64, Protocol::Simple});
}

MoveArguments argumentsOf(const Launch &launch) {
  void **from = launch.arguments;
  MoveArguments arguments{*static_cast<std::byte **>(from[0]),
                          *static_cast<const std::byte **>(from[1]),
                          *static_cast<uint64_t *>(from[2]),
                          {},
                          0};
  if (static_cast<const Kernel *>(launch.kernel)->kind == Kernel::Kind::Multiply)
    arguments.factor = {*static_cast<uint64_t *>(from[3]), *static_cast<const void **>(from[4])};
  else
    arguments.contributions = *static_cast<uint32_t *>(from[3]);
  return arguments;
}

/// Runs the PTX of a kernel that scales elements.
static void movePtx(ptx::Library &library, const Kernel &kernel, const MoveArguments &of) {
  const auto addressOf = [](const void *at) { return reinterpret_cast<uint64_t>(at); };
  std::vector<uint64_t> arguments{addressOf(of.to), addressOf(of.from), of.elements};
  if (kernel.kind == Kernel::Kind::Multiply)
    arguments.push_back(of.factor.bits), arguments.push_back(addressOf(of.factor.address));
  else
    arguments.push_back(of.contributions);
  ptx::runAlone(kernel.kind == Kernel::Kind::Multiply ? library.multiply(kernel.type) : library.divide(kernel.type), 1,
                32, arguments, [] { return uint64_t{0}; });
}

void move(const Kernel &kernel, const MoveArguments &of) {
  if (ptx::Library *library = ptx::Library::chosen())
    return movePtx(*library, kernel, of);
  if (kernel.kind == Kernel::Kind::Multiply)
    return host::multiply(kernel.type, of.to, of.from, of.elements, of.factor);
  std::memmove(of.to, of.from, of.elements * core::elementSize(kernel.type));
  host::divideForAverage(kernel.type, of.to, of.elements, of.contributions);
}

} // namespace gc3::test
