// SPDX-License-Identifier: Apache-2.0
// Kernels in the form that threads execute: flat arrays of instructions with numbered registers. parse() makes them
// from the text that nvcc writes, in one pass and a second one over the branches.
#pragma once

#include "kernel/Image.h"

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace gc3::ptx {

class Thread;
struct Instruction;
using Execute = void (*)(Thread &, const Instruction &);

/// An instruction or access that PTX or the emulated GPU forbids.
class Fault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Space : uint8_t { Generic, Global, Shared, Param };
enum class Order : uint8_t { Weak, Relaxed, Acquire, Release, Volatile };

/// What a load or store accesses, and how.
struct Access {
  Space space;
  Order order;
  kernel::Scope scope;
  uint8_t bytes; ///< of one element
  uint8_t count; ///< elements of the vector, or 1
  bool isSigned;
  uint32_t width() const { return uint32_t{bytes} * count; }
};

struct Instruction {
  Execute execute;
  std::array<uint32_t, 9> operands; ///< numbers of registers, in the order of the text
  uint32_t guard;                   ///< register of the predicate
  bool isNegated;                   ///< executes if the predicate is false
  uint32_t line;                    ///< line of the text, from 1
  uint32_t target;                  ///< of a branch: the number of the next instruction
  int64_t offset;                   ///< of a load or store: distance from the address
  Access access;
};

/// Registers that each thread has from its start.
enum Special : uint32_t { True, Thread0, Threads0, Block0, Blocks0, Lane, specials };

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  std::vector<uint64_t> constants;  ///< initial values of the registers after the special ones
  uint32_t registers = 0;           ///< number of all registers
  std::vector<uint32_t> parameters; ///< offset of each parameter
  uint32_t parameterBytes = 0, sharedBytes = 0;
  mutable std::vector<uint8_t> executed; ///< for each instruction: 1 if a thread has executed it
};

struct Module {
  std::string path;
  std::vector<std::string> lines; ///< the text
  std::vector<Kernel> kernels;
};

/// Throws a Fault that names the line if the text has an unknown instruction.
Module parse(std::string path, const std::string &text);

/// Returns the function that executes instructions such as "add.s32". Returns null if the name is unknown.
Execute find(const std::string &name);

} // namespace gc3::ptx
