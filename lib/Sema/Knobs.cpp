// SPDX-License-Identifier: Apache-2.0
// Lists the combinations of the values that params list. The list of a knob can depend on earlier params, so it is
// computed anew for each combination of their values.
#include "Stages.h"
#include "gc3/Parse/Parse.h"
#include "llvm/ADT/StringSet.h"

using namespace gc3;
using namespace gc3::sema;

namespace {

class Combinations {
public:
  Combinations(const Compiler &compiled, Machine &runner, Diagnostics &sink, size_t limit)
      : compiler(compiled), machine(runner), diags(sink), most(limit) {}

  std::optional<std::vector<Assignment>> run();

private:
  /// A knob with one of its values.
  struct Level {
    size_t param; ///< index in Compiler::params
    std::vector<ParamValue> values;
    size_t position = 0;
  };
  /// Excluded: a param has a value that it does not list, or lists none.
  enum class State : uint8_t { Good, Excluded, Failed };
  State runFixed(const ParamInfo &param);
  State runKnob(size_t number);
  State runFrom(size_t param);
  bool next(size_t &param);
  std::vector<ParamValue> valuesOf(const ParamInfo &param, const ParamValue &choices);
  void set(const Level &level) { machine.params[compiler.params[level.param].slot] = level.values[level.position]; }
  Assignment current();

  const Compiler &compiler;
  Machine &machine;
  Diagnostics &diags;
  const size_t most;
  std::vector<Level> levels;
  std::optional<Diagnostic> refusal; ///< why the first excluded combination is excluded
};

} // namespace

/// Returns the list's elements without duplicates.
std::vector<ParamValue> Combinations::valuesOf(const ParamInfo &param, const ParamValue &choices) {
  std::vector<ParamValue> values;
  llvm::StringSet<> texts;
  for (size_t i = 0; i < choices.list.size(); ++i) {
    const List &list = *choices.list.get();
    ParamValue value;
    value.known = true;
    if (param.type.isList())
      value.list = list.lists[i];
    else
      value.number = list.ints[i];
    if (texts.insert(machine.text(param.type, value)).second)
      values.push_back(std::move(value));
  }
  return values;
}

/// Computes a param that is fixed. A value that the param does not list excludes the combination.
Combinations::State Combinations::runFixed(const ParamInfo &param) {
  Diagnostics refused(diags.sourceManager());
  if (!runParam(param, machine, refused))
    return State::Failed;
  if (!refused.hasErrors())
    return State::Good;
  if (!refusal)
    refusal = refused.all().front();
  return State::Excluded;
}

/// Takes the first value of a knob. An empty list excludes the combination.
Combinations::State Combinations::runKnob(size_t number) {
  const ParamInfo &param = compiler.params[number];
  ParamValue choices;
  if (!runChoices(param, machine, choices))
    return State::Failed;
  std::vector<ParamValue> values = valuesOf(param, choices);
  if (values.empty()) {
    if (!refusal)
      refusal = {DiagId::BadParamValue,
                 Severity::Error,
                 param.syntax->choices->range,
                 "param '" + param.syntax->name.text.str() + "' has no value to choose from",
                 {}};
    return State::Excluded;
  }
  levels.push_back({number, std::move(values)});
  set(levels.back());
  return State::Good;
}

/// Computes the params from number `param` on, with the first value of each knob.
Combinations::State Combinations::runFrom(size_t param) {
  State state = State::Good;
  for (; param < compiler.params.size() && state == State::Good; ++param) {
    const ParamInfo &info = compiler.params[param];
    state = info.choices && info.define.empty() ? runKnob(param) : runFixed(info);
  }
  return state;
}

/// Sets the last knob with a further value to it. Returns false if there is none; otherwise `param` is the number of
/// the first param to compute.
bool Combinations::next(size_t &param) {
  while (!levels.empty() && ++levels.back().position == levels.back().values.size())
    levels.pop_back();
  if (levels.empty())
    return false;
  set(levels.back());
  param = levels.back().param + 1;
  return true;
}

Assignment Combinations::current() {
  Assignment assignment;
  for (const Level &level : levels) {
    const ParamInfo &param = compiler.params[level.param];
    assignment.push_back(
        {param.syntax->name.text.str(), defineText(machine, param.type, level.values[level.position])});
  }
  return assignment;
}

std::optional<std::vector<Assignment>> Combinations::run() {
  std::vector<Assignment> all;
  size_t param = 0;
  do {
    const State state = runFrom(param);
    if (state == State::Failed)
      return std::nullopt;
    if (state == State::Good)
      all.push_back(current());
  } while (all.size() <= most && next(param));
  if (!all.empty())
    return all;
  Diagnostic &error = diags.error(refusal->id, refusal->range, refusal->message);
  for (const Note &note : refusal->notes)
    error.note(note.range, note.message);
  return std::nullopt;
}

std::optional<std::vector<std::string>> sema::listParams(SourceManager &sources, Diagnostics &diags,
                                                         llvm::StringRef name, llvm::StringRef text,
                                                         const SemaOptions &options) {
  Modules modules = loadModules(sources, diags, name, text, options, nullptr);
  if (diags.hasErrors())
    return std::nullopt;
  Compiler compiler(modules, diags, options);
  compiler.compile();
  if (diags.hasErrors())
    return std::nullopt;
  std::vector<std::string> names;
  for (const ParamInfo &param : compiler.params)
    names.push_back(param.syntax->name.text.str());
  return names;
}

std::optional<std::vector<Assignment>> sema::listAssignments(SourceManager &sources, Diagnostics &diags,
                                                             llvm::StringRef name, llvm::StringRef text,
                                                             const SemaOptions &options, size_t most) {
  Modules modules = loadModules(sources, diags, name, text, options, nullptr);
  if (diags.hasErrors())
    return std::nullopt;
  Compiler compiler(modules, diags, options);
  compiler.compile();
  std::vector<std::unique_ptr<const ast::LoneExpression>> trees;
  applyDefines(compiler, sources, diags, options, trees);
  if (diags.hasErrors())
    return std::nullopt;
  Machine machine(compiler.code, diags, options);
  if (options.defines.empty() && !runParams(compiler, machine, diags)) // the defaults
    return std::nullopt;
  return Combinations(compiler, machine, diags, most).run();
}
