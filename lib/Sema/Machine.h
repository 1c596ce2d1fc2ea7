// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "Bytecode.h"
#include "CollectiveBuilder.h"
#include "Lists.h"
#include "Tracer.h"

namespace gc3::sema {

/// The value of a param. It outlives a run.
struct ParamValue {
  bool known = false;
  int64_t number = 0;
  ListRef list;
};

/// The settings in the header of a program.
struct ProgramSettings {
  uint64_t minBytes = 0;
  uint64_t maxBytes = ir::ProgramInfo::NoLimit;
  uint32_t nodes = 0;
  int64_t instances = 1;
  ir::Protocol protocol = ir::Protocol::Simple;
  SourceRange sizesRange;
  SourceRange instancesRange;
};

/// Number of chunks that the machine can read or move for the cost of one step.
inline constexpr uint64_t ChunksPerStep = 8;

/// Runs bytecode. Reports errors to `diags` at the place of the instruction, with notes on the calls around it.
class Machine {
public:
  Machine(Bytecode &code, Diagnostics &sink, const SemaOptions &semaOptions);

  /// Runs a function without parameters. Returns false after an error.
  bool run(uint32_t function);
  /// Resets the step budget for the next runs.
  void resetSteps() {
    steps = 0;
    nextCheck = 0;
  }

  // Objects that the next runs work on; null if a run does not need the object.
  Tracer *tracer = nullptr;
  ir::ProgramInfo *program = nullptr;
  CollectiveBuilder *collective = nullptr;
  ProgramSettings settings;

  ListBudget budget; ///< declared before all members that hold lists, so that it outlives them
  std::vector<ParamValue> params;
  /// Return the result of the last run, which is in register 0 of its file.
  int64_t numberResult() const { return ints[0]; }
  const ListRef &listResult() const { return lists[0]; }
  /// Returns the text of a param's value, or of a list.
  std::string text(Type type, const ParamValue &value);
  void beginProgram();

private:
  struct Frame {
    const Function *function;
    const Instruction *pc; ///< position of the call, in the frames below the top
    uint32_t base[FileCount];
    uint32_t directives; ///< number of open directives at entry
  };
  struct Scope {
    ir::Directive directive;
    uint32_t id; ///< in the program's table; NoRegister until an operation uses it
  };

  bool loop();
  bool fail(DiagId id, std::string message);
  bool fail(Failure &failure);
  bool enter(uint32_t function, const uint32_t (&base)[FileCount]);
  void leave(uint32_t firstList);
  bool countSteps(uint64_t count);
  bool countChunks(uint64_t count) { return count < ChunksPerStep || countSteps(count / ChunksPerStep); }
  bool checkTime();
  bool stepFailure();

  // Groups of instructions
  bool arithmetic(const Instruction &in);
  bool checkedAdd(const Instruction &in);
  bool shift(const Instruction &in);
  bool rangeBegin(const Instruction &in, const Instruction *&pc);
  bool call(const Instruction &in, const Instruction *pc);
  bool listInstruction(const Instruction &in, const Instruction *&pc);
  bool listRange(const Instruction &in);
  bool getElement(const Instruction &in);
  bool setElement(const Instruction &in);
  bool appendElement(const Instruction &in);
  bool eachElement(const Instruction &in, const Instruction *&pc);
  bool concat(const Instruction &in);
  bool extreme(const Instruction &in);
  bool listBudgetFailure();
  bool stringInstruction(const Instruction &in);
  bool addString(uint32_t target, const std::string &text);
  std::string format(Type type, uint32_t reg);
  std::string formatChunk(const ChunkRef &ref);
  void formatList(std::string &text, Type element, const ListRef &list);
  bool chunkInstruction(const Instruction &in);
  bool makeChunk(const Instruction &in);
  bool transfer(const Instruction &in);
  bool slice(const Instruction &in);
  bool split(const Instruction &in);
  bool pushDirective(const Instruction &in);
  bool directiveOf(const PlaceOperands &place, SourceRange site, uint32_t &id);
  uint32_t intern(const ir::Directive &directive);
  bool setNodes(int64_t nodes, int64_t ranksOfNode);
  bool settingInstruction(const Instruction &in);
  bool collectiveInstruction(const Instruction &in, const Instruction *&pc);
  bool setOwners(const Instruction &in);
  bool writeList(std::string &text, Type element, const ListRef &list);
  bool nameArgument(const Instruction &in);

  SourceRange here() const;
  static SourceRange callIn(const Frame &caller);

  Bytecode &code;
  Diagnostics &diags;
  const SemaOptions &options;

  std::vector<int64_t> ints;
  std::vector<ChunkRef> chunks;
  std::vector<ListRef> lists;
  // The top frame's registers.
  int64_t *numbers = nullptr;
  ChunkRef *refs = nullptr;
  ListRef *listRegisters = nullptr;
  const Instruction *current = nullptr;

  std::vector<Frame> frames;
  std::vector<Scope> scopes;
  llvm::DenseMap<uint64_t, llvm::SmallVector<uint32_t, 1>> directiveIds;
  uint64_t steps = 0;
  uint64_t nextCheck = 0; ///< checkTime() is called when `steps` exceeds this number
  uint64_t remarks = 0;
};

} // namespace gc3::sema
