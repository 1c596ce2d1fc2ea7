// SPDX-License-Identifier: Apache-2.0
// Prints expressions as canonical text: every operation has parentheses; names, literals and postfix forms have none.
#include "PrintExpressions.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;
using namespace gc3::ast;
using llvm::raw_ostream;

static void printText(raw_ostream &out, llvm::StringRef text) {
  for (char c : text) {
    switch (c) {
    case '"': out << "\\\""; break;
    case '\\': out << "\\\\"; break;
    case '\n': out << "\\n"; break;
    case '\t': out << "\\t"; break;
    case '{': out << "{{"; break;
    case '}': out << "}}"; break;
    default: out << c;
    }
  }
}

void parse::printQuoted(raw_ostream &out, llvm::StringRef text) {
  out << '"';
  printText(out, text);
  out << '"';
}

void parse::printArguments(raw_ostream &out, llvm::ArrayRef<Argument> arguments) {
  out << '(';
  for (const Argument &argument : arguments) {
    if (&argument != arguments.begin())
      out << ", ";
    if (argument.name)
      out << argument.name.text << " = ";
    printExpr(out, *argument.value);
  }
  out << ')';
}

void parse::printBinders(raw_ostream &out, llvm::ArrayRef<Binder> binders) {
  for (const Binder &binder : binders) {
    out << (&binder == binders.begin() ? "" : ", ") << binder.name.text << " in ";
    printExpr(out, *binder.values);
  }
}

static void printList(raw_ostream &out, const ListExpr &list) {
  out << '[';
  for (size_t i = 0; i < list.elements.size(); ++i) {
    out << (i == 0 ? "" : ", ");
    parse::printExpr(out, *list.elements[i]);
  }
  out << ']';
}

static void printComprehension(raw_ostream &out, const ComprehensionExpr &expr) {
  out << '[';
  parse::printExpr(out, *expr.element);
  for (const Binder &binder : expr.binders) {
    out << " for " << binder.name.text << " in ";
    parse::printExpr(out, *binder.values);
    if (binder.condition) {
      out << " if ";
      parse::printExpr(out, *binder.condition);
    }
  }
  out << ']';
}

static void printString(raw_ostream &out, const StringExpr &string) {
  out << '"';
  for (const StringPart &part : string.parts) {
    if (!part.expr) {
      printText(out, part.text);
      continue;
    }
    out << '{';
    parse::printExpr(out, *part.expr);
    out << '}';
  }
  out << '"';
}

static void printRange(raw_ostream &out, const RangeExpr &range) {
  out << '(';
  parse::printExpr(out, *range.first);
  out << "..";
  parse::printExpr(out, *range.last);
  if (range.step) {
    out << " by ";
    parse::printExpr(out, *range.step);
  }
  out << ')';
}

static void printOperation(raw_ostream &out, const Expr &expr) {
  out << '(';
  if (const auto *unary = dynAs<UnaryExpr>(&expr)) {
    out << spelling(unary->op);
    parse::printExpr(out, *unary->operand);
  } else if (const auto *binary = dynAs<BinaryExpr>(&expr)) {
    parse::printExpr(out, *binary->lhs);
    out << ' ' << spelling(binary->op) << ' ';
    parse::printExpr(out, *binary->rhs);
  } else {
    const auto &conditional = as<ConditionalExpr>(expr);
    parse::printExpr(out, *conditional.condition);
    out << " ? ";
    parse::printExpr(out, *conditional.yes);
    out << " : ";
    parse::printExpr(out, *conditional.no);
  }
  out << ')';
}

/// Prints the expression before a postfix: a receiver or a list. A negative number needs parentheses, because `-1.x` is
/// -(1.x).
static void printPostfixBase(raw_ostream &out, const Expr &expr) {
  const auto *number = dynAs<IntExpr>(&expr);
  bool negative = number && number->spelling.startswith("-");
  out << (negative ? "(" : "");
  parse::printExpr(out, expr);
  out << (negative ? ")" : "");
}

void parse::printExpr(raw_ostream &out, const Expr &expr) {
  static constexpr const char *buffers[] = {"input", "output", "scratch"};
  switch (expr.kind) {
  case ExprKind::Int: out << as<IntExpr>(expr).spelling; return;
  case ExprKind::Bool: out << (as<BoolExpr>(expr).value ? "true" : "false"); return;
  case ExprKind::String: printString(out, as<StringExpr>(expr)); return;
  case ExprKind::Buffer: out << buffers[static_cast<size_t>(as<BufferExpr>(expr).buffer)]; return;
  case ExprKind::Name: out << as<NameExpr>(expr).name; return;
  case ExprKind::List: printList(out, as<ListExpr>(expr)); return;
  case ExprKind::Comprehension: printComprehension(out, as<ComprehensionExpr>(expr)); return;
  case ExprKind::Range: printRange(out, as<RangeExpr>(expr)); return;
  case ExprKind::Unary:
  case ExprKind::Binary:
  case ExprKind::Conditional: printOperation(out, expr); return;
  case ExprKind::Call:
    out << as<CallExpr>(expr).callee.text;
    printArguments(out, as<CallExpr>(expr).arguments);
    return;
  case ExprKind::Method:
    printPostfixBase(out, *as<MethodExpr>(expr).receiver);
    out << '.' << as<MethodExpr>(expr).method.text;
    printArguments(out, as<MethodExpr>(expr).arguments);
    return;
  case ExprKind::Attribute:
    printPostfixBase(out, *as<AttributeExpr>(expr).receiver);
    out << '.' << as<AttributeExpr>(expr).attribute.text;
    return;
  case ExprKind::Index:
    printPostfixBase(out, *as<IndexExpr>(expr).list);
    out << '[';
    printExpr(out, *as<IndexExpr>(expr).index);
    out << ']';
    return;
  }
}
