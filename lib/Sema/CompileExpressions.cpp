// SPDX-License-Identifier: Apache-2.0
// Compiles expressions of numbers, strings and buffers.
#include "BodyCompiler.h"

using namespace gc3;
using namespace gc3::ast;
using namespace gc3::sema;

bool BodyCompiler::check(Type wanted, Type got, SourceRange range, const std::string &what) {
  if (accepts(wanted, got))
    return true;
  error(DiagId::TypeMismatch, range, what + " must be " + str(wanted) + ", not " + str(got));
  return false;
}

BodyCompiler::Value BodyCompiler::evalAs(const Expr &expr, Type wanted, const std::string &what) {
  Value value = eval(expr);
  if (!check(wanted, value.type, expr.range, what))
    value.type = Type();
  return value;
}

BodyCompiler::Value BodyCompiler::eval(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Int: return number(integer, as<IntExpr>(expr).value, expr.range);
  case ExprKind::Bool: return number({Type::Bool, 0}, as<BoolExpr>(expr).value, expr.range);
  case ExprKind::String: return string(as<StringExpr>(expr));
  case ExprKind::Buffer: return buffer(as<BufferExpr>(expr));
  case ExprKind::Name: return name(as<NameExpr>(expr));
  case ExprKind::List: return list(as<ListExpr>(expr));
  case ExprKind::Comprehension: return comprehension(as<ComprehensionExpr>(expr));
  case ExprKind::Range: return range(as<RangeExpr>(expr));
  case ExprKind::Unary: return unary(as<UnaryExpr>(expr));
  case ExprKind::Binary: return binary(as<BinaryExpr>(expr));
  case ExprKind::Conditional: return conditional(as<ConditionalExpr>(expr));
  case ExprKind::Call: return call(as<CallExpr>(expr));
  case ExprKind::Method: return method(as<MethodExpr>(expr));
  case ExprKind::Attribute: return attribute(as<AttributeExpr>(expr));
  case ExprKind::Index: return index(as<IndexExpr>(expr));
  }
  return {};
}

BodyCompiler::Value BodyCompiler::buffer(const BufferExpr &expr) {
  static constexpr ir::BufferId ids[] = {ir::InputBuffer, ir::OutputBuffer, ir::FirstScratchBuffer};
  return number({Type::Buffer, 0}, ids[static_cast<size_t>(expr.buffer)], expr.range);
}

bool gc3::sema::definesLocal(const Program &program, llvm::StringRef name) {
  for (const Stmt *stmt : program.body->statements) {
    const auto *let = dynAs<LetStmt>(stmt);
    const auto *scratch = dynAs<ScratchStmt>(stmt);
    if ((let && let->name.text == name) || (scratch && scratch->name.text == name))
      return true;
  }
  return false;
}

BodyCompiler::Value BodyCompiler::name(const NameExpr &expr) {
  if (const Local *local = find(expr.name))
    return {local->type, local->reg};
  auto param = shared.paramOf.find(expr.name);
  if (param != shared.paramOf.end()) {
    const ParamInfo &info = shared.params[param->getValue()];
    Value value = temporary(info.type);
    emit(info.type.isList() ? Op::LoadParamList : Op::LoadParam, expr.range, value.reg, info.slot);
    return value;
  }
  if (settingsOf && definesLocal(*settingsOf, expr.name)) {
    error(DiagId::NotConstant, expr.range,
          "'" + expr.name.str() +
              "' is a local of the program, but a setting applies to the whole program; use a param");
    return {};
  }
  if (std::optional<ir::Protocol> protocol = protocolNamed(expr.name))
    return number({Type::Protocol, 0}, static_cast<int64_t>(*protocol), expr.range);
  std::vector<std::string> candidates = {"true", "false", "input", "output", "scratch", "Simple", "LL128"};
  if (shared.suggests(locals.size() + shared.params.size())) {
    for (const Local &local : locals)
      candidates.push_back(local.name.str());
    for (const ParamInfo &info : shared.params)
      candidates.push_back(info.syntax->name.text.str());
  }
  std::string near = suggestion(expr.name, candidates);
  bool isFunction = isBuiltin(expr.name) || shared.functionOf.count(expr.name);
  auto past = ended.find(expr.name);
  if (!isFunction && past != ended.end() && past->getValue().isValid()) {
    error(DiagId::UnknownName, expr.range, "'" + expr.name.str() + "' is not known outside of its block")
        .note(past->getValue(), "it was defined here");
    return {};
  }
  error(DiagId::UnknownName, expr.range,
        isFunction ? "'" + expr.name.str() + "' is a function; call it with '(...)'"
                   : "unknown name '" + expr.name.str() + "'" + near);
  return {};
}

BodyCompiler::Value BodyCompiler::unary(const UnaryExpr &expr) {
  Mark before = mark();
  Type wanted{expr.op == UnaryOp::Not ? Type::Bool : Type::Int, 0};
  Value operand = evalAs(*expr.operand, wanted, "the operand of '" + spelling(expr.op).str() + "'");
  release(before);
  if (operand.type.isError())
    return {};
  Value value = temporary(wanted);
  emit(expr.op == UnaryOp::Not      ? Op::Not
       : expr.op == UnaryOp::Negate ? Op::Negate
                                    : Op::Complement,
       expr.range, value.reg, operand.reg);
  return value;
}

BodyCompiler::Value BodyCompiler::binary(const BinaryExpr &expr) {
  if (expr.op == BinaryOp::And || expr.op == BinaryOp::Or)
    return logic(expr);
  Mark before = mark();
  Value lhs = eval(*expr.lhs);
  Value rhs = eval(*expr.rhs);
  return combine(expr.op, expr.opRange, lhs, expr.lhs->range, rhs, expr.rhs->range, before);
}

BodyCompiler::Value BodyCompiler::logic(const BinaryExpr &expr) {
  Type boolean{Type::Bool, 0};
  std::string what = "the operand of '" + spelling(expr.op).str() + "'";
  Mark before = mark();
  Value lhs = settle(evalAs(*expr.lhs, boolean, what), before);
  size_t skip = emit(expr.op == BinaryOp::And ? Op::JumpIfNot : Op::JumpIf, expr.range, 0, lhs.reg);
  release(before);
  Value rhs = settle(evalAs(*expr.rhs, boolean, what), before);
  patch(skip);
  if (lhs.type.isError() || rhs.type.isError())
    return {};
  return {boolean, rhs.reg};
}

static Op opOf(BinaryOp op) {
  switch (op) {
  case BinaryOp::Multiply: return Op::Multiply;
  case BinaryOp::Divide: return Op::Divide;
  case BinaryOp::Modulo: return Op::Modulo;
  case BinaryOp::Add: return Op::Add;
  case BinaryOp::Subtract: return Op::Subtract;
  case BinaryOp::ShiftLeft: return Op::ShiftLeft;
  case BinaryOp::ShiftRight: return Op::ShiftRight;
  case BinaryOp::BitAnd:
  case BinaryOp::And: return Op::BitAnd;
  case BinaryOp::BitXor: return Op::BitXor;
  case BinaryOp::BitOr:
  case BinaryOp::Or: return Op::BitOr;
  case BinaryOp::Equal: return Op::Equal;
  case BinaryOp::NotEqual: return Op::NotEqual;
  case BinaryOp::Less:
  case BinaryOp::Greater: return Op::Less;
  case BinaryOp::LessEqual:
  case BinaryOp::GreaterEqual: return Op::LessEqual;
  }
  return Op::Add;
}

BodyCompiler::Value BodyCompiler::combine(BinaryOp op, SourceRange opRange, Value lhs, SourceRange lhsRange, Value rhs,
                                          SourceRange rhsRange, const Mark &to) {
  release(to);
  if (lhs.type.isError() || rhs.type.isError())
    return {};
  if (op == BinaryOp::Equal || op == BinaryOp::NotEqual)
    return compare(op, opRange, lhs, rhs, rhsRange, to);
  std::string what = "the operand of '" + spelling(op).str() + "'";
  if (op == BinaryOp::Add && (lhs.type.isList() || lhs.type.is(Type::String))) {
    Type type = unify(lhs.type, rhs.type);
    if (type.isError()) {
      error(DiagId::TypeMismatch, opRange,
            "'+' of " + str(lhs.type) + " and " + str(rhs.type) + "; both must have one type");
      return {};
    }
    if (type.isList()) {
      Value value = temporary(type);
      emit(Op::Concat, opRange, value.reg, lhs.reg, rhs.reg);
      return value;
    }
    Value parts[] = {temporary(type), temporary(type)}; // two registers for the operands
    bool swapped = rhs.reg == parts[0].reg;
    if (swapped) // the left operand is a variable, so the right one is in the first temporary
      emit(Op::MoveInt, opRange, parts[1].reg, rhs.reg);
    if (lhs.reg != parts[0].reg)
      emit(Op::MoveInt, opRange, parts[0].reg, lhs.reg);
    if (!swapped && rhs.reg != parts[1].reg)
      emit(Op::MoveInt, opRange, parts[1].reg, rhs.reg);
    emit(Op::Join, opRange, parts[0].reg, parts[0].reg, 2);
    release(to);
    return temporary(type);
  }
  bool good = check(integer, lhs.type, lhsRange, what);
  good &= check(integer, rhs.type, rhsRange, what);
  if (!good)
    return {};
  bool compares = op >= BinaryOp::Less && op <= BinaryOp::GreaterEqual;
  bool swaps = op == BinaryOp::Greater || op == BinaryOp::GreaterEqual;
  Value value = temporary(compares ? Type{Type::Bool, 0} : integer);
  emit(opOf(op), opRange, value.reg, swaps ? rhs.reg : lhs.reg, swaps ? lhs.reg : rhs.reg);
  return value;
}

BodyCompiler::Value BodyCompiler::compare(BinaryOp op, SourceRange opRange, Value lhs, Value rhs, SourceRange rhsRange,
                                          const Mark &to) {
  Type type = unify(lhs.type, rhs.type);
  if (type.isError() || type.base == Type::None) {
    error(DiagId::TypeMismatch, opRange,
          "'" + spelling(op).str() + "' of " + str(lhs.type) + " and " + str(rhs.type) + "; both must have one type");
    return {};
  }
  if (type.base == Type::Chunk) {
    error(DiagId::TypeMismatch, rhsRange, "chunks can't be compared; compare their '.rank', '.index' or '.buffer'");
    return {};
  }
  release(to);
  Value value = temporary({Type::Bool, 0});
  if (!type.isList()) {
    emit(opOf(op), opRange, value.reg, lhs.reg, rhs.reg);
    return value;
  }
  emit(Op::EqualLists, opRange, value.reg, lhs.reg, rhs.reg);
  if (op == BinaryOp::NotEqual)
    emit(Op::Not, opRange, value.reg, value.reg);
  return value;
}

BodyCompiler::Value BodyCompiler::conditional(const ConditionalExpr &expr) {
  Mark before = mark();
  Value condition = evalAs(*expr.condition, {Type::Bool, 0}, "the condition of '?'");
  size_t toNo = emit(Op::JumpIfNot, expr.range, 0, condition.reg);
  release(before);
  Value yes = settle(eval(*expr.yes), before);
  size_t toEnd = emit(Op::Jump, expr.range);
  patch(toNo);
  release(before);
  Value no = settle(eval(*expr.no), before);
  patch(toEnd);
  Type type = unify(yes.type, no.type);
  if (type.isError() && !yes.type.isError() && !no.type.isError())
    error(DiagId::TypeMismatch, expr.range,
          "the branches of '?' are " + str(yes.type) + " and " + str(no.type) + "; both must have one type");
  return {type, no.reg};
}

uint32_t BodyCompiler::typeIndex(Type type) {
  shared.code.types.push_back(type);
  return static_cast<uint32_t>(shared.code.types.size()) - 1;
}

BodyCompiler::Value BodyCompiler::string(const StringExpr &expr) {
  Type type{Type::String, 0};
  bool isPlain = expr.parts.empty() || (expr.parts.size() == 1 && !expr.parts[0].expr);
  if (isPlain)
    return number(type, shared.code.strings.add(expr.parts.empty() ? "" : expr.parts[0].text), expr.range);
  Mark before = mark();
  for (const StringPart &part : expr.parts) {
    if (!part.expr) {
      number(type, shared.code.strings.add(part.text), expr.range);
      continue;
    }
    Mark start = mark();
    Value value = eval(*part.expr);
    if (value.type.is(Type::None))
      error(DiagId::TypeMismatch, part.expr->range, "this expression has no value for the string");
    if (value.type.is(Type::String)) {
      settle(value, start);
      continue;
    }
    release(start);
    Value text = temporary(type);
    emit(Op::Format, part.expr->range, text.reg, value.reg, typeIndex(value.type));
  }
  release(before);
  Value value = temporary(type);
  emit(Op::Join, expr.range, value.reg, value.reg, static_cast<uint32_t>(expr.parts.size()));
  return value;
}
