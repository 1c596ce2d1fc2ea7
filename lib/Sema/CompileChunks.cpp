// SPDX-License-Identifier: Apache-2.0
// Compiles chunk expressions: `chunk(...)`, and the methods and attributes of references.
#include "BodyCompiler.h"

using namespace gc3;
using namespace gc3::ast;
using namespace gc3::sema;

static constexpr Type bufferType{Type::Buffer, 0};
static constexpr Type chunkType{Type::Chunk, 0};

/// Evaluates arguments in their order. `registers` receives the register of each formal, or NoRegister.
bool BodyCompiler::evalOperands(llvm::ArrayRef<Formal> formals, llvm::ArrayRef<Argument> arguments, SourceRange range,
                                const std::string &callee, std::vector<uint32_t> &registers) {
  std::vector<int> argumentOf;
  const bool fits = match(formals, arguments, range, callee, argumentOf); // if false, positions of arguments are a
                                                                          // guess
  bool good = fits;
  registers.assign(formals.size(), NoRegister);
  for (size_t i = 0; i < arguments.size(); ++i) {
    Value value = eval(*arguments[i].value);
    for (size_t k = 0; k < formals.size(); ++k) {
      if (argumentOf[k] != static_cast<int>(i) || (!fits && !arguments[i].name))
        continue;
      good &=
          check(formals[k].type, value.type, arguments[i].value->range, "'" + formals[k].name.str() + "' of " + callee);
      good &= !value.type.isError();
      registers[k] = value.reg;
    }
  }
  return good;
}

BodyCompiler::Value BodyCompiler::chunk(const CallExpr &expr) {
  static const Formal formals[] = {
      {"rank", integer}, {"buffer", bufferType}, {"index", integer}, {"count", integer, nullptr, true}};
  Mark before = mark();
  std::vector<uint32_t> operands;
  bool good = evalOperands(formals, expr.arguments, expr.range, "'chunk'", operands);
  release(before);
  if (!good)
    return {};
  PlaceOperands place;
  place.rank = operands[0];
  place.buffer = operands[1];
  place.index = operands[2];
  place.count = operands[3];
  Value value = temporary(chunkType);
  emit(Op::MakeChunk, expr.range, value.reg, static_cast<uint32_t>(shared.code.places.size()));
  shared.code.places.push_back(place);
  return value;
}

BodyCompiler::Value BodyCompiler::transfer(const MethodExpr &expr, Value receiver, const Mark &to) {
  static const Formal copyFormals[] = {{"rank", integer},
                                       {"buffer", bufferType},
                                       {"index", integer},
                                       {"ch", integer, nullptr, true, true},
                                       {"sendtb", integer, nullptr, true, true},
                                       {"recvtb", integer, nullptr, true, true}};
  static const Formal reduceFormals[] = {{"other", chunkType},
                                         {"ch", integer, nullptr, true, true},
                                         {"sendtb", integer, nullptr, true, true},
                                         {"recvtb", integer, nullptr, true, true}};
  bool isCopy = expr.method.text == "copy";
  SourceRange range{expr.method.range.begin, expr.range.end};
  std::vector<uint32_t> operands;
  bool good = isCopy ? evalOperands(copyFormals, expr.arguments, range, "'copy'", operands)
                     : evalOperands(reduceFormals, expr.arguments, range, "'reduce'", operands);
  release(to);
  if (!good || receiver.type.isError())
    return {};
  PlaceOperands place;
  size_t firstDirective = isCopy ? 3 : 1;
  if (isCopy) {
    place.rank = operands[0];
    place.buffer = operands[1];
    place.index = operands[2];
  } else {
    place.other = operands[0];
  }
  place.channel = operands[firstDirective];
  place.sendThreadBlock = operands[firstDirective + 1];
  place.recvThreadBlock = operands[firstDirective + 2];
  Value value = temporary(chunkType);
  emit(isCopy ? Op::Copy : Op::Reduce, range, value.reg, receiver.reg,
       static_cast<uint32_t>(shared.code.places.size()));
  shared.code.places.push_back(place);
  return value;
}

/// Compiles `slice` and `split`.
BodyCompiler::Value BodyCompiler::part(const MethodExpr &expr, Value receiver, const Mark &to) {
  static const Formal sliceFormals[] = {{"first", integer}, {"count", integer}};
  static const Formal splitFormals[] = {{"parts", integer}};
  bool isSlice = expr.method.text == "slice";
  SourceRange range{expr.method.range.begin, expr.range.end};
  llvm::ArrayRef<Formal> formals =
      isSlice ? llvm::ArrayRef<Formal>(sliceFormals) : llvm::ArrayRef<Formal>(splitFormals);
  Mark operandsBegin = mark();
  bool good = passArguments(formals, expr.arguments, range, "'" + expr.method.text.str() + "'");
  release(to);
  if (!good || receiver.type.isError())
    return {};
  Value value = temporary(isSlice ? chunkType : chunkType.list());
  emit(isSlice ? Op::Slice : Op::Split, range, value.reg, receiver.reg, operandsBegin.top[0]);
  return value;
}

/// Reports a member access on a value that is not a chunk.
void BodyCompiler::reportNotChunk(const char *what, Type got, SourceRange range) {
  std::string hint = got.isList() ? "; lists have 'len(xs)', 'xs[i]' and 'xs + ys'" : "";
  error(DiagId::TypeMismatch, range, std::string("only chunks have ") + what + ", but this is " + str(got) + hint);
}

BodyCompiler::Value BodyCompiler::method(const MethodExpr &expr) {
  llvm::StringRef name = expr.method.text;
  Mark before = mark();
  Value receiver = eval(*expr.receiver);
  bool isKnown = name == "copy" || name == "reduce" || name == "slice" || name == "split";
  bool isAttribute = name == "rank" || name == "index" || name == "count" || name == "buffer";
  if (!isKnown && !accepts(chunkType, receiver.type)) {
    reportNotChunk("methods", receiver.type, expr.method.range);
    return {};
  }
  if (!isKnown) {
    std::string near = suggestion(name, {"copy", "reduce", "slice", "split"});
    error(DiagId::UnknownName, expr.method.range,
          isAttribute ? "'" + name.str() + "' is an attribute; leave out the parentheses"
                      : "a chunk has no method '" + name.str() + "'" + near);
    return {};
  }
  if (!check(chunkType, receiver.type, expr.receiver->range, "the receiver of '." + name.str() + "'"))
    receiver.type = Type();
  return name == "copy" || name == "reduce" ? transfer(expr, receiver, before) : part(expr, receiver, before);
}

BodyCompiler::Value BodyCompiler::attribute(const AttributeExpr &expr) {
  llvm::StringRef name = expr.attribute.text;
  Mark before = mark();
  Value receiver = eval(*expr.receiver);
  release(before);
  Op op = name == "rank"    ? Op::ChunkRank
          : name == "index" ? Op::ChunkIndex
          : name == "count" ? Op::ChunkCount
                            : Op::ChunkBuffer;
  if (op == Op::ChunkBuffer && name != "buffer") {
    std::string near = suggestion(name, {"rank", "index", "count", "buffer"});
    if (!accepts(chunkType, receiver.type)) {
      reportNotChunk("attributes", receiver.type, expr.attribute.range);
      return {};
    }
    bool isMethod = name == "copy" || name == "reduce" || name == "slice" || name == "split";
    error(DiagId::UnknownName, expr.attribute.range,
          isMethod ? "'" + name.str() + "' is a method; call it with '(...)'"
                   : "a chunk has no attribute '" + name.str() + "'" + near);
    return {};
  }
  if (!check(chunkType, receiver.type, expr.receiver->range, "the operand of '." + name.str() + "'") ||
      receiver.type.isError())
    return {};
  Value value = temporary(op == Op::ChunkBuffer ? bufferType : integer);
  emit(op, expr.range, value.reg, receiver.reg);
  return value;
}
