// SPDX-License-Identifier: Apache-2.0
// Registers, code and scopes of one body, and bodies that consist of one expression.
#include "BodyCompiler.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::sema;

static constexpr uint32_t MaxRegistersOfFunction = 50000;

BodyCompiler::BodyCompiler(Compiler &compiler, uint32_t functionIndex, Kind bodyKind)
    : shared(compiler), functionNumber(functionIndex), kind(bodyKind) {
  code.name = shared.code.functions[functionNumber].name;
  code.isStandard = shared.code.functions[functionNumber].isStandard;
  code.isCollective = shared.code.functions[functionNumber].isCollective;
  openScope();
}

Diagnostic &BodyCompiler::error(DiagId id, SourceRange range, const std::string &message) {
  return shared.diags.error(id, range, message);
}

uint32_t BodyCompiler::allocate(File file) {
  uint32_t &next = top[static_cast<size_t>(file)];
  uint32_t &used = code.registers[static_cast<size_t>(file)];
  used = std::max(used, next + 1);
  tooLarge |= next >= MaxRegistersOfFunction;
  return next++;
}

BodyCompiler::Mark BodyCompiler::mark() const {
  return {{top[0], top[1], top[2]}};
}

void BodyCompiler::release(const Mark &to) {
  std::copy(to.top, to.top + FileCount, top);
}

BodyCompiler::Value BodyCompiler::temporary(Type type) {
  return {type, allocate(type.file())};
}

size_t BodyCompiler::emit(Op op, SourceRange range, uint32_t a, uint32_t b, uint32_t c, uint8_t extra) {
  code.code.push_back({op, extra, a, b, c});
  code.ranges.push_back(range);
  return code.code.size() - 1;
}

uint32_t BodyCompiler::label() {
  lastLabel = code.code.size();
  return static_cast<uint32_t>(lastLabel);
}

void BodyCompiler::patch(size_t jump) {
  Instruction &in = code.code[jump];
  (in.op == Op::RangeBegin ? in.b : in.a) = label();
}

/// Returns true if the only effect of an instruction is to write register a. Such an instruction can write to another
/// register instead.
static bool onlyWritesA(Op op) {
  return op == Op::LoadInt || op == Op::LoadParam || (op >= Op::Add && op <= Op::Log2) || op == Op::LoadParamList ||
         op == Op::ListRange || (op >= Op::GetInt && op <= Op::GetList) || (op >= Op::Length && op <= Op::Join) ||
         (op >= Op::MakeChunk && op <= Op::Split);
}

/// Copies a value to a register with a lower number. If the last instruction computed the value, changes that
/// instruction to write to this register. Moves a list out of a temporary, so that only the target holds it.
void BodyCompiler::moveTo(Value value, uint32_t reg, const Mark &before, SourceRange range) {
  File file = value.type.file();
  bool isTemporary = value.reg >= before.top[static_cast<size_t>(file)];
  if (value.reg == reg || value.type.isError())
    return;
  if (isTemporary && !code.code.empty() && lastLabel != code.code.size()) {
    Instruction &last = code.code.back();
    if (onlyWritesA(last.op) && last.a == value.reg) {
      last.a = reg;
      return;
    }
  }
  Op op = file == File::Int ? Op::MoveInt : file == File::Chunk ? Op::MoveChunk : Op::MoveList;
  emit(op, range, reg, value.reg, 0, isTemporary);
}

/// Releases all temporaries above the mark, and moves the value to the first temporary there.
BodyCompiler::Value BodyCompiler::settle(Value value, const Mark &to) {
  release(to);
  Value result = temporary(value.type);
  moveTo(value, result.reg, to, {});
  return result;
}

uint32_t BodyCompiler::constant(int64_t value) {
  auto [entry, isNew] = shared.constantOf.try_emplace(value, static_cast<uint32_t>(shared.code.constants.size()));
  if (isNew)
    shared.code.constants.push_back(value);
  return entry->second;
}

BodyCompiler::Value BodyCompiler::number(Type type, int64_t value, SourceRange range) {
  Value result = temporary(type);
  emit(Op::LoadInt, range, result.reg, constant(value));
  return result;
}

void BodyCompiler::openScope() {
  scopeMarks.push_back(mark());
  scopeLocals.push_back(locals.size());
}

void BodyCompiler::closeScope() {
  for (; locals.size() > scopeLocals.back(); locals.pop_back()) {
    visible[locals.back().name] = locals.back().shadowed;
    ended[locals.back().name] = locals.back().range;
  }
  release(scopeMarks.back());
  scopeMarks.pop_back();
  scopeLocals.pop_back();
}

void BodyCompiler::declare(const ast::Name &name, Type type, uint32_t reg, bool assignable) {
  auto scope = static_cast<uint32_t>(scopeMarks.size());
  auto [entry, isNew] = visible.try_emplace(name.text, -1);
  int64_t outer = entry->getValue();
  if (outer >= 0 && locals[static_cast<size_t>(outer)].scope == scope)
    error(DiagId::Redefinition, name.range, "'" + name.text.str() + "' is defined twice in this block")
        .note(locals[static_cast<size_t>(outer)].range, "the other definition is here");
  entry->getValue() = static_cast<int64_t>(locals.size());
  locals.push_back({name.text, type, reg, assignable, name.range, scope, outer});
}

BodyCompiler::Value BodyCompiler::declareFresh(const ast::Name &name, Type type, bool assignable) {
  Value value = temporary(type);
  declare(name, type, value.reg, assignable);
  return value;
}

const BodyCompiler::Local *BodyCompiler::find(llvm::StringRef name) const {
  auto entry = visible.find(name);
  return entry == visible.end() || entry->getValue() < 0 ? nullptr : &locals[static_cast<size_t>(entry->getValue())];
}

void BodyCompiler::declareFormals(llvm::ArrayRef<Formal> formals) {
  for (const Formal &formal : formals)
    if (!find(formal.name)) // a duplicate is reported with the declaration
      declareFresh({formal.name, {}}, formal.type, false);
    else
      allocate(formal.type.file());
}

void BodyCompiler::emitReturn(Value value, SourceRange range) {
  if (value.type.isError() || value.type.is(Type::None)) {
    emit(Op::ReturnNone, range);
    return;
  }
  static constexpr Op ops[] = {Op::ReturnInt, Op::ReturnChunk, Op::ReturnList};
  emit(ops[static_cast<size_t>(value.type.file())], range, value.reg);
}

void BodyCompiler::finish() {
  if (tooLarge)
    error(DiagId::TooLarge, code.ranges.empty() ? SourceRange() : code.ranges.front(),
          "'" + code.name + "' needs more than " + std::to_string(MaxRegistersOfFunction) + " variables at one time");
  shared.code.functions[functionNumber] = std::move(code);
}

Type BodyCompiler::function(const ast::Function &syntax, llvm::ArrayRef<Formal> formals, Type declared,
                            bool isInferred) {
  resultType = declared;
  infers = isInferred;
  declareFormals(formals);
  if (syntax.value) {
    Mark before = mark();
    Value value = eval(*syntax.value);
    if (infers)
      resultType = value.type;
    else
      check(resultType, value.type, syntax.value->range, "the value of '" + syntax.name.text.str() + "'");
    if (resultType.base == Type::Unknown)
      error(DiagId::TypeMismatch, syntax.value->range,
            "the type of this empty list is not known; write for example '-> [int]'");
    emitReturn(settle(value, before), syntax.value->range);
  } else {
    bool ends = block(*syntax.body);
    if (!ends && !resultType.is(Type::None) && !resultType.isError())
      error(DiagId::MissingReturn, syntax.name.range,
            "'" + syntax.name.text.str() + "' can end without returning its " + str(resultType));
    emit(Op::ReturnNone, {syntax.body->range.end - 1, syntax.body->range.end});
  }
  finish();
  return resultType;
}

void BodyCompiler::param(const ast::Expr &value, Type type, const std::string *define) {
  Mark before = mark();
  Value got = eval(value);
  if (define && !accepts(type, got.type))
    error(DiagId::BadParamValue, value.range,
          "'-D " + *define + "' gives " + str(got.type) + " to a param of type " + str(type));
  else
    check(type, got.type, value.range, "the value of param '" + code.name + "'");
  emitReturn(settle(got, before), value.range);
  finish();
}

void BodyCompiler::choices(const ast::Expr &values, Type type) {
  Mark before = mark();
  Value got = eval(values);
  check(type.list(), got.type, values.range, "the list of values of param '" + code.name + "'");
  emitReturn(settle(got, before), values.range);
  finish();
}

void BodyCompiler::defaultValue(llvm::ArrayRef<Formal> before, const Formal &formal) {
  declareFormals(before);
  Mark start = mark();
  Value got = eval(*formal.value);
  check(formal.type, got.type, formal.value->range, "the default of '" + formal.name.str() + "'");
  emitReturn(settle(got, start), formal.value->range);
  finish();
}
