// SPDX-License-Identifier: Apache-2.0
// Runs semantic analysis: loads, checks and compiles everything, then runs the params and each program.
#include "Stages.h"
#include "gc3/IR/Dispatch.h"
#include "gc3/Support/Quantity.h"

using namespace gc3;
using namespace gc3::sema;

namespace {

class Analysis {
public:
  Analysis(Compiler &compiled, Diagnostics &sink, const SemaOptions &semaOptions)
      : compiler(compiled), diags(sink), options(semaOptions), machine(compiled.code, sink, semaOptions) {}

  std::vector<ir::ChunkDag> run();
  std::optional<ir::Collective> runCollective();

private:
  bool runHeader(const ProgramCode &program, CollectiveBuilder &builder);
  bool runProgram(const ProgramCode &program);
  bool fitsBudgets(const ir::ChunkDag &dag);
  bool selected(const ProgramCode &program) const {
    return options.program.empty() || options.program == program.syntax->name.text;
  }

  Compiler &compiler;
  Diagnostics &diags;
  const SemaOptions &options;
  Machine machine;
  std::vector<ir::ChunkDag> dags;
  uint64_t slots = 0, operations = 0; ///< sums over all programs so far
};

} // namespace

bool Analysis::runHeader(const ProgramCode &program, CollectiveBuilder &builder) {
  machine.beginProgram();
  machine.settings = {};
  machine.collective = &builder;
  bool good = machine.run(program.header);
  machine.collective = nullptr;
  return good;
}

bool Analysis::runProgram(const ProgramCode &program) {
  CollectiveBuilder builder(program.syntax->collective.text.str(), options);
  if (!runHeader(program, builder))
    return false;

  auto info = std::make_shared<ir::ProgramInfo>();
  info->name = program.syntax->name.text.str();
  info->nameRange = program.syntax->name.range;
  info->collective = builder.finish();
  info->protocol = machine.settings.protocol;
  info->minBytes = machine.settings.minBytes;
  info->maxBytes = machine.settings.maxBytes;
  info->sizesRange = machine.settings.sizesRange;
  info->nodes = machine.settings.nodes;
  info->isPinned = program.isPinned;
  info->allowsGaps = program.allowsGaps;
  if (compiler.usesScratch)
    info->scratchNames.push_back("scratch");
  info->scratchNames.insert(info->scratchNames.end(), program.scratchNames.begin(), program.scratchNames.end());

  Tracer tracer(*info, options);
  if (!tracer.begin()) {
    diags.error(tracer.failure.id, info->nameRange, tracer.failure.message);
    return false;
  }
  machine.tracer = &tracer;
  machine.program = info.get();
  bool good = machine.run(program.body);
  machine.tracer = nullptr;
  machine.program = nullptr;
  if (!good)
    return false;
  checkPostcondition(*info, builder.hashes(), tracer, diags);
  ir::ChunkDag dag = tracer.finish(info);
  if (!fitsBudgets(dag))
    return false;
  dags.push_back(std::move(dag));
  return true;
}

/// Checks the budgets of all programs together, because all of them are in memory at once. The budgets of each single
/// program have been checked before.
bool Analysis::fitsBudgets(const ir::ChunkDag &dag) {
  for (uint32_t size : dag.bufferSizes)
    slots += size;
  for (const ir::ChunkOp &op : dag.ops)
    operations += op.kind != ir::ChunkOpKind::Start;
  bool tooManySlots = slots > options.maxSlots;
  if (!tooManySlots && operations <= options.maxOperations)
    return true;
  diags.error(tooManySlots ? DiagId::SlotBudget : DiagId::OperationBudget, dag.info->nameRange,
              "with this program, the programs of the file have more than " +
                  (tooManySlots ? quantity(options.maxSlots, "chunk") + " in their buffers"
                                : quantity(options.maxOperations, "chunk operation")) +
                  "; compile them one by one with --program, or allow more with " +
                  (tooManySlots ? "--max-slots" : "--max-ops"));
  return false;
}

std::vector<ir::ChunkDag> Analysis::run() {
  if (!runParams(compiler, machine, diags))
    return {};
  for (const ProgramCode &program : compiler.programs)
    if (selected(program) && slots <= options.maxSlots && operations <= options.maxOperations)
      runProgram(program);
  std::vector<const ir::ProgramInfo *> infos;
  for (const ir::ChunkDag &dag : dags)
    infos.push_back(dag.info.get());
  ir::checkDispatch(infos, options.sizeCheck, diags);
  return std::move(dags);
}

std::optional<ir::Collective> Analysis::runCollective() {
  const ProgramCode &program = compiler.programs.front();
  CollectiveBuilder builder(program.syntax->collective.text.str(), options);
  if (!runParams(compiler, machine, diags) || !runHeader(program, builder))
    return std::nullopt;
  return builder.finish();
}

/// Returns true if there is something to build; otherwise reports an error.
static bool checkSelection(const Compiler &compiler, llvm::StringRef name, const SemaOptions &options,
                           Diagnostics &diags) {
  std::vector<std::string> names;
  for (const ProgramCode &program : compiler.programs)
    names.push_back(program.syntax->name.text.str());
  bool found =
      options.program.empty() ? !names.empty() : std::find(names.begin(), names.end(), options.program) != names.end();
  if (found)
    return true;
  if (options.program.empty()) {
    diags.error(DiagId::NoProgram, {}, "'" + name.str() + "' holds no program");
    return false;
  }
  std::string near = suggestion(options.program, names);
  diags.error(DiagId::NoProgram, {}, "'" + name.str() + "' holds no program '" + options.program + "'" + near);
  return false;
}

std::vector<ir::ChunkDag> sema::analyze(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                        llvm::StringRef text, const SemaOptions &options,
                                        std::vector<std::string> *filesRead) {
  Modules modules = loadModules(sources, diags, name, text, options, filesRead);
  if (diags.hasErrors())
    return {};
  Compiler compiler(modules, diags, options);
  compiler.compile();
  std::vector<std::unique_ptr<const ast::LoneExpression>> trees;
  applyDefines(compiler, sources, diags, options, trees);
  if (diags.hasErrors() || !checkSelection(compiler, name, options, diags))
    return {};
  return Analysis(compiler, diags, options).run();
}

std::optional<ir::Collective> sema::analyzeCollective(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                                      llvm::StringRef text, const SemaOptions &options,
                                                      std::vector<std::string> *filesRead) {
  Modules modules = loadModules(sources, diags, name, text, options, filesRead);
  if (diags.hasErrors())
    return std::nullopt;
  Compiler compiler(modules, diags, options);
  compiler.compile();
  if (diags.hasErrors() || !checkSelection(compiler, name, options, diags))
    return std::nullopt;
  return Analysis(compiler, diags, options).runCollective();
}
