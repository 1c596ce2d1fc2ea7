// SPDX-License-Identifier: Apache-2.0
#include "Launch.h"

#include "host/Reduce.h"
#include "kernel/Interpreter.h"
#include "ptx/Library.h"
#include "ptx/OnGpu.h"
#include "ptx/Thread.h"

#include <cstring>
#include <memory>
#include <type_traits>

namespace gc3::test {

using kernel::Protocol;
using kernel::Word;

namespace {

/// The host's reduction, applied to words. `current` belongs to the launch whose thread is running.
struct HostArithmetic {
  host::ReduceKernel kernel;
  size_t size;
  static inline const HostArithmetic *current = nullptr;
  Word combine(Word a, Word b) const {
    Word result = 0;
    kernel(&result, &a, &b, kernel::wordBytes / size);
    return result;
  }
};
template <uint32_t Bytes>
struct Arithmetic {
  static constexpr uint32_t elementBytes = Bytes;
  static Word combine(kernel::Operation, Word a, Word b) { return HostArithmetic::current->combine(a, b); }
};

/// Data that a launch uses until it ends.
struct Running {
  kernel::KernelArgs call;
  bool overNetwork;
  HostArithmetic arithmetic;
  std::vector<kernel::BlockShared> shared; ///< for each block
  Scopes scopes;
};

void prepare(Gpu::Machine &machine, Running &running) {
  machine.check(running.scopes);
  if (running.overNetwork)
    machine.connect(*static_cast<const NetworkEnd *>(running.call.blocks[machine.block()].network));
}

template <uint32_t Bytes, Protocol P, bool OverSwitch = false>
void run(Gpu::Machine &machine, Running &running) {
  prepare(machine, running);
  kernel::Interpreter<Gpu::Machine, Arithmetic<Bytes>, P, OverSwitch>(machine, running.shared[machine.block()],
                                                                      running.call)
      .run();
}

using Body = void (*)(Gpu::Machine &, Running &);

template <uint32_t Bytes>
Body bodyFor(Protocol protocol) {
  switch (protocol) {
  case Protocol::Simple: return run<Bytes, Protocol::Simple>;
  case Protocol::LL: return run<Bytes, Protocol::LL>;
  case Protocol::LL128: return run<Bytes, Protocol::LL128>;
  }
  __builtin_unreachable();
}

/// Returns the templates of a kernel for calls over the switch. It has no other element sizes.
Body switchBodyFor(size_t bytes) {
  return bytes == 2 ? run<2, Protocol::Simple, true> : run<4, Protocol::Simple, true>;
}

Body bodyFor(size_t bytes, Protocol protocol) {
  switch (bytes) {
  case 1: return bodyFor<1>(protocol);
  case 2: return bodyFor<2>(protocol);
  case 4: return bodyFor<4>(protocol);
  default: return bodyFor<8>(protocol);
  }
}

/// Executes PTX. Throws a Fault if nvcc and this compiler give the arguments or the shared memory different sizes.
void runPtx(Gpu::Machine &machine, Running &running, const ptx::Entry &entry) {
  if (entry.kernel->parameterBytes != sizeof(kernel::KernelArgs) ||
      entry.kernel->sharedBytes != sizeof(kernel::BlockShared))
    throw ptx::Fault(entry.module->path + ": the sizes of KernelArgs or BlockShared differ from those of the host");
  prepare(machine, running);
  ptx::OnGpu onGpu(machine);
  const ptx::BlockMemory memory{std::as_bytes(std::span(&running.call, 1)),
                                std::as_writable_bytes(std::span(&running.shared[machine.block()], 1)),
                                static_cast<uint32_t>(running.shared.size())};
  ptx::Thread(*entry.module, *entry.kernel, memory, onGpu).run();
}

/// Returns the code of a thread: PTX if there is any, else the templates.
std::function<void(Gpu::Machine &)> bodyFor(const Grid &grid, const std::shared_ptr<Running> &running) {
  const size_t size = core::elementSize(grid.type);
  if (grid.overSwitch)
    return [running, body = switchBodyFor(size)](Gpu::Machine &machine) { body(machine, *running); };
  if (ptx::Library *library = ptx::Library::chosen(); library && (!grid.overNetwork || library->hasNetwork()))
    return [running, entry = library->interpreter(grid.type, grid.protocol, grid.overNetwork)](Gpu::Machine &machine) {
      runPtx(machine, *running, entry);
    };
  return [running, body = bodyFor(size, grid.protocol)](Gpu::Machine &machine) { body(machine, *running); };
}

} // namespace

uint32_t start(Gpu &gpu, const kernel::KernelArgs &call, const Grid &grid) {
  const size_t size = core::elementSize(grid.type);
  auto running =
      std::make_shared<Running>(Running{call,
                                        grid.overNetwork,
                                        {host::reduceKernel(grid.type, static_cast<core::ReduceOp>(call.op)), size},
                                        {},
                                        {call, grid.protocol, grid.blocks}});
  running->shared.resize(grid.blocks);
  // A GPU does not clear shared memory. So fill it with a byte that makes an unlikely counter, flag or opcode.
  static_assert(std::is_trivially_copyable_v<kernel::BlockShared>);
  std::memset(running->shared.data(), 0xcd, running->shared.size() * sizeof(kernel::BlockShared));
  return gpu.add(
      {grid.blocks, bodyFor(grid, running), call.stop, [running] { HostArithmetic::current = &running->arithmetic; }});
}

bool launch(const kernel::KernelArgs &call, const Grid &grid, uint64_t seed, Gpu::Faults faults, uint32_t &stop) {
  Gpu gpu(grid.threads, seed, faults);
  const uint32_t kernel = start(gpu, call, grid);
  gpu.run();
  const bool moves = gpu.ended(kernel);
  stop = moves ? stop : 1;
  while (!gpu.ended(kernel))
    gpu.run();
  return moves;
}

} // namespace gc3::test
