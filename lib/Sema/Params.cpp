// SPDX-License-Identifier: Apache-2.0
// Computes params. The value is a `-D` of the command line, else the default. A `-D` is an expression of the language,
// except for a param of type string: its `-D` is the text itself. A param that lists its values must have one of them.
#include "Stages.h"
#include "gc3/Parse/Parse.h"
#include <algorithm>

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

/// Returns the result of the last run, which computed a value of the type.
static ParamValue resultOf(const Machine &machine, Type type) {
  ParamValue value;
  value.known = true;
  if (type.isList())
    value.list = machine.listResult();
  else
    value.number = machine.numberResult();
  return value;
}

static bool isAmong(const ListRef &choices, Type type, const ParamValue &value) {
  if (choices.size() == 0)
    return false;
  const List &list = *choices.get();
  if (type.isList())
    return std::any_of(list.lists.begin(), list.lists.end(),
                       [&](const ListRef &each) { return equal(each, value.list); });
  return std::find(list.ints.begin(), list.ints.end(), value.number) != list.ints.end();
}

/// Reports that the value of a param is not in the list of its values.
static void reportChoice(const ParamInfo &param, const ParamValue &value, const ParamValue &choices, Machine &machine,
                         Diagnostics &diags) {
  const std::string name = "param '" + param.syntax->name.text.str() + "'";
  const std::string list = machine.text(param.type.list(), choices);
  if (param.define.empty())
    diags.error(DiagId::BadParamValue, param.valueRange,
                "the default of " + name + " is " + machine.text(param.type, value) + ", which is not in " + list);
  else
    diags.error(DiagId::BadParamValue, param.valueRange, "'-D " + param.define + "': " + name + " must be in " + list)
        .note(param.syntax->choices->range, "its values are listed here");
}

std::string gc3::sema::defineText(Machine &machine, Type type, const ParamValue &value) {
  if (!type.isList() || value.list.size() == 0)
    return machine.text(type, value);
  const Type element = type.element();
  const List &list = *value.list.get();
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) {
    ParamValue one;
    one.known = true;
    if (element.isList())
      one.list = list.lists[i];
    else
      one.number = list.ints[i];
    const std::string part = defineText(machine, element, one);
    text += (i == 0 ? "[" : ", ") + (element.is(Type::String) ? quoted(part) : part);
  }
  return text + "]";
}

bool gc3::sema::runChoices(const ParamInfo &param, Machine &machine, ParamValue &choices) {
  if (!machine.run(*param.choices))
    return false;
  choices = resultOf(machine, param.type.list());
  return true;
}

bool gc3::sema::runParam(const ParamInfo &param, Machine &machine, Diagnostics &diags) {
  ParamValue choices;
  if (param.choices && !runChoices(param, machine, choices))
    return false;
  if (!machine.run(param.thunk))
    return false;
  ParamValue &value = machine.params[param.slot];
  value = resultOf(machine, param.type);
  if (param.choices && !isAmong(choices.list, param.type, value))
    reportChoice(param, value, choices, machine, diags);
  return true;
}

bool gc3::sema::runParams(const Compiler &compiler, Machine &machine, Diagnostics &diags) {
  for (const ParamInfo &param : compiler.params)
    if (!runParam(param, machine, diags))
      return false;
  return !diags.hasErrors();
}
