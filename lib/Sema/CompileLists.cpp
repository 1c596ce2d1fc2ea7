// SPDX-License-Identifier: Apache-2.0
// Compiles lists, comprehensions and ranges.
#include "BodyCompiler.h"

using namespace gc3;
using namespace gc3::ast;
using namespace gc3::sema;

void BodyCompiler::append(uint32_t listRegister, Value element, SourceRange range) {
  static constexpr Op ops[] = {Op::AppendInt, Op::AppendChunk, Op::AppendList};
  emit(ops[static_cast<size_t>(element.type.file())], range, listRegister, element.reg);
}

BodyCompiler::Value BodyCompiler::list(const ListExpr &expr) {
  Value value = temporary({Type::Unknown, 1});
  emit(Op::NewList, expr.range, value.reg);
  Type type{Type::Unknown, 0};
  bool good = true;
  for (const Expr *syntax : expr.elements) {
    Mark before = mark();
    Value element = eval(*syntax);
    release(before);
    Type both = unify(type, element.type);
    bool clash = both.isError() && !element.type.isError() && good;
    if (clash)
      error(DiagId::TypeMismatch, syntax->range, "a list of " + str(type) + " can't hold " + str(element.type));
    if (element.type.is(Type::None))
      error(DiagId::TypeMismatch, syntax->range, "this expression has no value for the list");
    good &= !both.isError() && !element.type.is(Type::None);
    if (good)
      type = both;
    append(value.reg, element, syntax->range);
  }
  value.type = type.list();
  return good ? value : Value();
}

void BodyCompiler::generate(llvm::ArrayRef<Binder> binders, Body body) {
  if (binders.empty())
    return body();
  const Binder &binder = binders.front();
  forLoop(binder.name, *binder.values, [&] {
    size_t skip = 0;
    if (binder.condition) {
      Mark before = mark();
      Value condition = evalAs(*binder.condition, {Type::Bool, 0}, "the condition after 'if'");
      release(before);
      skip = emit(Op::JumpIfNot, binder.condition->range, 0, condition.reg);
    }
    generate(binders.drop_front(), body);
    if (binder.condition)
      patch(skip);
  });
}

BodyCompiler::Value BodyCompiler::comprehension(const ComprehensionExpr &expr) {
  Value value = temporary({Type::Unknown, 1});
  emit(Op::NewList, expr.range, value.reg);
  Type type;
  generate(expr.binders, [&] {
    Mark before = mark();
    Value element = eval(*expr.element);
    release(before);
    type = element.type;
    if (type.is(Type::None))
      error(DiagId::TypeMismatch, expr.element->range, "this expression has no value for the list");
    append(value.reg, element, expr.element->range);
  });
  value.type = type.isError() || type.is(Type::None) ? Type() : type.list();
  return value.type.isError() ? Value() : value;
}

/// Evaluates first, last and step of a range into three consecutive registers. Returns the first of them.
uint32_t BodyCompiler::rangeOperands(const RangeExpr &expr) {
  uint32_t first = top[0];
  for (const Expr *bound : {expr.first, expr.last, expr.step}) {
    Mark before = mark();
    if (bound)
      settle(evalAs(*bound, integer, bound == expr.step ? "the step of a range" : "the bound of a range"), before);
    else
      number(integer, 1, expr.range);
  }
  return first;
}

BodyCompiler::Value BodyCompiler::range(const RangeExpr &expr) {
  Mark before = mark();
  uint32_t operands = rangeOperands(expr);
  release(before);
  Value value = temporary({Type::Int, 1});
  emit(Op::ListRange, expr.range, value.reg, operands);
  return value;
}

BodyCompiler::Value BodyCompiler::index(const IndexExpr &expr) {
  Mark before = mark();
  Value list = eval(*expr.list);
  Value index = evalAs(*expr.index, integer, "the index of a list");
  release(before);
  if (!list.type.isError() && !list.type.isList()) {
    error(DiagId::TypeMismatch, expr.list->range, "only a list has elements, but this is " + str(list.type));
    return {};
  }
  if (list.type.isError() || index.type.isError())
    return {};
  if (list.type == Type{Type::Unknown, 1}) {
    error(DiagId::TypeMismatch, expr.list->range, "this list is always empty");
    return {};
  }
  static constexpr Op ops[] = {Op::GetInt, Op::GetChunk, Op::GetList};
  Value value = temporary(list.type.element());
  emit(ops[static_cast<size_t>(value.type.file())], expr.range, value.reg, list.reg, index.reg);
  return value;
}
