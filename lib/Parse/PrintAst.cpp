// SPDX-License-Identifier: Apache-2.0
// Prints a file as canonical text: items in their order, one statement per line, two spaces per level.
#include "PrintExpressions.h"
#include "gc3/Parse/Parse.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;
using namespace gc3::ast;

namespace {

class Printer {
public:
  explicit Printer(llvm::raw_ostream &out) : out(out) {}
  void file(const File &file);
  void signature(const Function &node);
  void signature(const Collective &node);

private:
  llvm::raw_ostream &line() { return out.indent(depth * 2); }
  void expr(const Expr *node) { parse::printExpr(out, *node); }
  void type(const TypeName &node);
  void parameters(llvm::ArrayRef<Parameter> nodes);
  void head(const char *word, const Expr *value, const BlockStmt *body);
  void block(const BlockStmt &node);
  void statement(const Stmt &node);
  void let(const LetStmt &node);
  void ifStatement(const IfStmt &node);
  void simple(const Stmt &node);
  void assertStatement(const AssertStmt &node);
  void clause(const Clause &node);
  void shape(const Clause &node);
  void place(const ClauseChunk &node);
  void ensures(const Clause &node);
  void function(const Function &node);
  void collective(const Collective &node);

  llvm::raw_ostream &out;
  unsigned depth = 0;
};

const char *word(BufferWord buffer) {
  return buffer == BufferWord::Input ? "input" : "output";
}

} // namespace

void Printer::type(const TypeName &node) {
  if (!node.element) {
    out << node.name.text;
    return;
  }
  out << '[';
  type(*node.element);
  out << ']';
}

void Printer::parameters(llvm::ArrayRef<Parameter> nodes) {
  out << '(';
  for (const Parameter &node : nodes) {
    out << (&node == nodes.begin() ? "" : ", ") << node.name.text << ": ";
    type(*node.type);
    if (node.value) {
      out << " = ";
      expr(node.value);
    }
  }
  out << ')';
}

/// Prints the statements and the closing brace; the caller has begun the line.
void Printer::block(const BlockStmt &node) {
  out << "{\n";
  ++depth;
  for (const Stmt *inner : node.statements)
    statement(*inner);
  --depth;
  line() << '}';
}

void Printer::let(const LetStmt &node) {
  line() << (node.isVar ? "var " : "let ") << node.name.text;
  if (node.type) {
    out << ": ";
    type(*node.type);
  }
  out << " = ";
  expr(node.value);
  out << ";\n";
}

void Printer::ifStatement(const IfStmt &node) {
  out << "if ";
  expr(node.condition);
  out << ' ';
  block(*node.yes);
  if (!node.no)
    return;
  out << " else ";
  if (const auto *more = dynAs<IfStmt>(node.no))
    ifStatement(*more);
  else
    block(as<BlockStmt>(*node.no));
}

void Printer::head(const char *text, const Expr *value, const BlockStmt *body) {
  line() << text << '(';
  expr(value);
  out << ") ";
  block(*body);
  out << '\n';
}

void Printer::assertStatement(const AssertStmt &node) {
  line() << "assert ";
  expr(node.condition);
  if (node.text) {
    out << ", ";
    expr(node.text);
  }
  out << ";\n";
}

void Printer::statement(const Stmt &node) {
  switch (node.kind) {
  case StmtKind::Let: let(as<LetStmt>(node)); return;
  case StmtKind::Assert: assertStatement(as<AssertStmt>(node)); return;
  case StmtKind::For:
    line() << "for " << as<ForStmt>(node).name.text << " in ";
    expr(as<ForStmt>(node).values);
    out << ' ';
    block(*as<ForStmt>(node).body);
    out << '\n';
    return;
  case StmtKind::While:
    line() << "while ";
    expr(as<WhileStmt>(node).condition);
    out << ' ';
    block(*as<WhileStmt>(node).body);
    out << '\n';
    return;
  case StmtKind::If:
    line();
    ifStatement(as<IfStmt>(node));
    out << '\n';
    return;
  case StmtKind::Block:
    line();
    block(as<BlockStmt>(node));
    out << '\n';
    return;
  case StmtKind::Parallelize: head("parallelize ", as<ScopeStmt>(node).value, as<ScopeStmt>(node).body); return;
  case StmtKind::Channel: head("channel ", as<ScopeStmt>(node).value, as<ScopeStmt>(node).body); return;
  case StmtKind::Return:
  case StmtKind::Jump:
  case StmtKind::Remark:
  case StmtKind::Protocol:
  case StmtKind::Sizes:
  case StmtKind::Nodes:
  case StmtKind::Instances:
  case StmtKind::Scratch:
  case StmtKind::Assign:
  case StmtKind::Expr:
    line();
    simple(node);
    out << ";\n";
    return;
  }
}

/// Prints a statement of one line, without its semicolon.
void Printer::simple(const Stmt &node) {
  auto withValue = [&](const char *text, const Expr *value) {
    out << text;
    expr(value);
  };
  if (const auto *exit = dynAs<ReturnStmt>(&node)) {
    out << "return";
    if (exit->value)
      withValue(" ", exit->value);
  } else if (const auto *jump = dynAs<JumpStmt>(&node)) {
    out << (jump->isBreak ? "break" : "continue");
  } else if (const auto *remark = dynAs<RemarkStmt>(&node)) {
    withValue("remark ", remark->text);
  } else if (const auto *protocol = dynAs<ProtocolStmt>(&node)) {
    withValue("protocol ", protocol->value);
  } else if (const auto *sizes = dynAs<SizesStmt>(&node)) {
    withValue("sizes ", sizes->value);
    out << (sizes->isPinned ? " pinned" : "");
    out << (sizes->orNccl ? " or nccl" : "");
  } else if (const auto *nodes = dynAs<NodesStmt>(&node)) {
    withValue("nodes ", nodes->nodes);
    withValue(" of ", nodes->ranksOfNode);
  } else if (const auto *instances = dynAs<InstancesStmt>(&node)) {
    withValue("instances ", instances->value);
  } else if (const auto *scratch = dynAs<ScratchStmt>(&node)) {
    out << "scratch " << scratch->name.text;
  } else if (const auto *assign = dynAs<AssignStmt>(&node)) {
    expr(assign->target);
    out << ' ' << (assign->compound ? spelling(assign->op) : "") << "= ";
    expr(assign->value);
  } else {
    expr(as<ExprStmt>(node).value);
  }
}

void Printer::place(const ClauseChunk &node) {
  out << word(node.buffer) << '(';
  expr(node.rank);
  out << ", ";
  expr(node.index);
  out << ')';
}

void Printer::shape(const Clause &node) {
  line() << word(node.buffer);
  for (const Expr *size : {node.blocks, node.value}) {
    if (!size)
      continue;
    out << '[';
    expr(size);
    out << ']';
  }
  if (node.on) {
    out << " on ";
    expr(node.on);
  }
  out << ";\n";
}

void Printer::ensures(const Clause &node) {
  auto printFor = [&](llvm::ArrayRef<Binder> binders, const Expr *condition) {
    out << " for ";
    parse::printBinders(out, binders);
    if (condition) {
      out << " if ";
      expr(condition);
    }
  };
  line() << "ensures";
  if (!node.binders.empty())
    printFor(node.binders, node.condition);
  out << ": ";
  place(node.left);
  out << " == " << (node.combines ? "reduce(" : "");
  place(node.right);
  if (node.combines) {
    printFor(node.innerBinders, node.innerCondition);
    out << ')';
  }
  out << ";\n";
}

void Printer::clause(const Clause &node) {
  switch (node.kind) {
  case ClauseKind::Ranks:
    line() << "ranks ";
    expr(node.value);
    out << ";\n";
    return;
  case ClauseKind::Shape: shape(node); return;
  case ClauseKind::Alias:
    line() << "alias ";
    if (node.condition) {
      out << "when ";
      expr(node.condition);
      out << ": ";
    }
    place(node.left);
    out << " is ";
    place(node.right);
    out << ";\n";
    return;
  case ClauseKind::Ensures: ensures(node); return;
  case ClauseKind::Statement: statement(*node.statement); return;
  }
}

void Printer::signature(const Function &node) {
  out << "fn " << node.name.text;
  parameters(node.parameters);
  if (node.result) {
    out << " -> ";
    type(*node.result);
  }
}

void Printer::signature(const Collective &node) {
  out << "collective " << node.name.text;
  parameters(node.parameters);
}

void Printer::function(const Function &node) {
  signature(node);
  out << ' ';
  if (node.body) {
    block(*node.body);
    out << '\n';
    return;
  }
  out << "= ";
  expr(node.value);
  out << ";\n";
}

void Printer::collective(const Collective &node) {
  signature(node);
  out << " {\n";
  ++depth;
  for (const Clause &inner : node.clauses)
    clause(inner);
  --depth;
  out << "}\n";
}

void Printer::file(const File &file) {
  for (ItemRef item : file.items) {
    switch (item.kind) {
    case ItemKind::Import:
      out << "import ";
      parse::printQuoted(out, file.imports[item.index].path);
      out << ";\n";
      break;
    case ItemKind::Param: {
      const Parameter &param = file.params[item.index];
      out << "param " << param.name.text << ": ";
      type(*param.type);
      out << " = ";
      expr(param.value);
      if (param.choices) {
        out << " in ";
        expr(param.choices);
      }
      out << ";\n";
      break;
    }
    case ItemKind::Function: function(file.functions[item.index]); break;
    case ItemKind::Collective: collective(file.collectives[item.index]); break;
    case ItemKind::Program: {
      const Program &program = file.programs[item.index];
      out << "program " << program.name.text << " implements " << program.collective.text;
      parse::printArguments(out, program.arguments);
      out << ' ';
      block(*program.body);
      out << '\n';
      break;
    }
    }
  }
}

void parse::printAst(llvm::raw_ostream &out, const ast::File &file) {
  Printer(out).file(file);
}

void parse::printSignature(llvm::raw_ostream &out, const Function &function) {
  Printer(out).signature(function);
}

void parse::printSignature(llvm::raw_ostream &out, const Collective &collective) {
  Printer(out).signature(collective);
}
