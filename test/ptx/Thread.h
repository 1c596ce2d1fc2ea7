// SPDX-License-Identifier: Apache-2.0
// A thread that executes the PTX of a kernel on a machine.
#pragma once

#include "Machine.h"
#include "Module.h"

#include <cstring>
#include <span>

namespace gc3::ptx {

/// What the threads of a block share.
struct BlockMemory {
  std::span<const std::byte> parameters;
  std::span<std::byte> shared;
  uint32_t blocks; ///< of the launch
};

class Thread {
public:
  Thread(const Module &module, const Kernel &kernel, const BlockMemory &memory, Machine &machine);

  /// Executes the kernel. Throws a Fault that names the line and the instruction.
  void run();

  /// Returns the lowest bits of an operand.
  template <typename T>
  T get(const Instruction &of, uint32_t operand) const {
    T value;
    std::memcpy(&value, &registers[of.operands[operand]], sizeof value);
    return value;
  }
  template <typename T>
  void set(const Instruction &of, uint32_t operand, T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    registers[of.operands[operand]] = bits;
  }

  void load(const Instruction &of);
  void store(const Instruction &of);
  void jump(const Instruction &of) { next = of.target; }
  void end() { hasEnded = true; }

  Machine &machine;
  const BlockMemory &memory;

private:
  /// A place that an instruction accesses. `space` is never Generic.
  struct Place {
    Space space;
    uint64_t at; ///< a host address
  };
  Place placeOf(const Instruction &of, uint64_t address) const;
  void loadGlobal(const Access &access, const std::byte *at, void *value);
  void storeGlobal(const Access &access, std::byte *at, const void *value);

  const Module &module;
  const Kernel &kernel;
  std::vector<uint64_t> registers;
  uint32_t next = 0; ///< number of the next instruction
  bool hasEnded = false;
};

} // namespace gc3::ptx
