// SPDX-License-Identifier: Apache-2.0
// Compiles statements and the bodies of programs.
#include "BodyCompiler.h"

using namespace gc3;
using namespace gc3::ast;
using namespace gc3::sema;

static constexpr Type boolean{Type::Bool, 0};
static constexpr Type stringType{Type::String, 0};

static bool isComparison(BinaryOp op) {
  return op >= BinaryOp::Equal && op <= BinaryOp::GreaterEqual;
}

bool BodyCompiler::block(const BlockStmt &stmt) {
  openScope();
  ++blockDepth;
  bool ends = false;
  for (const Stmt *inner : stmt.statements)
    ends |= statement(*inner);
  --blockDepth;
  closeScope();
  return ends;
}

bool BodyCompiler::statement(const Stmt &stmt) {
  Mark before = mark();
  switch (stmt.kind) {
  case StmtKind::Let: let(as<LetStmt>(stmt)); return false;
  case StmtKind::Assign: assign(as<AssignStmt>(stmt)); return false;
  case StmtKind::Expr:
    eval(*as<ExprStmt>(stmt).value);
    release(before);
    return false;
  case StmtKind::For: {
    const auto &loop = as<ForStmt>(stmt);
    forLoop(loop.name, *loop.values, [&] { block(*loop.body); });
    return false;
  }
  case StmtKind::While: whileLoop(as<WhileStmt>(stmt)); return false;
  case StmtKind::If: return ifStatement(as<IfStmt>(stmt));
  case StmtKind::Block: return block(as<BlockStmt>(stmt));
  case StmtKind::Return: returnStatement(as<ReturnStmt>(stmt)); return true;
  case StmtKind::Jump: jump(as<JumpStmt>(stmt)); return false;
  case StmtKind::Assert: assertStatement(as<AssertStmt>(stmt)); return false;
  case StmtKind::Remark: {
    Value value = evalAs(*as<RemarkStmt>(stmt).text, stringType, "the text of 'remark'");
    emit(Op::Remark, stmt.range, value.reg);
    release(before);
    return false;
  }
  case StmtKind::Parallelize:
  case StmtKind::Channel: directive(static_cast<const ScopeStmt &>(stmt)); return false;
  case StmtKind::Protocol:
  case StmtKind::Sizes:
  case StmtKind::Nodes:
  case StmtKind::Instances:
  case StmtKind::Scratch:
    if (kind != Kind::Program || blockDepth != 1)
      error(DiagId::Misplaced, stmt.range, "a setting must be directly in the body of a program");
    return false;
  }
  return false;
}

void BodyCompiler::let(const LetStmt &stmt) {
  // Declare the name after the value is evaluated, so that the value cannot use the name.
  Mark before = mark();
  Value value = eval(*stmt.value);
  Type type = stmt.type ? shared.resolve(*stmt.type) : value.type;
  if (stmt.type)
    check(type, value.type, stmt.value->range, "'" + stmt.name.text.str() + "'");
  if (value.type.is(Type::None) && !stmt.type) {
    error(DiagId::TypeMismatch, stmt.value->range, "this expression has no value for '" + stmt.name.text.str() + "'");
    type = Type();
  } else if (!stmt.type && type.base == Type::Unknown && type.isList()) {
    error(DiagId::TypeMismatch, stmt.value->range,
          "the element type of this empty list is not known; write for example '" + stmt.name.text.str() + ": [int]'");
    type = Type();
  }
  release(before);
  Value variable = temporary(type);
  if (accepts(type, value.type) && !type.isError())
    moveTo(value, variable.reg, before, stmt.range);
  declare(stmt.name, type, variable.reg, stmt.isVar);
}

/// Reports why a name can't be assigned. `local` is the local of this name, or null.
void BodyCompiler::refuseAssignment(const NameExpr &target, const Local *local) {
  auto param = shared.paramOf.find(target.name);
  const bool isParam = !local && param != shared.paramOf.end();
  if (!local && !isParam && !protocolNamed(target.name)) {
    eval(target); // reports the name
    return;
  }
  const char *reason = local ? "only what 'var' declares can" : isParam ? "params are constants" : "it is a protocol";
  Diagnostic &diagnostic =
      error(DiagId::NotAssignable, target.range, "'" + target.name.str() + "' can't be assigned; " + reason);
  SourceRange declared;
  if (local)
    declared = local->range;
  else if (isParam)
    declared = shared.params[param->getValue()].syntax->name.range;
  if (declared.isValid())
    diagnostic.note(declared, "declared here");
}

void BodyCompiler::assign(const AssignStmt &stmt) {
  const Expr *base = stmt.target;
  while (const auto *element = dynAs<IndexExpr>(base))
    base = element->list;
  const auto &target = as<NameExpr>(*base);
  const Local *local = find(target.name);
  Mark before = mark();
  if (!local || !local->assignable) {
    refuseAssignment(target, local);
    eval(*stmt.value);
    release(before);
    return;
  }
  if (stmt.target->kind == ExprKind::Index)
    return assignElement(stmt);
  Value variable{local->type, local->reg};
  Value value = eval(*stmt.value);
  if (stmt.compound)
    value = combine(stmt.op, stmt.opRange, variable, stmt.target->range, value, stmt.value->range, before);
  if (check(variable.type, value.type, stmt.value->range, "'" + target.name.str() + "'"))
    moveTo(value, variable.reg, before, stmt.range);
  release(before);
}

/// Compiles `xs[i][j] = value`: takes the inner list out, so that no other list refers to it, changes it, and puts it
/// back.
void BodyCompiler::assignElement(const AssignStmt &stmt) {
  Mark before = mark();
  std::vector<const IndexExpr *> path; // outermost list first
  const Expr *base = stmt.target;
  for (; base->kind == ExprKind::Index; base = as<IndexExpr>(*base).list)
    path.insert(path.begin(), &as<IndexExpr>(*base));
  const Local *local = find(as<NameExpr>(*base).name);
  Value inner{local->type, local->reg};
  std::vector<Value> indices;
  for (const IndexExpr *step : path) {
    Mark start = mark();
    indices.push_back(settle(evalAs(*step->index, integer, "the index of a list"), start));
  }
  Mark start = mark();
  Value value = settle(eval(*stmt.value), start);
  std::vector<Value> lists = {inner};
  for (size_t i = 0; i < path.size(); ++i) {
    if (!inner.type.isList()) {
      if (!inner.type.isError())
        error(DiagId::TypeMismatch, path[i]->list->range, "only a list has elements, but this is " + str(inner.type));
      return release(before);
    }
    if (i + 1 == path.size())
      break;
    Type type = inner.type.element();
    if (!type.isList()) {
      error(DiagId::TypeMismatch, path[i + 1]->list->range, "only a list has elements, but this is " + str(type));
      return release(before);
    }
    Value taken = temporary(type);
    emit(Op::TakeList, path[i]->range, taken.reg, inner.reg, indices[i].reg);
    lists.push_back(inner = taken);
  }
  Type type = inner.type.element();
  static constexpr Op gets[] = {Op::GetInt, Op::GetChunk, Op::GetList};
  static constexpr Op sets[] = {Op::SetInt, Op::SetChunk, Op::SetList};
  auto file = static_cast<size_t>(type.file());
  if (stmt.compound) {
    Mark operandMark = mark();
    Value old = temporary(type);
    emit(gets[file], stmt.target->range, old.reg, inner.reg, indices.back().reg);
    value = combine(stmt.op, stmt.opRange, old, stmt.target->range, value, stmt.value->range, operandMark);
  }
  if (check(type, value.type, stmt.value->range, "an element of this list"))
    emit(sets[file], stmt.target->range, inner.reg, indices.back().reg, value.reg);
  for (size_t i = lists.size() - 1; i > 0; --i)
    emit(Op::SetList, stmt.target->range, lists[i - 1].reg, indices[i - 1].reg, lists[i].reg, 1);
  release(before);
}

void BodyCompiler::forLoop(const ast::Name &name, const Expr &values, Body body) {
  if (const auto *range = dynAs<RangeExpr>(&values))
    forRange(name, *range, body);
  else
    forList(name, values, body);
}

void BodyCompiler::forRange(const ast::Name &name, const RangeExpr &values, Body body) {
  Mark before = mark();
  uint32_t variable = rangeOperands(values);
  size_t begin = emit(Op::RangeBegin, values.range, variable);
  uint32_t start = label();
  openScope();
  declare(name, integer, variable, false);
  loops.push_back({{}, {}, directives});
  body();
  for (size_t jump : loops.back().continues)
    patch(jump);
  emit(Op::RangeNext, values.range, variable, start);
  patch(begin);
  for (size_t jump : loops.back().breaks)
    patch(jump);
  loops.pop_back();
  closeScope();
  release(before);
}

void BodyCompiler::forList(const ast::Name &name, const Expr &values, Body body) {
  Mark before = mark();
  Value list = settle(eval(values), before);
  if (!list.type.isError() && !list.type.isList())
    error(DiagId::TypeMismatch, values.range, "'for' needs a list or a range, not " + str(list.type));
  Type type = list.type.isList() && !list.type.isError() ? list.type.element() : Type();
  Value position = number(integer, 0, values.range);
  openScope();
  Value element = declareFresh(name, type, false);
  static constexpr Op ops[] = {Op::EachInt, Op::EachChunk, Op::EachList};
  uint32_t start = label();
  emit(ops[static_cast<size_t>(type.file())], values.range, element.reg, position.reg, list.reg);
  size_t exit = emit(Op::Jump, values.range);
  loops.push_back({{}, {}, directives});
  body();
  for (size_t jump : loops.back().continues)
    patch(jump);
  emit(Op::Loop, values.range, start);
  patch(exit);
  for (size_t jump : loops.back().breaks)
    patch(jump);
  loops.pop_back();
  closeScope();
  if (list.type.isList())
    emit(Op::NewList, values.range, list.reg); // releases the list
  release(before);
}

void BodyCompiler::whileLoop(const WhileStmt &stmt) {
  Mark before = mark();
  size_t toCondition = emit(Op::Jump, stmt.condition->range);
  uint32_t start = label();
  loops.push_back({{}, {}, directives});
  block(*stmt.body);
  for (size_t jump : loops.back().continues)
    patch(jump);
  patch(toCondition);
  Value condition = evalAs(*stmt.condition, boolean, "the condition of 'while'");
  emit(Op::LoopIf, stmt.condition->range, start, condition.reg);
  release(before);
  for (size_t jump : loops.back().breaks)
    patch(jump);
  loops.pop_back();
}

bool BodyCompiler::ifStatement(const IfStmt &stmt) {
  Mark before = mark();
  Value condition = evalAs(*stmt.condition, boolean, "the condition of 'if'");
  release(before);
  size_t toElse = emit(Op::JumpIfNot, stmt.condition->range, 0, condition.reg);
  bool yesEnds = block(*stmt.yes);
  if (!stmt.no) {
    patch(toElse);
    return false;
  }
  size_t toEnd = emit(Op::Jump, stmt.range);
  patch(toElse);
  bool noEnds = statement(*stmt.no);
  patch(toEnd);
  return yesEnds && noEnds;
}

void BodyCompiler::returnStatement(const ReturnStmt &stmt) {
  Mark before = mark();
  if (kind != Kind::Function) {
    error(DiagId::Misplaced, stmt.range, "'return' outside of a function");
    return;
  }
  bool wantsValue = !resultType.is(Type::None);
  Value value{{Type::None, 0}, 0};
  if (stmt.value)
    value = settle(eval(*stmt.value), before);
  if (stmt.value && !wantsValue && !value.type.is(Type::None))
    error(DiagId::TypeMismatch, stmt.value->range,
          "'" + code.name + "' returns nothing; write '-> " + str(value.type) + "' after its parameters");
  else if (!stmt.value && wantsValue && !resultType.isError())
    error(DiagId::TypeMismatch, stmt.range, "'" + code.name + "' returns " + str(resultType) + "; a value is missing");
  else if (stmt.value && wantsValue)
    check(resultType, value.type, stmt.value->range, "the result of '" + code.name + "'");
  emitReturn(wantsValue ? value : Value{{Type::None, 0}, 0}, stmt.range);
  release(before);
}

void BodyCompiler::jump(const JumpStmt &stmt) {
  if (loops.empty()) {
    error(DiagId::Misplaced, stmt.range, std::string(stmt.isBreak ? "'break'" : "'continue'") + " outside of a loop");
    return;
  }
  if (directives != loops.back().directives)
    emit(Op::PopDirectives, stmt.range, directives - loops.back().directives);
  size_t jump = emit(Op::Jump, stmt.range);
  (stmt.isBreak ? loops.back().breaks : loops.back().continues).push_back(jump);
}

void BodyCompiler::assertStatement(const AssertStmt &stmt) {
  Mark before = mark();
  const auto *comparison = dynAs<BinaryExpr>(stmt.condition);
  if (!stmt.text && comparison && isComparison(comparison->op))
    return assertComparison(*comparison);
  Value condition = evalAs(*stmt.condition, boolean, "the condition of 'assert'");
  release(before);
  size_t good = emit(Op::JumpIf, stmt.condition->range, 0, condition.reg);
  Value message = stmt.text ? evalAs(*stmt.text, stringType, "the text of 'assert'")
                            : number(stringType, shared.code.strings.add("this assertion does not hold"), stmt.range);
  emit(Op::FailAssert, stmt.condition->range, message.reg);
  patch(good);
  release(before);
}

/// Compiles an assert of a comparison such as `a < b` without a text. The message shows both values, so the code keeps
/// them: a second evaluation could repeat the effects of calls.
void BodyCompiler::assertComparison(const BinaryExpr &expr) {
  Mark before = mark();
  Value lhs = settle(eval(*expr.lhs), before);
  Mark afterLeft = mark();
  Value rhs = settle(eval(*expr.rhs), afterLeft);
  Mark afterRight = mark();
  Value holds = combine(expr.op, expr.opRange, lhs, expr.lhs->range, rhs, expr.rhs->range, afterRight);
  if (holds.type.isError())
    return release(before);
  release(afterRight);
  size_t good = emit(Op::JumpIf, expr.range, 0, holds.reg);
  Value message = number(stringType, shared.code.strings.add("this assertion does not hold: "), expr.range);
  Value left = temporary(stringType);
  emit(Op::Format, expr.lhs->range, left.reg, lhs.reg, typeIndex(lhs.type));
  number(stringType, shared.code.strings.add((" " + spelling(expr.op) + " ").str()), expr.range);
  Value right = temporary(stringType);
  emit(Op::Format, expr.rhs->range, right.reg, rhs.reg, typeIndex(rhs.type));
  emit(Op::Join, expr.range, message.reg, message.reg, 4);
  emit(Op::FailAssert, expr.range, message.reg);
  patch(good);
  release(before);
}

void BodyCompiler::directive(const ScopeStmt &stmt) {
  bool isChannel = stmt.kind == StmtKind::Channel;
  Mark before = mark();
  Value value = evalAs(*stmt.value, integer, isChannel ? "the number of a channel" : "the factor of 'parallelize'");
  release(before);
  emit(isChannel ? Op::PushChannel : Op::PushParallel, stmt.value->range, value.reg);
  ++directives;
  block(*stmt.body);
  --directives;
  emit(Op::PopDirectives, stmt.range, 1);
}

void BodyCompiler::program(const Program &syntax, const ProgramCode &program) {
  uint32_t first = shared.usesScratch ? ir::FirstScratchBuffer + 1 : ir::FirstScratchBuffer;
  size_t named = 0;
  for (const Stmt *stmt : syntax.body->statements)
    if (const auto *scratch = dynAs<ScratchStmt>(stmt); scratch && named < program.scratchNames.size()) {
      Value value = number({Type::Buffer, 0}, first + static_cast<int64_t>(named++), stmt->range);
      declare(scratch->name, value.type, value.reg, false);
    }
  // The names of scratch buffers and the body share a scope, so a local cannot have such a name.
  blockDepth = 1;
  for (const Stmt *stmt : syntax.body->statements)
    statement(*stmt);
  emit(Op::ReturnNone, {syntax.body->range.end - 1, syntax.body->range.end});
  finish();
}
