// SPDX-License-Identifier: Apache-2.0
// Computes params. The value is a `-D` of the command line, else the default. A `-D` is an expression of the language,
// except for a param of type string: its `-D` is the text itself.
#include "Stages.h"
#include "gc3/Parse/Parse.h"

using namespace gc3;
using namespace gc3::sema;

/// Returns a string literal for the text of a `-D`.
static std::string quoted(const std::string &text) {
  std::string literal = "\"";
  for (char c : text) {
    bool doubles = c == '{' || c == '}';
    bool escapes = c == '"' || c == '\\' || c == '\n' || c == '\t';
    if (doubles || escapes)
      literal += doubles ? c : '\\';
    literal += c == '\n' ? 'n' : c == '\t' ? 't' : c;
  }
  return literal + "\"";
}

void gc3::sema::applyDefines(Compiler &compiler, SourceManager &sources, Diagnostics &diags, const SemaOptions &options,
                             std::vector<std::unique_ptr<const ast::LoneExpression>> &trees) {
  std::vector<std::string> names;
  for (const ParamInfo &param : compiler.params)
    names.push_back(param.syntax->name.text.str());
  for (const auto &[name, value] : options.defines) {
    std::string define = name + "=" + value;
    auto which = std::find(names.begin(), names.end(), name);
    if (which == names.end()) {
      std::string near = suggestion(name, names);
      diags.error(DiagId::UnknownParam, {}, "'-D " + define + "': there is no param '" + name + "'" + near);
      continue;
    }
    ParamInfo &param = compiler.params[static_cast<size_t>(which - names.begin())];
    bool isString = param.type.is(Type::String);
    Diagnostics local(sources);
    std::unique_ptr<const ast::LoneExpression> tree =
        parse::parseExpression(sources, local, "-D " + name, isString ? quoted(value) : value);
    if (!tree) {
      for (const Diagnostic &error : local.all())
        diags.error(DiagId::BadParamValue, error.range, "'-D " + define + "': " + error.message);
      continue;
    }
    compiler.redefine(param, *tree->expr, define);
    trees.push_back(std::move(tree));
  }
}

bool gc3::sema::runParams(const Compiler &compiler, Machine &machine) {
  bool good = true;
  for (const ParamInfo &param : compiler.params) {
    ParamValue &value = machine.params[param.slot];
    if (!good || !machine.run(param.thunk)) {
      good = false;
      continue;
    }
    value.known = true;
    if (param.type.isList())
      value.list = machine.listResult();
    else
      value.number = machine.numberResult();
  }
  return good;
}
