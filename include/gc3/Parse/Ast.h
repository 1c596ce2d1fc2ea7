// SPDX-License-Identifier: Apache-2.0
// The syntax tree of one .gc3 file: plain records in the file's arena, immutable after parsing. Names and texts point
// into the arena or into the source. Trees are at most parse::MaxNesting deep, so recursive walks are safe.
#pragma once

#include "gc3/Support/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include <memory>
#include <vector>

namespace gc3::ast {

struct Name {
  llvm::StringRef text; ///< empty: absent
  SourceRange range;
  explicit operator bool() const { return !text.empty(); }
};

/// `Name`, or a list of `element`.
struct TypeName {
  SourceRange range;
  Name name;
  const TypeName *element = nullptr;
};

// Expressions

enum class ExprKind : uint8_t {
  Int,
  Bool,
  String,
  Buffer,
  Name,
  List,
  Comprehension,
  Range,
  Unary,
  Binary,
  Conditional,
  Call,
  Method,
  Attribute,
  Index,
};

struct Expr {
  ExprKind kind;
  SourceRange range;
};

struct IntExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Int;
  int64_t value;
  llvm::StringRef spelling;
};

struct BoolExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Bool;
  bool value;
};

/// A part of a string: text with escapes resolved, or an expression in braces.
struct StringPart {
  llvm::StringRef text;
  const Expr *expr = nullptr;
};

struct StringExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::String;
  llvm::ArrayRef<StringPart> parts;
};

enum class BufferWord : uint8_t { Input, Output, Scratch };

struct BufferExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Buffer;
  BufferWord buffer;
};

struct NameExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Name;
  llvm::StringRef name;
};

struct ListExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::List;
  llvm::ArrayRef<const Expr *> elements;
};

/// `name in values [if condition]`
struct Binder {
  Name name;
  const Expr *values;
  const Expr *condition = nullptr;
};

struct ComprehensionExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Comprehension;
  const Expr *element;
  llvm::ArrayRef<Binder> binders; ///< outermost loop first
};

struct RangeExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Range;
  const Expr *first;
  const Expr *last;
  const Expr *step; ///< or null
};

enum class UnaryOp : uint8_t { Negate, Not, Complement };
enum class BinaryOp : uint8_t {
  Multiply,
  Divide,
  Modulo,
  Add,
  Subtract,
  ShiftLeft,
  ShiftRight,
  BitAnd,
  BitXor,
  BitOr,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  And,
  Or,
};
llvm::StringRef spelling(UnaryOp op);
llvm::StringRef spelling(BinaryOp op);

struct UnaryExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Unary;
  UnaryOp op;
  const Expr *operand;
};

struct BinaryExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Binary;
  BinaryOp op;
  SourceRange opRange;
  const Expr *lhs;
  const Expr *rhs;
};

struct ConditionalExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Conditional;
  const Expr *condition;
  const Expr *yes;
  const Expr *no;
};

struct Argument {
  Name name; ///< empty: a positional argument
  const Expr *value;
};

struct CallExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Call;
  Name callee;
  llvm::ArrayRef<Argument> arguments;
};

struct MethodExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Method;
  const Expr *receiver;
  Name method;
  llvm::ArrayRef<Argument> arguments;
};

struct AttributeExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Attribute;
  const Expr *receiver;
  Name attribute;
};

struct IndexExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Index;
  const Expr *list;
  const Expr *index;
};

// Statements

enum class StmtKind : uint8_t {
  Let,
  For,
  While,
  If,
  Return,
  Jump,
  Assert,
  Remark,
  Parallelize,
  Channel,
  Protocol,
  Sizes,
  Nodes,
  Instances,
  Scratch,
  Block,
  Assign,
  Expr,
};

struct Stmt {
  StmtKind kind;
  SourceRange range;
};

struct BlockStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Block;
  llvm::ArrayRef<const Stmt *> statements;
};

struct LetStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Let;
  bool isVar;
  Name name;
  const TypeName *type; ///< or null
  const Expr *value;
};

struct ForStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::For;
  Name name;
  const Expr *values;
  const BlockStmt *body;
};

struct WhileStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::While;
  const Expr *condition;
  const BlockStmt *body;
};

struct IfStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::If;
  const Expr *condition;
  const BlockStmt *yes;
  const Stmt *no; ///< an IfStmt, a BlockStmt or null
};

struct ReturnStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Return;
  const Expr *value; ///< or null
};

struct JumpStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Jump;
  bool isBreak; ///< true: break; false: continue
};

struct AssertStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Assert;
  const Expr *condition;
  const Expr *text; ///< or null
};

struct RemarkStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Remark;
  const Expr *text;
};

/// `parallelize (value) body` or `channel (value) body`, by kind.
struct ScopeStmt : Stmt {
  const Expr *value;
  const BlockStmt *body;
};

struct ProtocolStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Protocol;
  const Expr *value;
};

struct SizesStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Sizes;
  const Expr *value;
  bool isPinned, orNccl;
};

struct NodesStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Nodes;
  const Expr *nodes, *ranksOfNode;
};

struct InstancesStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Instances;
  const Expr *value;
};

struct ScratchStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Scratch;
  Name name;
};

struct AssignStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Assign;
  const Expr *target; ///< a NameExpr, or nested IndexExprs around a NameExpr
  bool compound;      ///< `target op= value`
  BinaryOp op;
  SourceRange opRange;
  const Expr *value;
};

struct ExprStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Expr;
  const Expr *value;
};

/// Casts the node to `Node`, which must be the type that the node's `kind` names.
template <typename Node, typename Base>
const Node &as(const Base &base) {
  return static_cast<const Node &>(base);
}
template <typename Node, typename Base>
const Node *dynAs(const Base *base) {
  return base && base->kind == Node::Kind ? static_cast<const Node *>(base) : nullptr;
}

// Items

struct Parameter {
  Name name;
  const TypeName *type;
  const Expr *value;             ///< the default, or null
  const Expr *choices = nullptr; ///< of a param: the list of its possible values, or null
};

struct Import {
  SourceRange range; ///< place of the path, including its quotes
  llvm::StringRef path;
};

struct Function {
  Name name;
  llvm::ArrayRef<Parameter> parameters;
  const TypeName *result; ///< or null
  const BlockStmt *body;  ///< null: the result is `value`
  const Expr *value;
};

/// `buffer(rank, index)` in a clause of a collective.
struct ClauseChunk {
  SourceRange range;
  BufferWord buffer;
  const Expr *rank;
  const Expr *index;
};

enum class ClauseKind : uint8_t { Ranks, Shape, Alias, Ensures, Statement };

struct Clause {
  ClauseKind kind;
  SourceRange range;
  // A clause of kind Ranks uses `value`. A clause of kind Shape uses `buffer`, `value` (the number of chunks), `blocks`
  // and `on`. The members `blocks` and `on` can be null.
  BufferWord buffer = BufferWord::Input;
  const Expr *value = nullptr;
  const Expr *blocks = nullptr;
  const Expr *on = nullptr;
  // A clause of kind Alias uses `condition`, `left` and `right`. A clause of kind Ensures uses `binders`, `condition`,
  // `left` and `right`. In both, `condition` can be null. If `combines` is true, an Ensures clause means left ==
  // reduce(right for innerBinders if innerCondition). If `combines` is false, the clause means left == right.
  const Expr *condition = nullptr;
  ClauseChunk left, right;
  llvm::ArrayRef<Binder> binders;
  bool combines = false;
  llvm::ArrayRef<Binder> innerBinders;
  const Expr *innerCondition = nullptr;
  // A clause of kind Statement uses `statement`, which is a let or an assert.
  const Stmt *statement = nullptr;
};

struct Collective {
  Name name;
  llvm::ArrayRef<Parameter> parameters;
  llvm::ArrayRef<Clause> clauses;
};

struct Program {
  Name name;
  Name collective;
  llvm::ArrayRef<Argument> arguments;
  const BlockStmt *body;
};

enum class ItemKind : uint8_t { Import, Param, Function, Collective, Program };

/// An item: its kind, and its index in the vector of that kind. Items keep the order of the file.
struct ItemRef {
  ItemKind kind;
  uint32_t index;
};

struct File {
  llvm::BumpPtrAllocator arena;
  std::vector<ItemRef> items;
  std::vector<Import> imports;
  std::vector<Parameter> params; ///< all have a default
  std::vector<Function> functions;
  std::vector<Collective> collectives;
  std::vector<Program> programs;
  bool usesScratch = false; ///< true if the word `scratch` names a buffer somewhere
};

/// A standalone expression, such as the value of a `-D`.
struct LoneExpression {
  llvm::BumpPtrAllocator arena;
  const Expr *expr = nullptr;
};

} // namespace gc3::ast
