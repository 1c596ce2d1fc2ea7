// SPDX-License-Identifier: Apache-2.0
// Builds the parts that expressions, statements and items share, and reads the spelling of operators.
#include "AstBuilder.h"

using namespace gc3;
using namespace gc3::parse;

llvm::StringRef ast::spelling(UnaryOp op) {
  static constexpr const char *names[] = {"-", "!", "~"};
  return names[static_cast<size_t>(op)];
}

llvm::StringRef ast::spelling(BinaryOp op) {
  static constexpr const char *names[] = {"*", "/",  "%",  "+", "-",  "<<", ">>", "&",  "^",
                                          "|", "==", "!=", "<", "<=", ">",  ">=", "&&", "||"};
  return names[static_cast<size_t>(op)];
}

void AstBuilder::error(DiagId id, SourceRange range, const std::string &message) {
  failed = true;
  diags.error(id, range, message);
}

ast::Name AstBuilder::name(GC3Parser::NameContext *tree) {
  SourceRange range = session.range(tree);
  return {textOf(range), range};
}

const ast::TypeName *AstBuilder::type(GC3Parser::TypeContext *tree) {
  auto *node = new (arena.Allocate<ast::TypeName>()) ast::TypeName();
  node->range = session.range(tree);
  if (tree->type())
    node->element = type(tree->type());
  else
    node->name = {textOf(node->range), node->range};
  return node;
}

std::vector<ast::Binder> AstBuilder::binders(GC3Parser::BindersContext *tree) {
  std::vector<ast::Binder> nodes;
  for (auto *binder : tree->binder())
    nodes.push_back({name(binder->name()), expression(binder->expression())});
  return nodes;
}

llvm::ArrayRef<ast::Argument> AstBuilder::arguments(GC3Parser::ArgumentsContext *tree) {
  std::vector<ast::Argument> nodes;
  if (!tree)
    return {};
  for (auto *argument : tree->argument()) {
    ast::Name label = argument->name() ? name(argument->name()) : ast::Name();
    nodes.push_back({label, expression(argument->expression())});
    if (!label && nodes.size() > 1 && nodes[nodes.size() - 2].name)
      error(DiagId::WrongArguments, session.range(argument), "a positional argument can't follow a named one");
  }
  return list(nodes);
}

llvm::ArrayRef<ast::Parameter> AstBuilder::parameters(GC3Parser::ParametersContext *tree) {
  std::vector<ast::Parameter> nodes;
  if (!tree)
    return {};
  for (auto *parameter : tree->parameter()) {
    const ast::Expr *value = parameter->expression() ? expression(parameter->expression()) : nullptr;
    nodes.push_back({name(parameter->name()), type(parameter->type()), value});
  }
  return list(nodes);
}

ast::ClauseChunk AstBuilder::place(GC3Parser::PlaceContext *tree) {
  return {session.range(tree), tree->buffer->getText() == "input" ? ast::BufferWord::Input : ast::BufferWord::Output,
          expression(tree->expression(0)), expression(tree->expression(1))};
}
