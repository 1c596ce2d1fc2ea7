// SPDX-License-Identifier: Apache-2.0
// Checks names and types of everything and makes bytecode, in one walk per function, program or collective.
#pragma once

#include "Bytecode.h"
#include "Modules.h"
#include "gc3/Support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace gc3::sema {

/// A parameter of a function, collective or built-in, as calls see it.
struct Formal {
  llvm::StringRef name;
  Type type;
  const ast::Expr *value = nullptr; ///< the default
  bool optional = false;            ///< may be left out: has a default, or the built-in knows one
  bool namedOnly = false;
  uint32_t thunk = 0; ///< the function that computes the default from the parameters before
};

struct FunctionInfo {
  enum class State : uint8_t { Waiting, Compiling, Done };
  const ast::Function *syntax = nullptr;
  std::vector<Formal> formals;
  Type result;
  bool infers = false; ///< `fn f() = expr` without a type: known once compiled
  State state = State::Waiting;
  uint32_t index = 0; ///< in the bytecode
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
  uint32_t slot = 0;  ///< in Bytecode::paramNames
  uint32_t thunk = 0; ///< the function that computes the value
  const ast::File *file = nullptr;
};

struct ProgramCode {
  const ast::Program *syntax = nullptr;
  uint32_t header = 0; ///< builds the collective and reads the settings
  uint32_t body = 0;
  ir::Protocol protocol = ir::Protocol::Simple;
  std::vector<std::string> scratchNames;
};

class Compiler {
public:
  Compiler(const Modules &loaded, Diagnostics &sink, const SemaOptions &semaOptions)
      : modules(loaded), diags(sink), options(semaOptions) {}

  /// Everything but the params' `-D` values, which follow one by one. Errors are in the diagnostics.
  void compile();
  /// The thunk of a param made anew from the value on the command line, or the old one after an error.
  void redefine(ParamInfo &param, const ast::Expr &value, const std::string &define);

  Bytecode code;
  std::vector<ParamInfo> params; ///< in the order in which they get their values
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
  /// Whether to look for a similar one of so many names: for each error that is shown, in time that nobody notices.
  bool suggests(size_t names) const { return names <= 10000 && !diags.limitReached(); }

  Diagnostics &diags;
  const SemaOptions &options;
  llvm::StringMap<uint32_t> paramOf, functionOf, collectiveOf;
  std::vector<FunctionInfo> functions;
  std::vector<CollectiveInfo> collectives;
  std::map<llvm::StringRef, SourceRange> paramNames, functionNames, collectiveNames, programNames;
  std::map<int64_t, uint32_t> constantOf;
  unsigned inferenceDepth = 0;
  bool declaresStandard = false; ///< the file that is being declared came with the compiler
};

} // namespace gc3::sema
