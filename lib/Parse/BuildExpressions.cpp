// SPDX-License-Identifier: Apache-2.0
// Builds expressions, and literals that the grammar does not check completely: numbers, escapes, and expressions inside
// strings. An expression inside a string is parsed with the same grammar, at its place in the file.
#include "AstBuilder.h"
#include "Literals.h"
#include <algorithm>
#include <cassert>
#include <limits>

using namespace gc3;
using namespace gc3::ast;
using namespace gc3::parse;

const Expr *AstBuilder::expression(GC3Parser::ExpressionContext *tree) {
  auto parts = tree->operation();
  if (parts.size() == 1)
    return operation(parts[0]);
  auto *node = make<RangeExpr>(session.range(tree));
  node->first = operation(parts[0]);
  node->last = operation(parts[1]);
  node->step = parts.size() > 2 ? operation(parts[2]) : nullptr;
  return node;
}

const Expr *AstBuilder::operation(GC3Parser::OperationContext *tree) {
  assert(tree && "trees with syntax errors are not built from");
  if (auto *alternative = dynamic_cast<GC3Parser::PrimaryOperationContext *>(tree))
    return primary(alternative->primary());
  if (auto *alternative = dynamic_cast<GC3Parser::MemberOperationContext *>(tree))
    return member(alternative);
  if (auto *alternative = dynamic_cast<GC3Parser::BinaryOperationContext *>(tree))
    return binary(alternative);
  if (auto *alternative = dynamic_cast<GC3Parser::UnaryOperationContext *>(tree))
    return unary(alternative);
  if (auto *alternative = dynamic_cast<GC3Parser::IndexOperationContext *>(tree)) {
    auto *node = make<IndexExpr>(session.range(tree));
    node->list = operation(alternative->operation());
    node->index = expression(alternative->expression());
    return node;
  }
  auto *alternative = static_cast<GC3Parser::ConditionalOperationContext *>(tree); // the only remaining alternative
  auto *node = make<ConditionalExpr>(session.range(tree));
  node->condition = operation(alternative->operation(0));
  node->yes = operation(alternative->operation(1));
  node->no = operation(alternative->operation(2));
  return node;
}

const Expr *AstBuilder::member(GC3Parser::MemberOperationContext *tree) {
  const Expr *receiver = operation(tree->operation());
  if (tree->call()) {
    auto *node = make<MethodExpr>(session.range(tree));
    node->receiver = receiver;
    node->method = name(tree->name());
    node->arguments = arguments(tree->call()->arguments());
    return node;
  }
  auto *node = make<AttributeExpr>(session.range(tree));
  node->receiver = receiver;
  node->attribute = name(tree->name());
  return node;
}

const Expr *AstBuilder::unary(GC3Parser::UnaryOperationContext *tree) {
  std::string op = tree->op->getText();
  if (op == "-")
    if (auto *inner = dynamic_cast<GC3Parser::PrimaryOperationContext *>(tree->operation()))
      if (inner->primary()->INT())
        return intLiteral(session.range(tree), true);
  auto *node = make<UnaryExpr>(session.range(tree));
  node->op = op == "-" ? UnaryOp::Negate : op == "!" ? UnaryOp::Not : UnaryOp::Complement;
  node->operand = operation(tree->operation());
  return node;
}

static bool isComparison(BinaryOp op) {
  return op >= BinaryOp::Equal && op <= BinaryOp::GreaterEqual;
}

const Expr *AstBuilder::binary(GC3Parser::BinaryOperationContext *tree) {
  auto *node = make<BinaryExpr>(session.range(tree));
  node->opRange = session.range(tree->op);
  llvm::StringRef op = textOf(node->opRange);
  node->op = BinaryOp::Multiply;
  while (spelling(node->op) != op)
    node->op = static_cast<BinaryOp>(static_cast<int>(node->op) + 1);
  node->lhs = operation(tree->operation(0));
  node->rhs = operation(tree->operation(1));
  // The tree distinguishes `(a < b) == c` from `a < b == c`: the left side of the former is a primary.
  bool chained = isComparison(node->op) && dynamic_cast<GC3Parser::BinaryOperationContext *>(tree->operation(0)) &&
                 node->lhs->kind == ExprKind::Binary && isComparison(as<BinaryExpr>(*node->lhs).op);
  if (chained)
    error(DiagId::Syntax, node->opRange, "comparisons don't chain; join two of them with '&&'");
  return node;
}

const Expr *AstBuilder::primary(GC3Parser::PrimaryContext *tree) {
  SourceRange range = session.range(tree);
  if (tree->expression())
    return expression(tree->expression());
  if (tree->list())
    return listLiteral(tree->list());
  if (tree->INT())
    return intLiteral(range, false);
  if (tree->STRING())
    return stringLiteral(range);
  if (tree->name() && tree->call()) {
    auto *node = make<CallExpr>(range);
    node->callee = name(tree->name());
    node->arguments = arguments(tree->call()->arguments());
    return node;
  }
  llvm::StringRef word = textOf(range);
  if (tree->name()) {
    auto *node = make<NameExpr>(range);
    node->name = word;
    return node;
  }
  if (word == "true" || word == "false") {
    auto *node = make<BoolExpr>(range);
    node->value = word == "true";
    return node;
  }
  auto *node = make<BufferExpr>(range);
  usesScratch |= word == "scratch";
  node->buffer = word == "input" ? BufferWord::Input : word == "output" ? BufferWord::Output : BufferWord::Scratch;
  return node;
}

const Expr *AstBuilder::listLiteral(GC3Parser::ListContext *tree) {
  std::vector<const Expr *> elements;
  for (auto *element : tree->expression())
    elements.push_back(expression(element));
  auto generators = tree->generator();
  if (generators.empty()) {
    auto *node = make<ListExpr>(session.range(tree));
    node->elements = list(elements);
    return node;
  }
  std::vector<Binder> loops;
  for (auto *generator : generators)
    loops.push_back({name(generator->name()), expression(generator->expression(0)),
                     generator->condition ? expression(generator->condition) : nullptr});
  auto *node = make<ComprehensionExpr>(session.range(tree));
  node->element = elements[0];
  node->binders = list(loops);
  return node;
}

const Expr *AstBuilder::intLiteral(SourceRange range, bool negative) {
  auto *node = make<IntExpr>(range);
  llvm::StringRef digits = textOf(range);
  if (negative)
    digits = digits.drop_front().ltrim(" \t\r\n");
  uint64_t value = 0;
  constexpr uint64_t limit = uint64_t(1) << 63;
  bool odd = negative && (digits.empty() || digits[0] < '0' || digits[0] > '9'); // a comment follows the minus sign
  if (odd)
    digits = digits.drop_front(std::min(digits.size(), digits.find_last_of("/ \n\t") + 1));
  std::string problem = readInt(digits, value);
  if (problem.empty() && value == limit && !negative)
    problem = "the number is too large; an int is less than 2^63";
  if (!problem.empty())
    error(DiagId::BadLiteral, range, problem);
  node->value = static_cast<int64_t>(negative ? 0 - value : value);
  node->spelling = negative ? keep("-" + digits.str()) : digits;
  return node;
}

const Expr *AstBuilder::interpolation(SourceRange range) {
  Session inner(textOf(range), range.begin, diags);
  auto *tree = inner.loneExpression();
  if (!tree) {
    failed = true;
    return nullptr;
  }
  AstBuilder builder(inner, textOf(range), range.begin, arena, diags);
  const Expr *expr = builder.expression(tree->expression());
  failed |= builder.failed;
  usesScratch |= builder.usesScratch;
  return expr;
}

const Expr *AstBuilder::stringLiteral(SourceRange range) {
  llvm::StringRef raw = textOf(range);
  std::vector<StringPart> parts;
  std::string plain;
  auto flush = [&] {
    if (!plain.empty())
      parts.push_back({keep(plain)});
    plain.clear();
  };
  for (size_t i = 1; i + 1 < raw.size(); ++i) {
    char c = raw[i];
    SourceRange here{range.begin + static_cast<uint32_t>(i), range.begin + static_cast<uint32_t>(i) + 1};
    if (c == '\\') {
      char escape = raw[++i];
      if (!llvm::StringRef("\"\\nt").contains(escape))
        error(DiagId::BadLiteral, {here.begin, here.end + 1}, "no such escape; those are \\\" \\\\ \\n and \\t");
      plain += escape == 'n' ? '\n' : escape == 't' ? '\t' : escape;
    } else if ((c == '{' || c == '}') && raw[i + 1] == c) {
      plain += c;
      ++i;
    } else if (c == '{') {
      size_t close = raw.find('}', i);
      if (close == llvm::StringRef::npos) {
        error(DiagId::BadLiteral, here, "'{' without a closing '}' in the string; write '{{' for the character");
        break;
      }
      flush();
      parts.push_back({"", interpolation({here.end, range.begin + static_cast<uint32_t>(close)})});
      i = close;
    } else if (c == '}') {
      error(DiagId::BadLiteral, here, "'}' without an opening '{' in the string; write '}}' for the character");
    } else {
      plain += c;
    }
  }
  flush();
  auto *node = make<StringExpr>(range);
  node->parts = list(parts);
  return node;
}
