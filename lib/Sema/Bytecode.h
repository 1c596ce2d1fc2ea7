// SPDX-License-Identifier: Apache-2.0
// Compiled form of functions, programs and collectives: code for a register machine. Each function numbers its
// registers from 0 in three files (Types.h); parameters come first. In the comments, a, b and c are the operands, and
// `r` reads a register.
#pragma once

#include "Types.h"
#include "gc3/Support/Location.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace gc3::sema {

/// Numbers strings. Equal strings have equal numbers.
class StringPool {
public:
  static constexpr size_t MaxLength = 65536;
  static constexpr uint64_t MaxTotal = uint64_t(256) << 20;

  int64_t add(llvm::StringRef text) {
    auto [entry, isNew] = ids.try_emplace(text, static_cast<int64_t>(texts.size()));
    if (isNew) {
      texts.push_back(entry->getKey());
      total += text.size() + 64;
    }
    return entry->getValue();
  }
  llvm::StringRef operator[](int64_t id) const { return texts[static_cast<size_t>(id)]; }
  bool full() const { return total > MaxTotal; }

private:
  llvm::StringMap<int64_t> ids;
  std::vector<llvm::StringRef> texts; // keys of `ids`, whose addresses are stable
  uint64_t total = 0;
};

inline constexpr uint32_t NoRegister = ~uint32_t(0);

enum class Op : uint8_t {
  // Numbers
  LoadInt,   // a = constants[b]
  MoveInt,   // a = r b
  LoadParam, // a = params[b].number
  Add,       // a = r b + r c, and so on
  Subtract,
  Multiply,
  Divide,
  Modulo,
  ShiftLeft,
  ShiftRight,
  BitAnd,
  BitOr,
  BitXor,
  Less,
  LessEqual,
  Equal,
  NotEqual,
  Min,
  Max,
  Negate, // a = -r b
  Not,
  Complement,
  Abs,
  Log2,
  // Jumps; backward jumps count as a step
  Jump,   // to a
  JumpIf, // to a if r b
  JumpIfNot,
  Loop, // back to a
  LoopIf,
  RangeBegin, // r a, r a+1, r a+2 are first, last, step; to b if the range is empty
  RangeNext,  // r a += step; back to b unless the end is reached
  // Calls
  Call, // calls[a]
  ReturnNone,
  ReturnInt, // the value of a to register 0 of its file
  ReturnChunk,
  ReturnList,
  // Lists
  MoveList,
  LoadParamList,
  NewList,   // a = []
  ListRange, // a = list of the range in r b, b+1, b+2
  AppendInt, // a += [r b]
  AppendChunk,
  AppendList,
  GetInt, // a = b[r c]
  GetChunk,
  GetList,
  TakeList, // a = b[r c], and the element of b becomes an empty list
  SetInt,   // a[r b] = r c
  SetChunk,
  SetList,
  EachInt, // if r b < len c: a = c[r b], ++r b, skip the next instruction
  EachChunk,
  EachList,
  Length,     // a = len(b)
  Concat,     // a = b + c
  EqualLists, // a = b == c
  MinList,
  MaxList,
  // Strings
  LengthString,
  Format,     // a = text of b, of types[c]
  Join,       // a = concatenation of the c strings from register b on
  FailAssert, // with the text a
  Remark,
  // Chunks
  MoveChunk,
  MakeChunk, // a = chunk(places[b])
  Copy,      // a = b copied to places[c]
  Reduce,    // a = b reduced with places[c].other
  ChunkRank, // a = b's rank, and so on
  ChunkIndex,
  ChunkCount,
  ChunkBuffer,
  Slice,       // a = b.slice(r c, r c+1)
  Split,       // a = b.split(r c)
  PushChannel, // r a
  PushParallel,
  PopDirectives, // a is the number of directives
  // Settings of a program
  SetSizes, // r a .. r b
  SetNodes, // r a nodes of r b ranks
  SetInstances,
  SetProtocol,
  // Collectives; `extra` is the buffer
  NameArgument, // the argument strings[b] has the value of a, of types[c]
  SetRanks,
  RankCount,   // a = the number of ranks
  SetShape,    // r a blocks (or none) of r b chunks
  SetOwner,    // only rank r a has the buffer
  SetOwners,   // only the ranks of list a have the buffer
  SetAlias,    // buffer `extra` lies inside the other buffer; from register a on: rank and index in `extra`, rank and
               // index in the other buffer
  ResetValue,  // removes the current value
  JumpIfValue, // to a if there is a current value
  BeginValue,
  AddToValue, // adds input chunk (r a, r b)
  EndValue,
  Ensure,    // output chunk (r a, r b) holds the value
  EnsureAll, // output chunk (rank, r b) holds the value for all ranks of the range that begins at r a
};

struct Instruction {
  Op op;
  uint8_t extra = 0;
  uint32_t a = 0, b = 0, c = 0;
};
static_assert(sizeof(Instruction) == 16);

/// A call. The callee's registers begin at register `base` of the caller in each file, because the caller evaluates
/// arguments directly into them.
struct CallSite {
  uint32_t function;
  uint32_t base[FileCount];
};

/// Int registers of the operands of `chunk(...)`, `copy` and `reduce`, or NoRegister.
struct PlaceOperands {
  uint32_t rank = NoRegister, buffer = NoRegister, index = NoRegister, count = NoRegister;
  uint32_t other = NoRegister; ///< chunk register
  uint32_t channel = NoRegister, sendThreadBlock = NoRegister, recvThreadBlock = NoRegister;
};

struct Function {
  std::string name;
  bool isStandard = false;   ///< from a file that is embedded in the compiler
  bool isCollective = false; ///< the clauses of a collective, whose errors need no note
  std::vector<Instruction> code;
  std::vector<SourceRange> ranges; ///< source range of each instruction
  uint32_t registers[FileCount] = {};
};

struct Bytecode {
  std::vector<Function> functions;
  std::vector<int64_t> constants;
  std::vector<CallSite> calls;
  std::vector<PlaceOperands> places;
  std::vector<Type> types;
  std::vector<std::string> paramNames;
  StringPool strings;
};

} // namespace gc3::sema
