// SPDX-License-Identifier: Apache-2.0
// Compiles headers of programs and clauses of collectives. Orders the loops of an `ensures` so that its value is
// computed only once for each combination of the binders that the value depends on. An AllReduce of R ranks and C
// chunks then adds R * C contributions, not R * R * C.
#include "BodyCompiler.h"
#include "gc3/Common/StandardCollective.h"
#include "llvm/ADT/StringSwitch.h"
#include <set>

using namespace gc3;
using namespace gc3::ast;
using namespace gc3::sema;

std::optional<ir::Protocol> gc3::sema::protocolNamed(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<ir::Protocol>>(name)
      .Case("Simple", ir::Protocol::Simple)
      .Case("LL", ir::Protocol::LL)
      .Case("LL128", ir::Protocol::LL128)
      .Default(std::nullopt);
}

/// Compiles a protocol. Here the names of protocols always stand for protocols, even if a param has the same name.
void BodyCompiler::protocol(const ProtocolStmt &stmt) {
  constexpr Type type{Type::Protocol, 0};
  const auto *named = dynAs<NameExpr>(stmt.value);
  std::optional<ir::Protocol> fixed = named ? protocolNamed(named->name) : std::nullopt;
  if (named && !fixed && !shared.paramOf.count(named->name) && !definesLocal(*settingsOf, named->name)) {
    error(DiagId::UnknownName, named->range,
          "unknown protocol '" + named->name.str() + "'; there are Simple, LL and LL128");
    return;
  }
  Mark before = mark();
  Value value = fixed ? number(type, static_cast<int64_t>(*fixed), named->range)
                      : evalAs(*stmt.value, type, "the value of 'protocol'");
  emit(Op::SetProtocol, stmt.range, value.reg);
  release(before);
}

void BodyCompiler::sizes(const SizesStmt &stmt) {
  const auto *range = dynAs<RangeExpr>(stmt.value);
  if (!range || range->step) {
    error(DiagId::TypeMismatch, stmt.value->range, "'sizes' wants a range of bytes: 'sizes lo .. hi'");
    return;
  }
  Mark before = mark();
  uint32_t operands = rangeOperands(*range);
  emit(Op::SetSizes, stmt.range, operands, operands + 1);
  release(before);
}

void BodyCompiler::nodes(const NodesStmt &stmt) {
  Mark before = mark();
  Value nodes = evalAs(*stmt.nodes, integer, "the number of nodes");
  Value ranks = evalAs(*stmt.ranksOfNode, integer, "the number of ranks of a node");
  emit(Op::SetNodes, stmt.range, nodes.reg, ranks.reg);
  release(before);
}

void BodyCompiler::settings(const Program &syntax, ProgramCode &program) {
  const Stmt *seen[4] = {};
  auto once = [&](size_t which, const Stmt &stmt, const char *what) {
    if (seen[which])
      error(DiagId::Redefinition, stmt.range, std::string("'") + what + "' is set twice")
          .note(seen[which]->range, "the other setting is here");
    seen[which] = &stmt;
  };
  uint32_t maxNamed = ir::MaxBuffers - ir::FirstScratchBuffer - 1;
  for (const Stmt *stmt : syntax.body->statements) {
    if (const auto *chosen = dynAs<ProtocolStmt>(stmt)) {
      once(0, *stmt, "protocol");
      protocol(*chosen);
    } else if (const auto *range = dynAs<SizesStmt>(stmt)) {
      once(1, *stmt, "sizes");
      sizes(*range);
      program.isPinned = range->isPinned, program.allowsGaps = range->orNccl;
    } else if (const auto *instances = dynAs<InstancesStmt>(stmt)) {
      once(2, *stmt, "instances");
      Mark before = mark();
      Value value = evalAs(*instances->value, integer, "the number of instances");
      emit(Op::SetInstances, stmt->range, value.reg);
      release(before);
    } else if (const auto *wiring = dynAs<NodesStmt>(stmt)) {
      once(3, *stmt, "nodes");
      nodes(*wiring);
    } else if (const auto *scratch = dynAs<ScratchStmt>(stmt)) {
      if (program.scratchNames.size() == maxNamed)
        error(DiagId::SlotBudget, stmt->range, "more than " + std::to_string(maxNamed) + " scratch buffers");
      if (program.scratchNames.size() < maxNamed)
        program.scratchNames.push_back(scratch->name.text.str());
    }
  }
}

void BodyCompiler::header(const Program &syntax, ProgramCode &program) {
  auto known = shared.collectiveOf.find(syntax.collective.text);
  if (known == shared.collectiveOf.end()) {
    std::vector<std::string> candidates;
    if (shared.suggests(shared.collectives.size()))
      for (const CollectiveInfo &info : shared.collectives)
        candidates.push_back(info.syntax->name.text.str());
    std::string near = suggestion(syntax.collective.text, candidates);
    error(DiagId::UnknownName, syntax.collective.range,
          "unknown collective '" + syntax.collective.text.str() + "'" + near);
  } else {
    const CollectiveInfo &info = shared.collectives[known->getValue()];
    SourceRange range = syntax.collective.range;
    Mark base = mark();
    passArguments(info.formals, syntax.arguments, range, "'" + syntax.collective.text.str() + "'");
    emitCall(info.index, base, range);
    release(base);
  }
  settingsOf = &syntax;
  settings(syntax, program);
  emit(Op::ReturnNone, syntax.name.range);
  finish();
}

static ir::BufferId idOf(BufferWord buffer) {
  return buffer == BufferWord::Input ? ir::InputBuffer : ir::OutputBuffer;
}

void BodyCompiler::shape(const Clause &clause) {
  Mark before = mark();
  const char *word = clause.buffer == BufferWord::Input ? "input" : "output";
  Value blocks{integer, NoRegister};
  if (clause.blocks)
    blocks = evalAs(*clause.blocks, integer, std::string("the number of blocks of the ") + word);
  Value chunks = evalAs(*clause.value, integer, std::string("the number of chunks of the ") + word);
  emit(Op::SetShape, clause.range, blocks.reg, chunks.reg, 0, idOf(clause.buffer));
  if (clause.on) {
    Value owners = eval(*clause.on);
    bool isList = owners.type.isList();
    check(isList ? integer.list() : integer, owners.type, clause.on->range, "what follows 'on'");
    emit(isList ? Op::SetOwners : Op::SetOwner, clause.on->range, owners.reg, 0, 0, idOf(clause.buffer));
  }
  release(before);
}

void BodyCompiler::aliasPlaces(const Clause &clause) {
  Mark before = mark();
  size_t skip = 0;
  if (clause.condition) {
    Value condition = evalAs(*clause.condition, {Type::Bool, 0}, "the condition after 'when'");
    release(before);
    skip = emit(Op::JumpIfNot, clause.condition->range, 0, condition.reg);
  }
  for (const Expr *part : {clause.left.rank, clause.left.index, clause.right.rank, clause.right.index}) {
    Mark start = mark();
    settle(evalAs(*part, integer, "a rank or index"), start);
  }
  emit(Op::SetAlias, {clause.left.range.begin, clause.right.range.end}, before.top[0], 0, 0, idOf(clause.left.buffer));
  release(before);
  if (clause.condition)
    patch(skip);
}

void BodyCompiler::alias(const Clause &clause) {
  if (clause.left.buffer == clause.right.buffer)
    error(DiagId::BadAlias, clause.range, "an alias joins the input and the output");
  const auto *rank = dynAs<NameExpr>(clause.left.rank);
  auto param = rank ? shared.paramOf.find(rank->name) : shared.paramOf.end();
  bool isParam = param != shared.paramOf.end() && shared.params[param->getValue()].file == sourceFile;
  if (!rank || find(rank->name) || isParam)
    return aliasPlaces(clause);
  // A name without a declaration stands for every rank in turn. Params of other files do not count as declarations,
  // because the author of the collective could not know them.
  Mark before = mark();
  uint32_t variable = top[0];
  number(integer, 0, rank->range);
  Value count = temporary(integer);
  emit(Op::RankCount, rank->range, count.reg);
  number(integer, 1, rank->range);
  size_t begin = emit(Op::RangeBegin, rank->range, variable);
  uint32_t start = label();
  openScope();
  declare({rank->name, rank->range}, integer, variable, false);
  aliasPlaces(clause);
  closeScope();
  emit(Op::RangeNext, rank->range, variable, start);
  patch(begin);
  release(before);
}

namespace {

/// Finds the binders whose names an expression uses, as a set of indices.
class BinderUses {
public:
  explicit BinderUses(llvm::ArrayRef<Binder> all) : binders(all) {}

  void visit(const Expr *expr);
  std::set<size_t> used;

private:
  void visit(llvm::ArrayRef<Argument> arguments) {
    for (const Argument &argument : arguments)
      visit(argument.value);
  }

  llvm::ArrayRef<Binder> binders;
};

} // namespace

void BinderUses::visit(const Expr *expr) {
  if (!expr)
    return;
  switch (expr->kind) {
  case ExprKind::Int:
  case ExprKind::Bool:
  case ExprKind::Buffer: return;
  case ExprKind::Name:
    for (size_t i = 0; i < binders.size(); ++i)
      if (binders[i].name.text == as<NameExpr>(*expr).name)
        used.insert(i);
    return;
  case ExprKind::String:
    for (const StringPart &part : as<StringExpr>(*expr).parts)
      visit(part.expr);
    return;
  case ExprKind::List:
    for (const Expr *element : as<ListExpr>(*expr).elements)
      visit(element);
    return;
  case ExprKind::Comprehension:
    visit(as<ComprehensionExpr>(*expr).element);
    for (const Binder &binder : as<ComprehensionExpr>(*expr).binders) {
      visit(binder.values);
      visit(binder.condition);
    }
    return;
  case ExprKind::Range:
    visit(as<RangeExpr>(*expr).first);
    visit(as<RangeExpr>(*expr).last);
    visit(as<RangeExpr>(*expr).step);
    return;
  case ExprKind::Unary: visit(as<UnaryExpr>(*expr).operand); return;
  case ExprKind::Binary:
    visit(as<BinaryExpr>(*expr).lhs);
    visit(as<BinaryExpr>(*expr).rhs);
    return;
  case ExprKind::Conditional:
    visit(as<ConditionalExpr>(*expr).condition);
    visit(as<ConditionalExpr>(*expr).yes);
    visit(as<ConditionalExpr>(*expr).no);
    return;
  case ExprKind::Call: visit(as<CallExpr>(*expr).arguments); return;
  case ExprKind::Method:
    visit(as<MethodExpr>(*expr).receiver);
    visit(as<MethodExpr>(*expr).arguments);
    return;
  case ExprKind::Attribute: visit(as<AttributeExpr>(*expr).receiver); return;
  case ExprKind::Index:
    visit(as<IndexExpr>(*expr).list);
    visit(as<IndexExpr>(*expr).index);
    return;
  }
}

/// Returns the order of the loops, and sets `valueLevel`. The value depends on the first `valueLevel` binders of the
/// order, directly or through the ranges of other binders.
std::vector<size_t> BodyCompiler::loopOrder(const Clause &clause, size_t &valueLevel) {
  std::vector<std::set<size_t>> needs; // binders that the range of each binder uses
  for (size_t i = 0; i < clause.binders.size(); ++i) {
    BinderUses uses(clause.binders);
    uses.visit(clause.binders[i].values);
    for (size_t later : uses.used)
      if (later >= i)
        error(DiagId::UnknownName, clause.binders[i].values->range,
              "'" + clause.binders[later].name.text.str() + "' is not bound yet here; put it to the left");
    needs.push_back(std::move(uses.used));
  }
  BinderUses value(clause.binders);
  value.visit(clause.right.rank);
  value.visit(clause.right.index);
  for (const Binder &binder : clause.innerBinders)
    value.visit(binder.values);
  value.visit(clause.innerCondition);
  for (size_t i = clause.binders.size(); i-- > 0;)
    if (value.used.count(i))
      value.used.insert(needs[i].begin(), needs[i].end());
  std::vector<size_t> order(value.used.begin(), value.used.end());
  valueLevel = order.size();
  for (size_t i = 0; i < clause.binders.size(); ++i)
    if (!value.used.count(i))
      order.push_back(i);
  return order;
}

/// Returns true if a binder iterates over ranks with the same promise: its values are a range, and the clause uses the
/// binder only as the rank of the output.
bool BodyCompiler::coversAllRanks(const Clause &clause, size_t binder) const {
  const ast::Name &name = clause.binders[binder].name;
  const auto *rank = dynAs<NameExpr>(clause.left.rank);
  if (!rank || rank->name != name.text || !dynAs<RangeExpr>(clause.binders[binder].values))
    return false;
  BinderUses uses(clause.binders);
  uses.visit(clause.left.index);
  uses.visit(clause.condition);
  return uses.used.count(binder) == 0;
}

/// Compiles the body of the innermost loop. `allRanks`: the rank of the output is a variable that iterates over a range
/// of ranks, and all these ranks have the same promise.
void BodyCompiler::ensuresInnermost(const Clause &clause, bool allRanks) {
  Mark before = mark();
  Type boolean{Type::Bool, 0};
  size_t skip = 0;
  if (clause.condition) {
    Value condition = evalAs(*clause.condition, boolean, "the condition after 'if'");
    release(before);
    skip = emit(Op::JumpIfNot, clause.condition->range, 0, condition.reg);
  }
  size_t known = emit(Op::JumpIfValue, clause.right.range);
  emit(Op::BeginValue, clause.right.range);
  generate(clause.innerBinders, [&] {
    Mark start = mark();
    size_t skipInner = 0;
    if (clause.innerCondition) {
      Value condition = evalAs(*clause.innerCondition, boolean, "the condition after 'if'");
      release(start);
      skipInner = emit(Op::JumpIfNot, clause.innerCondition->range, 0, condition.reg);
    }
    Value rank = evalAs(*clause.right.rank, integer, "the rank of an input chunk");
    Value index = evalAs(*clause.right.index, integer, "the index of an input chunk");
    emit(Op::AddToValue, clause.right.range, rank.reg, index.reg);
    release(start);
    if (clause.innerCondition)
      patch(skipInner);
  });
  emit(Op::EndValue, clause.right.range);
  patch(known);
  Value rank = evalAs(*clause.left.rank, integer, "the rank of an output chunk");
  Value index = evalAs(*clause.left.index, integer, "the index of an output chunk");
  // EnsureAll reads the whole range: `rank` is its variable, and its other registers follow `rank`.
  emit(allRanks ? Op::EnsureAll : Op::Ensure, clause.left.range, rank.reg, index.reg);
  release(before);
  if (clause.condition)
    patch(skip);
}

void BodyCompiler::ensuresLoops(const Clause &clause, llvm::ArrayRef<size_t> order, size_t level, size_t valueLevel) {
  if (level == valueLevel)
    emit(Op::ResetValue, clause.range);
  if (level == order.size())
    return ensuresInnermost(clause, false);
  const Binder &binder = clause.binders[order[level]];
  bool isLast = level + 1 == order.size();
  if (isLast && level >= valueLevel && coversAllRanks(clause, order[level])) {
    forLoop(binder.name, *binder.values, [&] { // the body runs once, if there are any ranks
      ensuresInnermost(clause, true);
      loops.back().breaks.push_back(emit(Op::Jump, clause.range));
    });
    return;
  }
  forLoop(binder.name, *binder.values, [&] { ensuresLoops(clause, order, level + 1, valueLevel); });
}

void BodyCompiler::ensures(const Clause &clause) {
  for (size_t i = 0; i < clause.binders.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (clause.binders[i].name.text == clause.binders[k].name.text)
        error(DiagId::Redefinition, clause.binders[i].name.range,
              "'" + clause.binders[i].name.text.str() + "' is bound twice")
            .note(clause.binders[k].name.range, "the other binding is here");
  size_t valueLevel = 0;
  std::vector<size_t> order = loopOrder(clause, valueLevel);
  ensuresLoops(clause, order, 0, valueLevel);
}

/// Checks that there is one each of `ranks`, `input` and `output`.
bool BodyCompiler::checkClauses(const Collective &syntax) {
  const Clause *seen[3] = {};
  static constexpr const char *words[] = {"ranks", "input", "output"};
  for (const Clause &clause : syntax.clauses) {
    if (clause.kind != ClauseKind::Ranks && clause.kind != ClauseKind::Shape)
      continue;
    size_t which = clause.kind == ClauseKind::Ranks ? 0 : clause.buffer == BufferWord::Input ? 1 : 2;
    if (seen[which])
      error(DiagId::Redefinition, clause.range, std::string("a second '") + words[which] + "' clause")
          .note(seen[which]->range, "the first one is here");
    else if (which == 0 && (seen[1] || seen[2]))
      error(DiagId::BadShape, clause.range, "'ranks' comes before 'input' and 'output'")
          .note((seen[1] ? seen[1] : seen[2])->range, "this is before it");
    seen[which] = &clause;
  }
  for (size_t i = 0; i < 3; ++i)
    if (!seen[i])
      error(DiagId::BadShape, syntax.name.range,
            "collective '" + syntax.name.text.str() + "' has no '" + words[i] + "' clause");
  return seen[0] && seen[1] && seen[2];
}

/// Records the arguments for the form of the collective. A standard collective needs none (ir::Collective::form).
void BodyCompiler::nameArguments(const CollectiveInfo &info) {
  const ast::Name &collective = info.syntax->name;
  if (common::findStandard(collective.text))
    return;
  for (const Formal &formal : info.formals)
    if (const Local *local = find(formal.name))
      emit(Op::NameArgument, collective.range, local->reg, static_cast<uint32_t>(shared.code.strings.add(formal.name)),
           typeIndex(formal.type));
}

void BodyCompiler::collective(const CollectiveInfo &info) {
  const Collective &syntax = *info.syntax;
  sourceFile = info.file;
  declareFormals(info.formals);
  nameArguments(info);
  bool complete = checkClauses(syntax);
  for (const Clause &clause : syntax.clauses) {
    if (clause.kind == ClauseKind::Statement) {
      statement(*clause.statement);
    } else if (clause.kind == ClauseKind::Ranks) {
      Mark before = mark();
      Value ranks = evalAs(*clause.value, integer, "the number of ranks");
      emit(Op::SetRanks, clause.range, ranks.reg);
      release(before);
    } else if (clause.kind == ClauseKind::Shape) {
      shape(clause);
    }
  }
  for (const Clause &clause : syntax.clauses)
    if (clause.kind == ClauseKind::Alias && complete)
      alias(clause);
  for (const Clause &clause : syntax.clauses)
    if (clause.kind == ClauseKind::Ensures && complete)
      ensures(clause);
  emit(Op::ReturnNone, syntax.name.range);
  finish();
}
