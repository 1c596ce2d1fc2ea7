// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "Session.h"
#include "gc3/Parse/Ast.h"

namespace gc3::parse {

/// Copies ANTLR's tree into the AST's arena. Reports faults that the grammar accepts and the language does not: in
/// literals, escapes, chained comparisons, and targets of assignments.
class AstBuilder {
public:
  AstBuilder(const Session &parsed, llvm::StringRef parsedText, uint32_t textBase, llvm::BumpPtrAllocator &nodes,
             Diagnostics &sink)
      : session(parsed), text(parsedText), base(textBase), arena(nodes), diags(sink) {}

  bool build(GC3Parser::FileContext *tree, ast::File &file);
  const ast::Expr *expression(GC3Parser::ExpressionContext *tree);
  bool good() const { return !failed; }

private:
  // Parts
  void error(DiagId id, SourceRange range, const std::string &message);
  ast::Name name(GC3Parser::NameContext *tree);
  llvm::StringRef textOf(SourceRange range) const { return text.slice(range.begin - base, range.end - base); }
  llvm::StringRef keep(llvm::StringRef string) { return string.copy(arena); }
  const ast::TypeName *type(GC3Parser::TypeContext *tree);
  std::vector<ast::Binder> binders(GC3Parser::BindersContext *tree);
  llvm::ArrayRef<ast::Argument> arguments(GC3Parser::ArgumentsContext *tree);
  llvm::ArrayRef<ast::Parameter> parameters(GC3Parser::ParametersContext *tree);
  ast::ClauseChunk place(GC3Parser::PlaceContext *tree);

  template <typename Node>
  llvm::ArrayRef<Node> list(const std::vector<Node> &nodes) {
    return llvm::ArrayRef<Node>(nodes).copy(arena);
  }
  template <typename Node>
  Node *make(SourceRange range) {
    Node *node = new (arena.Allocate<Node>()) Node();
    node->kind = Node::Kind;
    node->range = range;
    return node;
  }

  // Expressions
  const ast::Expr *operation(GC3Parser::OperationContext *tree);
  const ast::Expr *unary(GC3Parser::UnaryOperationContext *tree);
  const ast::Expr *binary(GC3Parser::BinaryOperationContext *tree);
  const ast::Expr *member(GC3Parser::MemberOperationContext *tree);
  const ast::Expr *primary(GC3Parser::PrimaryContext *tree);
  const ast::Expr *listLiteral(GC3Parser::ListContext *tree);
  const ast::Expr *intLiteral(SourceRange range, bool negative);
  const ast::Expr *stringLiteral(SourceRange range);
  const ast::Expr *interpolation(SourceRange range);

  // Statements
  const ast::Stmt *statement(GC3Parser::StatementContext *tree);
  const ast::BlockStmt *block(GC3Parser::BlockContext *tree);
  const ast::Stmt *let(GC3Parser::LetStatementContext *tree);
  const ast::Stmt *ifStatement(GC3Parser::IfStatementContext *tree);
  const ast::Stmt *assertStatement(GC3Parser::AssertStatementContext *tree);
  const ast::Stmt *plain(GC3Parser::PlainStatementContext *tree);
  const ast::Stmt *setting(GC3Parser::StatementContext *tree);
  const ast::Stmt *control(GC3Parser::StatementContext *tree);

  // Items
  void item(GC3Parser::ItemContext *tree, ast::File &file);
  ast::Clause clause(GC3Parser::ClauseContext *tree);
  ast::Clause ensures(GC3Parser::EnsuresClauseContext *tree);

  const Session &session;
  llvm::StringRef text;
  uint32_t base;
  llvm::BumpPtrAllocator &arena;
  Diagnostics &diags;
  bool failed = false;
  bool usesScratch = false;
};

} // namespace gc3::parse
