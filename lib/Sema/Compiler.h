// SPDX-License-Identifier: Apache-2.0
// Checks names and types, and generates bytecode, in one walk per function, program or collective.
#pragma once

#include "Bytecode.h"
#include "Modules.h"
#include "gc3/Support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <optional>

namespace gc3::sema {

/// A parameter of a function, collective or built-in, as calls see it.
struct Formal {
  llvm::StringRef name;
  Type type;
  const ast::Expr *value = nullptr; ///< the default, or null
  bool optional = false;            ///< can be omitted: has a default, or the built-in supplies one
  bool namedOnly = false;
  uint32_t thunk = 0; ///< the function that computes the default from the earlier parameters
};

struct FunctionInfo {
  enum class State : uint8_t { Waiting, Compiling, Done };
  const ast::Function *syntax = nullptr;
  std::vector<Formal> formals;
  Type result;
  bool infers = false; ///< `fn f() = expr` without a type: the type is known after compilation
  State state = State::Waiting;
  uint32_t index = 0; ///< index in Bytecode::functions
};

struct CollectiveInfo {
  const ast::Collective *syntax = nullptr;
  const ast::File *file = nullptr;
  std::vector<Formal> formals;
  uint32_t index = 0;
};

struct ParamInfo {
  const ast::Parameter *syntax = nullptr;
  Type type;
  uint32_t slot = 0;  ///< index in Bytecode::paramNames
  uint32_t thunk = 0; ///< the function that computes the value
  const ast::File *file = nullptr;
  std::optional<uint32_t> choices; ///< the function that computes the list of possible values
  SourceRange valueRange;          ///< place of the value: of the default, or of a -D
  std::string define;              ///< the -D that sets the value; empty: the value is the default
};

struct ProgramCode {
  const ast::Program *syntax = nullptr;
  uint32_t header = 0; ///< builds the collective and reads the settings
  uint32_t body = 0;
  bool isPinned = false, allowsGaps = false;
  std::vector<std::string> scratchNames;
};

class Compiler {
public:
  Compiler(const Modules &loaded, Diagnostics &sink, const SemaOptions &semaOptions)
      : modules(loaded), diags(sink), options(semaOptions) {}

  /// Compiles everything except the `-D` values of params, which redefine() compiles later. Reports errors to the
  /// diagnostics.
  void compile();
  /// Compiles a new thunk for a param from its value on the command line. Keeps the old thunk after an error.
  void redefine(ParamInfo &param, const ast::Expr &value, const std::string &define);

  Bytecode code;
  std::vector<ParamInfo> params; ///< in the order of their evaluation
  std::vector<ProgramCode> programs;
  bool usesScratch = false;

private:
  friend class BodyCompiler;

  void declare(const ast::File &file);
  std::vector<Formal> formals(llvm::ArrayRef<ast::Parameter> parameters);
  bool isNew(std::map<llvm::StringRef, SourceRange> &names, const ast::Name &name, const char *what);
  Type resolve(const ast::TypeName &type);
  uint32_t addFunction(llvm::StringRef name);
  void compileFunction(FunctionInfo &info);
  void compileDefaults(const std::vector<Formal> &formals);
  void compileProgram(const ast::Program &program);

  const Modules &modules;
  /// Returns true if a message should suggest the most similar of `names` names. This requires that the error will be
  /// shown, and that the search takes no noticeable time.
  bool suggests(size_t names) const { return names <= 10000 && !diags.limitReached(); }

  Diagnostics &diags;
  const SemaOptions &options;
  llvm::StringMap<uint32_t> paramOf, functionOf, collectiveOf;
  std::vector<FunctionInfo> functions;
  std::vector<CollectiveInfo> collectives;
  std::map<llvm::StringRef, SourceRange> paramNames, functionNames, collectiveNames, programNames;
  std::map<int64_t, uint32_t> constantOf;
  unsigned inferenceDepth = 0;
  bool declaresStandard = false; ///< true: the file being declared is embedded in the compiler
};

} // namespace gc3::sema
