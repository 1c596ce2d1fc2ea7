// SPDX-License-Identifier: Apache-2.0
#include "Thread.h"

namespace gc3::ptx {

using kernel::Pack;
using kernel::Scope;

namespace {
/// The value of a register that no instruction has written.
constexpr uint64_t unwritten = 0xcdcdcdcdcdcdcdcd;

bool contains(std::span<const std::byte> memory, uint64_t at) {
  return at - reinterpret_cast<uintptr_t>(memory.data()) < memory.size();
}
} // namespace

Thread::Thread(const Module &module, const Kernel &kernel, const BlockMemory &memory, Machine &machine)
    : machine(machine), memory(memory), module(module), kernel(kernel), registers(kernel.registers, unwritten) {
  registers[True] = 1;
  registers[Thread0] = machine.thread();
  registers[Threads0] = machine.threads();
  registers[Block0] = machine.block();
  registers[Blocks0] = memory.blocks;
  registers[Lane] = machine.thread() % kernel::warpLanes;
  std::copy(kernel.constants.begin(), kernel.constants.end(), registers.begin() + specials);
}

void Thread::run() {
  try {
    while (!hasEnded) {
      const Instruction &current = kernel.code[next];
      kernel.executed[next++] = 1;
      if ((registers[current.guard] & 1) != current.isNegated)
        current.execute(*this, current);
    }
  } catch (const std::exception &fault) {
    const uint32_t line = kernel.code[next - 1].line;
    throw Fault(module.path + ":" + std::to_string(line) + ": " + module.lines[line - 1] + ": " + fault.what());
  }
}

/// Checks the alignment and the state space of an access.
Thread::Place Thread::placeOf(const Instruction &of, uint64_t address) const {
  const uint32_t width = of.access.width();
  if (address % width != 0)
    throw Fault("the address " + std::to_string(address) + " is not aligned to " + std::to_string(width));
  Space space = of.access.space;
  if (space == Space::Param || space == Space::Shared) { // addresses in these windows count from 0
    const size_t size = space == Space::Param ? memory.parameters.size() : memory.shared.size();
    if (address > size || size - address < width)
      throw Fault("the offset " + std::to_string(address) + " is beyond the end of this memory");
    const std::byte *begin = space == Space::Param ? memory.parameters.data() : memory.shared.data();
    return {space, reinterpret_cast<uintptr_t>(begin) + address};
  }
  const Space actual = contains(memory.shared, address)       ? Space::Shared
                       : contains(memory.parameters, address) ? Space::Param
                                                              : Space::Global;
  if (space == Space::Global && actual != Space::Global)
    throw Fault("the address is not in global memory");
  return {actual, address};
}

/// Loads with the kind of access that the emulated GPU has for this instruction.
void Thread::loadGlobal(const Access &access, const std::byte *at, void *value) {
  const auto give = [&](const auto &loaded) { std::memcpy(value, &loaded, sizeof loaded); };
  if (access.order == Order::Weak)
    machine.loadWeak(at, value, access.width());
  else if (access.order == Order::Acquire && access.width() == 8)
    give(machine.acquire(reinterpret_cast<const uint64_t *>(at), access.scope));
  else if (access.order == Order::Relaxed && access.scope == Scope::System && access.width() == 4)
    give(machine.loadStopWord(reinterpret_cast<const uint32_t *>(at)));
  else if (access.order == Order::Relaxed && access.scope == Scope::System && access.bytes == 8 && access.count == 2)
    give(machine.loadFlagged(at));
  else if (access.order == Order::Volatile && access.bytes == 8 && access.count == 2)
    give(machine.loadLine(at));
  else
    throw Fault("the emulated GPU has no such load");
}

void Thread::storeGlobal(const Access &access, std::byte *at, const void *value) {
  const auto take = [&](auto stored) {
    std::memcpy(&stored, value, sizeof stored);
    return stored;
  };
  if (access.order == Order::Weak)
    machine.storeWeak(at, value, access.width());
  else if (access.order == Order::Relaxed && access.width() == 8)
    machine.publish(reinterpret_cast<uint64_t *>(at), take(uint64_t{}), access.scope);
  else if (access.order == Order::Relaxed && access.scope == Scope::System && access.bytes == 8 && access.count == 2)
    machine.storeFlagged(at, take(Pack{}));
  else if (access.order == Order::Volatile && access.bytes == 8 && access.count == 2)
    machine.storeLine(at, take(Pack{}));
  else
    throw Fault("the emulated GPU has no such store");
}

/// The operands are the registers of the elements, then the address.
void Thread::load(const Instruction &of) {
  const Access &access = of.access;
  std::array<std::byte, 16> value;
  const Place place = placeOf(of, get<uint64_t>(of, access.count) + static_cast<uint64_t>(of.offset));
  const auto *at = reinterpret_cast<const std::byte *>(place.at);
  if (place.space == Space::Global)
    loadGlobal(access, at, value.data());
  else if (access.order == Order::Weak)
    std::memcpy(value.data(), at, access.width());
  else
    throw Fault("a strong access to memory that no other block has");
  for (uint32_t i = 0; i < access.count; ++i) {
    uint64_t element = 0;
    std::memcpy(&element, value.data() + i * access.bytes, access.bytes);
    const uint32_t unused = 64 - 8 * access.bytes;
    set(of, i, access.isSigned ? static_cast<uint64_t>(static_cast<int64_t>(element << unused) >> unused) : element);
  }
}

/// The operands are the address, then the elements.
void Thread::store(const Instruction &of) {
  const Access &access = of.access;
  std::array<std::byte, 16> value;
  for (uint32_t i = 0; i < access.count; ++i)
    std::memcpy(value.data() + i * access.bytes, &registers[of.operands[1 + i]], access.bytes);
  const Place place = placeOf(of, get<uint64_t>(of, 0) + static_cast<uint64_t>(of.offset));
  auto *at = reinterpret_cast<std::byte *>(place.at);
  if (place.space == Space::Global)
    storeGlobal(access, at, value.data());
  else if (place.space == Space::Shared && access.order == Order::Weak)
    std::memcpy(at, value.data(), access.width());
  else
    throw Fault("no thread may store like this here");
}

} // namespace gc3::ptx
