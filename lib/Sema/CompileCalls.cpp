// SPDX-License-Identifier: Apache-2.0
// Compiles calls. Matches arguments with parameters once, at compile time, and evaluates them directly into the
// callee's registers.
#include "BodyCompiler.h"
#include "gc3/Support/Quantity.h"
#include "llvm/ADT/StringSwitch.h"

using namespace gc3;
using namespace gc3::ast;
using namespace gc3::sema;

namespace {
enum class Builtin { None, Chunk, Len, Min, Max, Abs, Log2 };
}

static Builtin builtin(llvm::StringRef name) {
  return llvm::StringSwitch<Builtin>(name)
      .Case("chunk", Builtin::Chunk)
      .Case("len", Builtin::Len)
      .Case("min", Builtin::Min)
      .Case("max", Builtin::Max)
      .Case("abs", Builtin::Abs)
      .Case("log2", Builtin::Log2)
      .Default(Builtin::None);
}

bool gc3::sema::isBuiltin(llvm::StringRef function) {
  return builtin(function) != Builtin::None;
}

/// Stores in `argumentOf`, for each formal, the index of its argument, or -1. Reports arguments that do not fit.
bool BodyCompiler::match(llvm::ArrayRef<Formal> formals, llvm::ArrayRef<Argument> arguments, SourceRange range,
                         const std::string &callee, std::vector<int> &argumentOf) {
  bool good = true;
  auto wrong = [&](SourceRange where, const std::string &message) {
    error(DiagId::WrongArguments, where, message);
    good = false;
  };
  size_t positional = 0;
  for (const Formal &formal : formals)
    positional += !formal.namedOnly;
  argumentOf.assign(formals.size(), -1);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument &argument = arguments[i];
    size_t target = i;
    if (argument.name) {
      target = 0;
      while (target < formals.size() && formals[target].name != argument.name.text)
        ++target;
      if (target == formals.size()) {
        std::vector<std::string> names;
        for (const Formal &formal : formals)
          names.push_back(formal.name.str());
        std::string near = suggestion(argument.name.text, names);
        wrong(argument.name.range, callee + " has no parameter '" + argument.name.text.str() + "'" + near);
        continue;
      }
    } else if (i >= positional) {
      wrong(argument.value->range,
            callee + " takes " + quantity(positional, "argument") + ", but this is argument " + std::to_string(i + 1));
      return false;
    }
    if (argumentOf[target] >= 0)
      wrong(argument.value->range, "'" + formals[target].name.str() + "' of " + callee + " is given twice");
    argumentOf[target] = static_cast<int>(i);
  }
  for (size_t i = 0; i < formals.size(); ++i)
    if (argumentOf[i] < 0 && !formals[i].optional && good)
      wrong(range, callee + " needs an argument for '" + formals[i].name.str() + "'");
  return good;
}

void BodyCompiler::emitCall(uint32_t function, const Mark &base, SourceRange range) {
  emit(Op::Call, range, static_cast<uint32_t>(shared.code.calls.size()));
  shared.code.calls.push_back({function, {base.top[0], base.top[1], base.top[2]}});
  lastLabel = code.code.size(); // Call itself does not write the result, so moveTo() must not change its operands
}

void BodyCompiler::passDefault(llvm::ArrayRef<Formal> formals, const std::vector<uint32_t> &registers, size_t which,
                               SourceRange range) {
  Mark base = mark();
  for (size_t i = 0; i < which; ++i) {
    Mark before = mark();
    Value copy = temporary(formals[i].type);
    moveTo({formals[i].type, registers[i]}, copy.reg, before, range);
  }
  emitCall(formals[which].thunk, base, range);
  release(base);
  Value value = temporary(formals[which].type);
  moveTo(value, registers[which], base, range);
  release(base);
}

/// Evaluates the arguments into new registers. In each register file, these are in the order of the formals.
bool BodyCompiler::passArguments(llvm::ArrayRef<Formal> formals, llvm::ArrayRef<Argument> arguments, SourceRange range,
                                 const std::string &callee) {
  std::vector<int> argumentOf;
  bool good = match(formals, arguments, range, callee, argumentOf);
  std::vector<uint32_t> registers;
  for (const Formal &formal : formals)
    registers.push_back(allocate(formal.type.file()));
  std::vector<int> formalOf(arguments.size(), -1);
  for (size_t i = 0; i < formals.size(); ++i)
    if (argumentOf[i] >= 0)
      formalOf[static_cast<size_t>(argumentOf[i])] = static_cast<int>(i);
  for (size_t i = 0; i < arguments.size(); ++i) {
    Mark before = mark();
    Value value = eval(*arguments[i].value);
    release(before);
    if (formalOf[i] < 0 || (!good && !arguments[i].name)) // after an error, positions of arguments are a guess
      continue;
    const Formal &formal = formals[static_cast<size_t>(formalOf[i])];
    if (!check(formal.type, value.type, arguments[i].value->range, "'" + formal.name.str() + "' of " + callee))
      continue;
    moveTo(value, registers[static_cast<size_t>(formalOf[i])], before, arguments[i].value->range);
  }
  for (size_t i = 0; good && i < formals.size(); ++i)
    if (argumentOf[i] < 0)
      passDefault(formals, registers, i, range);
  return good;
}

BodyCompiler::Value BodyCompiler::callFunction(FunctionInfo &info, const CallExpr &expr) {
  std::string callee = "'" + expr.callee.text.str() + "'";
  if (info.infers && info.state == FunctionInfo::State::Waiting && shared.inferenceDepth < 100) {
    ++shared.inferenceDepth;
    shared.compileFunction(info);
    --shared.inferenceDepth;
  }
  if (info.infers && info.state != FunctionInfo::State::Done) {
    error(DiagId::TypeMismatch, expr.callee.range,
          "the result of " + callee + " is not known yet here; write the type after its parameters: '-> type'");
    return {};
  }
  Mark base = mark();
  bool good = passArguments(info.formals, expr.arguments, expr.range, callee);
  emitCall(info.index, base, expr.range);
  release(base);
  if (!good)
    return {};
  return info.result.is(Type::None) ? Value{info.result, 0} : temporary(info.result);
}

BodyCompiler::Value BodyCompiler::call(const CallExpr &expr) {
  auto function = shared.functionOf.find(expr.callee.text);
  if (function != shared.functionOf.end())
    return callFunction(shared.functions[function->getValue()], expr);
  if (isBuiltin(expr.callee.text))
    return callBuiltin(expr);
  std::vector<std::string> candidates = {"chunk", "len", "min", "max", "abs", "log2"};
  if (shared.suggests(shared.functions.size()))
    for (const FunctionInfo &info : shared.functions)
      candidates.push_back(info.syntax->name.text.str());
  std::string near = suggestion(expr.callee.text, candidates);
  error(DiagId::UnknownName, expr.callee.range, "unknown function '" + expr.callee.text.str() + "'" + near);
  Mark before = mark();
  for (const Argument &argument : expr.arguments) { // to report errors inside the arguments as well
    eval(*argument.value);
    release(before);
  }
  return {};
}

BodyCompiler::Value BodyCompiler::callBuiltin(const CallExpr &expr) {
  Builtin which = builtin(expr.callee.text);
  if (which == Builtin::Chunk)
    return chunk(expr);
  if (which == Builtin::Min || which == Builtin::Max)
    return extreme(expr);
  std::string callee = "'" + expr.callee.text.str() + "'";
  std::vector<int> argumentOf;
  Formal formal{which == Builtin::Len ? "list" : "value", integer};
  if (!match(formal, expr.arguments, expr.range, callee, argumentOf))
    return {};
  Mark before = mark();
  Value value = eval(*expr.arguments[0].value);
  release(before);
  if (value.type.isError())
    return {};
  SourceRange where = expr.arguments[0].value->range;
  bool isString = value.type.is(Type::String);
  if (which == Builtin::Len && !isString && !value.type.isList()) {
    error(DiagId::TypeMismatch, where, "'len' needs a list or a string, not " + str(value.type));
    return {};
  }
  if (which != Builtin::Len && !check(integer, value.type, where, "the argument of " + callee))
    return {};
  Value result = temporary(integer);
  Op op = which == Builtin::Abs    ? Op::Abs
          : which == Builtin::Log2 ? Op::Log2
          : isString               ? Op::LengthString
                                   : Op::Length;
  emit(op, expr.range, result.reg, value.reg);
  return result;
}

/// Compiles `min(a, b, ...)` or `min(list)`, and `max`.
BodyCompiler::Value BodyCompiler::extreme(const CallExpr &expr) {
  bool isMin = expr.callee.text == "min";
  std::string what = "an argument of '" + expr.callee.text.str() + "'";
  if (expr.arguments.empty()) {
    error(DiagId::WrongArguments, expr.range, "'" + expr.callee.text.str() + "' needs a list or two or more numbers");
    return {};
  }
  for (const Argument &argument : expr.arguments)
    if (argument.name)
      error(DiagId::WrongArguments, argument.name.range, "'" + expr.callee.text.str() + "' has no named parameters");
  Mark before = mark();
  Value best = eval(*expr.arguments[0].value);
  if (expr.arguments.size() == 1) {
    release(before);
    if (!check({Type::Int, 1}, best.type, expr.arguments[0].value->range,
               "a single argument of '" + expr.callee.text.str() + "'") ||
        best.type.isError())
      return {};
    Value result = temporary(integer);
    emit(isMin ? Op::MinList : Op::MaxList, expr.range, result.reg, best.reg);
    return result;
  }
  bool good = check(integer, best.type, expr.arguments[0].value->range, what) && !best.type.isError();
  for (const Argument &argument : expr.arguments.drop_front()) {
    Value other = evalAs(*argument.value, integer, what);
    good &= !other.type.isError();
    release(before);
    Value result = temporary(integer);
    emit(isMin ? Op::Min : Op::Max, expr.range, result.reg, best.reg, other.reg);
    best = result;
  }
  return good ? best : Value();
}
