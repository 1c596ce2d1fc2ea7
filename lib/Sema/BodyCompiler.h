// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "Compiler.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace gc3::sema {

bool isBuiltin(llvm::StringRef function);

/// Returns true if the body of a program declares a local of that name.
bool definesLocal(const ast::Program &program, llvm::StringRef name);

/// Returns the protocol of that name, or nothing.
std::optional<ir::Protocol> protocolNamed(llvm::StringRef name);

/// Compiles one body. Variables and temporaries are registers, allocated and released as a stack.
class BodyCompiler {
public:
  enum class Kind : uint8_t { Function, Param, Header, Program, Collective };

  BodyCompiler(Compiler &compiler, uint32_t functionIndex, Kind bodyKind);

  /// Each of the next methods compiles a whole body; `function` returns the type of its result.
  Type function(const ast::Function &syntax, llvm::ArrayRef<Formal> formals, Type result, bool infers);
  void param(const ast::Expr &value, Type type, const std::string *define = nullptr);
  void choices(const ast::Expr &values, Type type);
  void defaultValue(llvm::ArrayRef<Formal> before, const Formal &formal);
  void header(const ast::Program &syntax, ProgramCode &program);
  void program(const ast::Program &syntax, const ProgramCode &program);
  void collective(const CollectiveInfo &info);

private:
  /// The result of an expression: a variable's register, or a temporary at the mark where the expression began.
  struct Value {
    Type type;
    uint32_t reg = 0;
  };
  struct Mark {
    uint32_t top[FileCount];
  };
  struct Local {
    llvm::StringRef name;
    Type type;
    uint32_t reg;
    bool assignable;
    SourceRange range;
    uint32_t scope;
    int64_t shadowed; ///< index of the outer local with the same name, or -1
  };
  struct Loop {
    std::vector<size_t> breaks, continues; ///< jumps to patch
    uint32_t directives;
  };
  using Body = llvm::function_ref<void()>;

  // Registers, code and scopes (BodyCompiler.cpp)
  uint32_t allocate(File file);
  Mark mark() const;
  void release(const Mark &to);
  Value temporary(Type type);
  Value settle(Value value, const Mark &to);
  void moveTo(Value value, uint32_t reg, const Mark &before, SourceRange range);
  size_t emit(Op op, SourceRange range, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0, uint8_t extra = 0);
  void patch(size_t jump);
  uint32_t label();
  uint32_t constant(int64_t value);
  Value number(Type type, int64_t value, SourceRange range);
  void openScope();
  void closeScope();
  void declare(const ast::Name &name, Type type, uint32_t reg, bool assignable);
  Value declareFresh(const ast::Name &name, Type type, bool assignable);
  const Local *find(llvm::StringRef name) const;
  void declareFormals(llvm::ArrayRef<Formal> formals);
  void emitReturn(Value value, SourceRange range);
  void finish();
  Diagnostic &error(DiagId id, SourceRange range, const std::string &message);

  // Expressions (CompileExpressions.cpp, CompileLists.cpp)
  Value eval(const ast::Expr &expr);
  /// Evaluates an expression. Reports an error if the value does not have the wanted type; `what` begins the message
  /// ("the index of a list").
  Value evalAs(const ast::Expr &expr, Type wanted, const std::string &what);
  bool check(Type wanted, Type got, SourceRange range, const std::string &what);
  Value name(const ast::NameExpr &expr);
  Value buffer(const ast::BufferExpr &expr);
  Value unary(const ast::UnaryExpr &expr);
  Value binary(const ast::BinaryExpr &expr);
  Value logic(const ast::BinaryExpr &expr);
  Value combine(ast::BinaryOp op, SourceRange opRange, Value lhs, SourceRange lhsRange, Value rhs, SourceRange rhsRange,
                const Mark &to);
  Value compare(ast::BinaryOp op, SourceRange opRange, Value lhs, Value rhs, SourceRange rhsRange, const Mark &to);
  Value conditional(const ast::ConditionalExpr &expr);
  Value string(const ast::StringExpr &expr);
  Value index(const ast::IndexExpr &expr);
  Value list(const ast::ListExpr &expr);
  Value comprehension(const ast::ComprehensionExpr &expr);
  void generate(llvm::ArrayRef<ast::Binder> binders, Body body);
  Value range(const ast::RangeExpr &expr);
  uint32_t rangeOperands(const ast::RangeExpr &expr);
  void append(uint32_t listRegister, Value element, SourceRange range);
  uint32_t typeIndex(Type type);

  // Calls (CompileCalls.cpp, CompileChunks.cpp)
  Value call(const ast::CallExpr &expr);
  Value callFunction(FunctionInfo &info, const ast::CallExpr &expr);
  Value callBuiltin(const ast::CallExpr &expr);
  Value extreme(const ast::CallExpr &expr);
  bool match(llvm::ArrayRef<Formal> formals, llvm::ArrayRef<ast::Argument> arguments, SourceRange range,
             const std::string &callee, std::vector<int> &argumentOf);
  bool passArguments(llvm::ArrayRef<Formal> formals, llvm::ArrayRef<ast::Argument> arguments, SourceRange range,
                     const std::string &callee);
  void passDefault(llvm::ArrayRef<Formal> formals, const std::vector<uint32_t> &registers, size_t which,
                   SourceRange range);
  void emitCall(uint32_t function, const Mark &base, SourceRange range);
  Value chunk(const ast::CallExpr &expr);
  void reportNotChunk(const char *what, Type got, SourceRange range);
  Value method(const ast::MethodExpr &expr);
  Value transfer(const ast::MethodExpr &expr, Value receiver, const Mark &to);
  Value part(const ast::MethodExpr &expr, Value receiver, const Mark &to);
  Value attribute(const ast::AttributeExpr &expr);
  bool evalOperands(llvm::ArrayRef<Formal> formals, llvm::ArrayRef<ast::Argument> arguments, SourceRange range,
                    const std::string &callee, std::vector<uint32_t> &registers);

  // Statements (CompileStatements.cpp). A result of true means that control never reaches the end of the statement.
  bool statement(const ast::Stmt &stmt);
  bool block(const ast::BlockStmt &stmt);
  void let(const ast::LetStmt &stmt);
  void refuseAssignment(const ast::NameExpr &target, const Local *local);
  void assign(const ast::AssignStmt &stmt);
  void assignElement(const ast::AssignStmt &stmt);
  void forLoop(const ast::Name &name, const ast::Expr &values, Body body);
  void forRange(const ast::Name &name, const ast::RangeExpr &values, Body body);
  void forList(const ast::Name &name, const ast::Expr &values, Body body);
  void whileLoop(const ast::WhileStmt &stmt);
  bool ifStatement(const ast::IfStmt &stmt);
  void returnStatement(const ast::ReturnStmt &stmt);
  void jump(const ast::JumpStmt &stmt);
  void assertStatement(const ast::AssertStmt &stmt);
  void assertComparison(const ast::BinaryExpr &expr);
  void directive(const ast::ScopeStmt &stmt);

  // Collectives and headers (CompileCollective.cpp)
  void protocol(const ast::ProtocolStmt &stmt);
  void sizes(const ast::SizesStmt &stmt);
  void nodes(const ast::NodesStmt &stmt);
  void settings(const ast::Program &syntax, ProgramCode &program);
  void nameArguments(const CollectiveInfo &info);
  void shape(const ast::Clause &clause);
  void alias(const ast::Clause &clause);
  void aliasPlaces(const ast::Clause &clause);
  void ensures(const ast::Clause &clause);
  void ensuresLoops(const ast::Clause &clause, llvm::ArrayRef<size_t> order, size_t level, size_t valueLevel);
  void ensuresInnermost(const ast::Clause &clause, bool allRanks);
  bool coversAllRanks(const ast::Clause &clause, size_t binder) const;
  std::vector<size_t> loopOrder(const ast::Clause &clause, size_t &valueLevel);
  bool checkClauses(const ast::Collective &syntax);

  Compiler &shared;
  uint32_t functionNumber;
  Kind kind;
  Function code;
  uint32_t top[FileCount] = {};
  size_t lastLabel = ~size_t(0);
  std::vector<Local> locals;
  llvm::StringMap<SourceRange> ended; ///< locals whose block has ended, for messages about later uses
  llvm::StringMap<int64_t> visible;   ///< index of the local with this name, or -1
  std::vector<Mark> scopeMarks;
  std::vector<size_t> scopeLocals;
  std::vector<Loop> loops;
  uint32_t directives = 0; ///< number of open directives
  unsigned blockDepth = 0;
  Type resultType{Type::None, 0};
  bool infers = false;
  bool tooLarge = false;
  const ast::File *sourceFile = nullptr;    ///< the file that declares the collective that is compiled
  const ast::Program *settingsOf = nullptr; ///< program whose settings are compiled, for messages about settings that
                                            ///< use its locals by mistake
};

} // namespace gc3::sema
