// SPDX-License-Identifier: Apache-2.0
// Collects the names of all files in one table, then compiles each body to bytecode.
#include "Compiler.h"
#include "BodyCompiler.h"
#include "llvm/ADT/StringSwitch.h"

using namespace gc3;
using namespace gc3::sema;

bool Compiler::isNew(std::map<llvm::StringRef, SourceRange> &names, const ast::Name &name, const char *what) {
  auto [entry, isNew] = names.try_emplace(name.text, name.range);
  if (!isNew)
    diags.error(DiagId::Redefinition, name.range, std::string(what) + " '" + name.text.str() + "' is defined twice")
        .note(entry->second, "the other definition is here");
  return isNew;
}

Type Compiler::resolve(const ast::TypeName &type) {
  if (type.element) {
    Type element = resolve(*type.element);
    return element.isError() ? Type() : element.list();
  }
  auto base = llvm::StringSwitch<Type::Base>(type.name.text)
                  .Case("int", Type::Int)
                  .Case("bool", Type::Bool)
                  .Case("string", Type::String)
                  .Case("buffer", Type::Buffer)
                  .Case("protocol", Type::Protocol)
                  .Case("chunk", Type::Chunk)
                  .Default(Type::Error);
  if (base == Type::Error) {
    std::string near = suggestion(type.name.text, {"int", "bool", "string", "buffer", "protocol", "chunk"});
    diags.error(
        DiagId::UnknownName, type.name.range,
        "unknown type '" + type.name.text.str() + "'" +
            (near.empty() ? "; types are int, bool, string, buffer, protocol, chunk and lists such as [int]" : near));
  }
  return {base, 0};
}

std::vector<Formal> Compiler::formals(llvm::ArrayRef<ast::Parameter> parameters) {
  std::vector<Formal> result;
  std::map<llvm::StringRef, SourceRange> names;
  for (const ast::Parameter &parameter : parameters) {
    isNew(names, parameter.name, "parameter");
    if (!parameter.value && !result.empty() && result.back().optional)
      diags.error(DiagId::WrongArguments, parameter.name.range,
                  "parameter '" + parameter.name.text.str() + "' without a default follows one with a default");
    uint32_t thunk = parameter.value ? addFunction(parameter.name.text) : 0;
    result.push_back(
        {parameter.name.text, resolve(*parameter.type), parameter.value, parameter.value != nullptr, false, thunk});
  }
  return result;
}

uint32_t Compiler::addFunction(llvm::StringRef name) {
  code.functions.emplace_back();
  code.functions.back().name = name.str();
  code.functions.back().isStandard = declaresStandard;
  return static_cast<uint32_t>(code.functions.size()) - 1;
}

void Compiler::declare(const ast::File &file) {
  usesScratch |= file.usesScratch;
  declaresStandard = modules.standard.count(&file) != 0;
  for (const ast::Parameter &param : file.params) {
    if (!isNew(paramNames, param.name, "param"))
      continue;
    Type type = resolve(*param.type);
    if (type.base == Type::Chunk || type.base == Type::Buffer)
      diags.error(DiagId::TypeMismatch, param.type->range,
                  "a param can't be of type " + str(type) + "; its value is known before any program runs");
    paramOf[param.name.text] = static_cast<uint32_t>(params.size());
    ParamInfo info;
    info.syntax = &param;
    info.type = type;
    info.slot = static_cast<uint32_t>(code.paramNames.size());
    info.thunk = addFunction(param.name.text);
    info.file = &file;
    info.valueRange = param.value->range;
    if (param.choices)
      info.choices = addFunction(param.name.text);
    params.push_back(std::move(info));
    code.paramNames.push_back(param.name.text.str());
  }
  for (const ast::Function &function : file.functions) {
    if (isBuiltin(function.name.text)) {
      diags.error(DiagId::Redefinition, function.name.range,
                  "'" + function.name.text.str() + "' is a built-in function");
      continue;
    }
    if (!isNew(functionNames, function.name, "function"))
      continue;
    FunctionInfo info;
    info.syntax = &function;
    info.formals = formals(function.parameters);
    info.infers = !function.result && function.value;
    info.result = function.result ? resolve(*function.result) : info.infers ? Type() : Type{Type::None, 0};
    info.index = addFunction(function.name.text);
    functionOf[function.name.text] = static_cast<uint32_t>(functions.size());
    functions.push_back(std::move(info));
  }
  for (const ast::Collective &collective : file.collectives) {
    if (!isNew(collectiveNames, collective.name, "collective"))
      continue;
    collectiveOf[collective.name.text] = static_cast<uint32_t>(collectives.size());
    collectives.push_back({&collective, &file, formals(collective.parameters), addFunction(collective.name.text)});
    code.functions.back().isCollective = true;
  }
}

void Compiler::compileFunction(FunctionInfo &info) {
  if (info.state != FunctionInfo::State::Waiting)
    return;
  info.state = FunctionInfo::State::Compiling;
  BodyCompiler body(*this, info.index, BodyCompiler::Kind::Function);
  Type result = body.function(*info.syntax, info.formals, info.result, info.infers);
  info.result = result;
  info.state = FunctionInfo::State::Done;
}

/// Compiles each default as a function of the earlier parameters, so that the code of a call does not grow with the
/// default.
void Compiler::compileDefaults(const std::vector<Formal> &all) {
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].value)
      BodyCompiler(*this, all[i].thunk, BodyCompiler::Kind::Param)
          .defaultValue(llvm::makeArrayRef(all).take_front(i), all[i]);
}

void Compiler::compileProgram(const ast::Program &program) {
  ProgramCode result;
  result.syntax = &program;
  result.header = addFunction(program.name.text);
  result.body = addFunction(program.name.text);
  BodyCompiler(*this, result.header, BodyCompiler::Kind::Header).header(program, result);
  BodyCompiler(*this, result.body, BodyCompiler::Kind::Program).program(program, result);
  programs.push_back(std::move(result));
}

void Compiler::compile() {
  for (const auto &file : modules.files)
    declare(*file);
  declaresStandard = false;
  for (ParamInfo &param : params) {
    BodyCompiler(*this, param.thunk, BodyCompiler::Kind::Param).param(*param.syntax->value, param.type);
    if (param.choices)
      BodyCompiler(*this, *param.choices, BodyCompiler::Kind::Param).choices(*param.syntax->choices, param.type);
  }
  for (FunctionInfo &info : functions) {
    compileDefaults(info.formals);
    compileFunction(info);
  }
  for (const CollectiveInfo &info : collectives) {
    compileDefaults(info.formals);
    BodyCompiler(*this, info.index, BodyCompiler::Kind::Collective).collective(info);
  }
  if (!modules.main)
    return;
  for (const ast::Program &program : modules.main->programs)
    if (isNew(programNames, program.name, "program"))
      compileProgram(program);
}

void Compiler::redefine(ParamInfo &param, const ast::Expr &value, const std::string &define) {
  uint32_t thunk = addFunction(param.syntax->name.text);
  BodyCompiler(*this, thunk, BodyCompiler::Kind::Param).param(value, param.type, &define);
  param.thunk = thunk;
  param.valueRange = value.range;
  param.define = define;
}
