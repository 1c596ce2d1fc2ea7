// SPDX-License-Identifier: Apache-2.0
// Builds statements.
#include "AstBuilder.h"

using namespace gc3;
using namespace gc3::ast;
using namespace gc3::parse;

const BlockStmt *AstBuilder::block(GC3Parser::BlockContext *tree) {
  std::vector<const Stmt *> statements;
  for (auto *inner : tree->statement())
    statements.push_back(statement(inner));
  auto *node = make<BlockStmt>(session.range(tree));
  node->statements = list(statements);
  return node;
}

const Stmt *AstBuilder::statement(GC3Parser::StatementContext *tree) {
  if (tree->plainStatement())
    return plain(tree->plainStatement());
  if (tree->letStatement())
    return let(tree->letStatement());
  if (tree->ifStatement())
    return ifStatement(tree->ifStatement());
  if (tree->block())
    return block(tree->block());
  if (tree->assertStatement())
    return assertStatement(tree->assertStatement());
  if (const Stmt *node = control(tree))
    return node;
  return setting(tree);
}

const Stmt *AstBuilder::let(GC3Parser::LetStatementContext *tree) {
  auto *node = make<LetStmt>(session.range(tree));
  node->isVar = tree->kind->getText() == "var";
  node->name = name(tree->name());
  node->type = tree->type() ? type(tree->type()) : nullptr;
  node->value = expression(tree->expression());
  return node;
}

const Stmt *AstBuilder::ifStatement(GC3Parser::IfStatementContext *tree) {
  auto *node = make<IfStmt>(session.range(tree));
  node->condition = expression(tree->expression());
  node->yes = block(tree->block(0));
  node->no = nullptr;
  if (tree->ifStatement())
    node->no = ifStatement(tree->ifStatement());
  else if (tree->block().size() > 1)
    node->no = block(tree->block(1));
  return node;
}

const Stmt *AstBuilder::assertStatement(GC3Parser::AssertStatementContext *tree) {
  auto *node = make<AssertStmt>(session.range(tree));
  node->condition = expression(tree->expression(0));
  node->text = tree->expression().size() > 1 ? expression(tree->expression(1)) : nullptr;
  return node;
}

/// Builds loops, jumps, remarks and the blocks of directives. Returns null for other statements.
const Stmt *AstBuilder::control(GC3Parser::StatementContext *tree) {
  SourceRange range = session.range(tree);
  if (auto *loop = tree->forStatement()) {
    auto *node = make<ForStmt>(range);
    node->name = name(loop->name());
    node->values = expression(loop->expression());
    node->body = block(loop->block());
    return node;
  }
  if (auto *loop = tree->whileStatement()) {
    auto *node = make<WhileStmt>(range);
    node->condition = expression(loop->expression());
    node->body = block(loop->block());
    return node;
  }
  if (auto *exit = tree->returnStatement()) {
    auto *node = make<ReturnStmt>(range);
    node->value = exit->expression() ? expression(exit->expression()) : nullptr;
    return node;
  }
  if (auto *jump = tree->jumpStatement()) {
    auto *node = make<JumpStmt>(range);
    node->isBreak = jump->kind->getText() == "break";
    return node;
  }
  if (auto *remark = tree->remarkStatement()) {
    auto *node = make<RemarkStmt>(range);
    node->text = expression(remark->expression());
    return node;
  }
  auto scope = [&](StmtKind kind, auto *context) {
    auto *node = new (arena.Allocate<ScopeStmt>()) ScopeStmt();
    node->kind = kind;
    node->range = range;
    node->value = expression(context->expression());
    node->body = block(context->block());
    return node;
  };
  if (auto *context = tree->parallelizeStatement())
    return scope(StmtKind::Parallelize, context);
  if (auto *context = tree->channelStatement())
    return scope(StmtKind::Channel, context);
  return nullptr;
}

const Stmt *AstBuilder::setting(GC3Parser::StatementContext *tree) {
  SourceRange range = session.range(tree);
  if (auto *context = tree->protocolSetting()) {
    auto *node = make<ProtocolStmt>(range);
    node->value = expression(context->expression());
    return node;
  }
  if (auto *context = tree->sizesSetting()) {
    auto *node = make<SizesStmt>(range);
    node->value = expression(context->expression());
    node->isPinned = context->pin != nullptr;
    node->orNccl = context->otherwise != nullptr;
    return node;
  }
  if (auto *context = tree->nodesSetting()) {
    auto *node = make<NodesStmt>(range);
    node->nodes = expression(context->nodes);
    node->ranksOfNode = expression(context->ranks);
    return node;
  }
  if (auto *context = tree->instancesSetting()) {
    auto *node = make<InstancesStmt>(range);
    node->value = expression(context->expression());
    return node;
  }
  auto *node = make<ScratchStmt>(range);
  node->name = name(tree->scratchSetting()->name());
  return node;
}

static bool isTarget(const Expr *expr) {
  while (const auto *index = dynAs<IndexExpr>(expr))
    expr = index->list;
  return expr->kind == ExprKind::Name;
}

const Stmt *AstBuilder::plain(GC3Parser::PlainStatementContext *tree) {
  SourceRange range = session.range(tree);
  const Expr *first = expression(tree->expression(0));
  if (!tree->assign) {
    auto *node = make<ExprStmt>(range);
    node->value = first;
    return node;
  }
  auto *node = make<AssignStmt>(range);
  node->target = first;
  node->opRange = session.range(tree->assign);
  if (!isTarget(first))
    error(DiagId::NotAssignable, first->range, "only a variable or an element of one can be assigned");
  switch (textOf(node->opRange)[0]) {
  case '+': node->op = BinaryOp::Add; break;
  case '-': node->op = BinaryOp::Subtract; break;
  case '/': node->op = BinaryOp::Divide; break;
  case '%': node->op = BinaryOp::Modulo; break;
  default: node->op = BinaryOp::Multiply; break;
  }
  node->compound = textOf(node->opRange) != "=";
  node->value = expression(tree->expression(1));
  return node;
}
