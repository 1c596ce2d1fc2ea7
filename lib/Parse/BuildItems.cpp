// SPDX-License-Identifier: Apache-2.0
// Builds the items of a file and the clauses of a collective.
#include "AstBuilder.h"

using namespace gc3;
using namespace gc3::ast;
using namespace gc3::parse;

bool AstBuilder::build(GC3Parser::FileContext *tree, File &file) {
  for (auto *inner : tree->item())
    item(inner, file);
  file.usesScratch = usesScratch;
  return good();
}

void AstBuilder::item(GC3Parser::ItemContext *tree, File &file) {
  auto enter = [&](ItemKind kind, auto &items, auto node) {
    file.items.push_back({kind, static_cast<uint32_t>(items.size())});
    items.push_back(node);
  };
  if (auto *import = tree->importItem()) {
    SourceRange range = session.range(import->STRING()->getSymbol());
    const auto *path = dynAs<StringExpr>(stringLiteral(range));
    bool isPlain = path->parts.size() == 1 && !path->parts[0].expr;
    if (!isPlain)
      error(DiagId::BadLiteral, range, "an import needs the path of a file, without expressions");
    enter(ItemKind::Import, file.imports, Import{range, isPlain ? path->parts[0].text : ""});
  } else if (auto *param = tree->paramItem()) {
    enter(ItemKind::Param, file.params,
          Parameter{name(param->name()), type(param->type()), expression(param->value),
                    param->choices ? expression(param->choices) : nullptr});
  } else if (auto *function = tree->functionItem()) {
    enter(ItemKind::Function, file.functions,
          Function{name(function->name()), parameters(function->parameters()),
                   function->type() ? type(function->type()) : nullptr,
                   function->block() ? block(function->block()) : nullptr,
                   function->expression() ? expression(function->expression()) : nullptr});
  } else if (auto *collective = tree->collectiveItem()) {
    std::vector<Clause> clauses;
    for (auto *inner : collective->clause())
      clauses.push_back(clause(inner));
    enter(ItemKind::Collective, file.collectives,
          Collective{name(collective->name()), parameters(collective->parameters()), list(clauses)});
  } else if (auto *program = tree->programItem()) {
    enter(ItemKind::Program, file.programs,
          Program{name(program->name(0)), name(program->name(1)), arguments(program->arguments()),
                  block(program->block())});
  }
}

Clause AstBuilder::clause(GC3Parser::ClauseContext *tree) {
  if (auto *context = tree->ensuresClause())
    return ensures(context);
  Clause node;
  node.range = session.range(tree);
  if (auto *ranks = tree->ranksClause()) {
    node.kind = ClauseKind::Ranks;
    node.value = expression(ranks->expression());
  } else if (auto *shape = tree->shapeClause()) {
    node.kind = ClauseKind::Shape;
    node.buffer = shape->buffer->getText() == "input" ? BufferWord::Input : BufferWord::Output;
    node.value = expression(shape->second ? shape->second : shape->first);
    node.blocks = shape->second ? expression(shape->first) : nullptr;
    node.on = shape->owners ? expression(shape->owners) : nullptr;
  } else if (auto *alias = tree->aliasClause()) {
    node.kind = ClauseKind::Alias;
    node.condition = alias->condition ? expression(alias->condition) : nullptr;
    node.left = place(alias->place(0));
    node.right = place(alias->place(1));
  } else {
    node.kind = ClauseKind::Statement;
    node.statement = tree->letStatement() ? let(tree->letStatement()) : assertStatement(tree->assertStatement());
  }
  return node;
}

Clause AstBuilder::ensures(GC3Parser::EnsuresClauseContext *tree) {
  Clause node;
  node.kind = ClauseKind::Ensures;
  node.range = session.range(tree);
  if (auto *context = tree->binders()) {
    node.binders = list(binders(context));
    node.condition = context->condition ? expression(context->condition) : nullptr;
  }
  node.left = place(tree->place(0));
  if (auto *combination = tree->combination()) {
    node.combines = true;
    node.right = place(combination->place());
    node.innerBinders = list(binders(combination->binders()));
    node.innerCondition = combination->binders()->condition ? expression(combination->binders()->condition) : nullptr;
  } else {
    node.right = place(tree->place(1));
  }
  if (node.left.buffer != BufferWord::Output || node.right.buffer != BufferWord::Input)
    error(DiagId::Syntax, node.range, "an 'ensures' compares the output with the input: 'output(...) == input(...)'");
  return node;
}
