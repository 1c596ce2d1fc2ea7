// SPDX-License-Identifier: Apache-2.0
// Chooses the rows of the table (programs and sizes), and prepares the data of one row. Measure.cpp runs and checks the
// row.
#include "Runner.h"

#include "gc3/Common/StandardCollective.h"

#include "core/Identity.h"

namespace gc3::run {

Runner::~Runner() {
  destroyCommunicators();
  gc3BundleFree(bundle);
}

std::string Runner::open() {
  if (gc3Result_t result = gc3BundleLoad(&bundle, options.bundle.c_str()); result != gc3Success)
    return lastError(result == gc3SystemError ? "" : options.bundle.c_str(), result, nullptr) + // text has the path
           (result == gc3NotABundle ? "; gc3c makes a bundle of a program" : "");
  if (auto status = bundle::BundleFile::open(options.bundle.c_str()).moveTo(file); !status.ok())
    return options.bundle + ": " + status.message;
  return {};
}

/// Computes the number of elements of each buffer. Fails if a buffer of elements of `elementSize` bytes would exceed
/// 2^62 bytes, so that later products of elements and bytes cannot overflow.
std::string Runner::shapeOf(int program, uint64_t count, size_t elementSize, Shape &shape) const {
  auto tooLarge = [&] { return "count " + std::to_string(count) + " is too large: a buffer would exceed 2^62 bytes"; };
  const uint64_t mostElements = (uint64_t{1} << 62) / elementSize;
  if (count > mostElements)
    return tooLarge();
  uint32_t ranks = file->program(static_cast<uint32_t>(program)).ranks();
  shape.input.resize(ranks);
  shape.output.resize(ranks);
  shape.largest = 0;
  for (uint32_t r = 0; r < ranks; ++r) {
    size_t in = 0, out = 0;
    if (auto result = gc3ProgramElements(bundle, program, static_cast<int>(r), count, &in, &out); result != gc3Success)
      return lastError("", result, nullptr);
    shape.input[r] = in;
    shape.output[r] = out;
    shape.largest = std::max({shape.largest, shape.input[r], shape.output[r]});
  }
  if (shape.largest > mostElements)
    return tooLarge();
  return {};
}

/// Returns the root of a collective that has one: the only rank with an input, or with an output. Returns -1 if there
/// is none.
static int findRoot(const std::string &collective, const std::vector<uint64_t> &input,
                    const std::vector<uint64_t> &output) {
  const common::StandardCollective *standard = common::findStandard(collective);
  if (!standard || !standard->hasRoot())
    return -1;
  const std::vector<uint64_t> &elements = isOnRoot(standard->input) ? input : output;
  int root = -1;
  for (size_t r = 0; r < elements.size(); ++r)
    if (elements[r] != 0) {
      if (root >= 0)
        return -1;
      root = static_cast<int>(r);
    }
  return root;
}

/// Returns the shortest text that names the program's collective in a call.
static std::string labelOf(const bundle::BundleFile &file, const bundle::fbs::Program &program) {
  const std::string name = program.collective()->str();
  const bundle::BundleFile *const files[] = {&file};
  const bool isClear = common::findStandard(name) || core::checkMeaning({name, {}}, program.ranks(), files).ok();
  return isClear ? name : core::formOf(program).str();
}

std::string Runner::groupPrograms() {
  const std::optional<common::CollectiveForm> wanted =
      options.collective.empty() ? std::nullopt : common::CollectiveForm::parse(options.collective);
  bool isAnyNamed = false;
  for (int i = 0; i < static_cast<int>(file->programCount()); ++i) {
    const auto &program = file->program(static_cast<uint32_t>(i));
    if ((wanted && !core::isNamedBy(*wanted, program)) ||
        (!options.program.empty() && options.program != "all" && options.program != program.name()->str()))
      continue;
    isAnyNamed = true;
    if (!canRun(program.ranks()))
      continue;
    Shape shape;
    if (std::string problem = shapeOf(i, 1 << 20, 1, shape); !problem.empty())
      return problem;
    ProgramGroup group{labelOf(*file, program), static_cast<int>(program.ranks()), -1, {i}};
    group.root = findRoot(group.collective, shape.input, shape.output);
    auto same = std::find_if(groups.begin(), groups.end(), [&](const ProgramGroup &other) {
      const auto &first = file->program(static_cast<uint32_t>(other.programs[0]));
      return options.program.empty() && other.ranks == group.ranks && other.root == group.root &&
             first.collective()->string_view() == program.collective()->string_view() &&
             core::haveOneMeaning(first, program);
    });
    if (same == groups.end())
      groups.push_back(std::move(group));
    else
      same->programs.push_back(i);
  }
  if (!groups.empty())
    return {};
  if (isAnyNamed)
    return describeRanks() + "; the bundle has:" + listPrograms();
  return file->programCount() == 0 ? "the bundle has no programs" : "no such program; the bundle has:" + listPrograms();
}

bool Runner::canRun(uint32_t ranks) const {
  return nccl ? ranks == job.processes() : job.divides(ranks);
}

std::string Runner::describeRanks() const {
  const std::string processes = std::to_string(job.processes());
  if (!nccl)
    return "no program can run in " + processes + " processes, because each process needs an equal number of ranks";
  return "no program is for " + processes + " ranks, and with --backend nccl each process has one rank";
}

/// Returns a line for each program, with the sizes for which it is selected.
std::string Runner::listPrograms() const {
  std::string text;
  for (uint32_t i = 0; i < file->programCount(); ++i) {
    const auto &program = file->program(i);
    text += "\n  '" + program.name()->str() + "': " + core::formOf(program).str() + " on " +
            std::to_string(program.ranks()) + " ranks, ";
    if (program.max_bytes() == UINT64_MAX)
      text += program.min_bytes() == 0 ? "all sizes" : std::to_string(program.min_bytes()) + " bytes or more";
    else
      text += std::to_string(program.min_bytes()) + " to " + std::to_string(program.max_bytes() - 1) + " bytes";
  }
  return text;
}

std::string Runner::checkSizes() const {
  std::string problem;
  for (const ProgramGroup &group : groups)
    for (gc3DataType_t type : options.types) {
      const size_t size = core::elementSize(static_cast<core::ElementType>(type));
      for (uint64_t count : wantedCounts(group, size, problem)) {
        Shape shape;
        if (problem = shapeOf(group.programs[0], count, size, shape); !problem.empty())
          return problem;
        if (dispatch(group, shape.largest * size))
          return {};
      }
      if (!problem.empty())
        return problem;
    }
  return "no program is selected for these sizes; --program runs one at any size; the bundle has:" + listPrograms();
}

std::optional<int> Runner::dispatch(const ProgramGroup &group, uint64_t bytes) const {
  for (int i : group.programs) {
    const auto &program = file->program(static_cast<uint32_t>(i));
    if (!options.program.empty() || (bytes >= program.min_bytes() && bytes < program.max_bytes()))
      return i;
  }
  return std::nullopt;
}

/// Returns the program for a call. If some programs are for a wiring, the communicator chooses, because it knows its
/// own. Sets `whyNone` if there is none.
std::optional<int> Runner::select(const ProgramGroup &group, uint64_t bytes, uint64_t count, gc3DataType_t type) {
  const auto isWired = [&](int i) { return file->program(static_cast<uint32_t>(i)).nodes() != 0; };
  if (!options.program.empty() || std::none_of(group.programs.begin(), group.programs.end(), isWired))
    return dispatch(group, bytes);
  const char *name = nullptr;
  const gc3Result_t result = gc3SelectProgram(comms[0], group.collective.c_str(), count, type, group.root, &name);
  if (result != gc3Success)
    whyNone = lastError("", result, comms[0]);
  const auto isSelected = [&](int i) {
    return result == gc3Success && file->program(static_cast<uint32_t>(i)).name()->string_view() == name;
  };
  const auto found = std::find_if(group.programs.begin(), group.programs.end(), isSelected);
  return found == group.programs.end() ? std::nullopt : std::optional(*found);
}

/// Returns the element counts of the rows. Sizes are rounded down to whole elements per block; sizes that round to the
/// same count give one row.
std::vector<uint64_t> Runner::wantedCounts(const ProgramGroup &group, size_t elementSize, std::string &problem) const {
  if (!options.counts.empty())
    return options.counts;
  constexpr uint64_t probe = 1 << 20;
  Shape shape;
  problem = shapeOf(group.programs[0], probe, elementSize, shape);
  std::vector<uint64_t> counts;
  if (!problem.empty() || shape.largest == 0)
    return counts;
  for (uint64_t bytes = options.minBytes;;) {
    long double exact = static_cast<long double>(bytes) / static_cast<long double>(elementSize) *
                        (static_cast<long double>(probe) / static_cast<long double>(shape.largest));
    auto count = static_cast<uint64_t>(std::min(exact, 0x1p63L)); // shapeOf() rejects counts that are cut here
    if (counts.empty() || counts.back() != count)
      counts.push_back(count);
    if (bytes > options.maxBytes / std::max<uint64_t>(options.factor, 2) && options.stepBytes == 0 && bytes != 0)
      break;
    bytes = options.stepBytes ? bytes + options.stepBytes : bytes == 0 ? elementSize : bytes * options.factor;
    if (bytes > options.maxBytes)
      break;
  }
  return counts;
}

const Postcondition *Runner::postcondition(int program, std::string &problem) {
  auto &known = postconditions[program];
  if (known)
    return known.get();
  auto index = static_cast<uint32_t>(program);
  const bundle::BundleResult<bundle::CheckView> view = file->check(index);
  if (!view.ok()) {
    problem = view.outcome().message;
    return nullptr;
  }
  const auto &info = file->program(index);
  std::vector<uint64_t> in, out;
  for (uint32_t r = 0; r < info.ranks(); ++r) {
    const bundle::BundleResult<bundle::RankView> rank = file->rank(index, r);
    if (!rank.ok()) {
      problem = rank.outcome().message;
      return nullptr;
    }
    in.push_back(rank->inputSlots / info.subdivision());
    out.push_back(rank->outputSlots / info.subdivision());
  }
  auto fresh = std::make_unique<Postcondition>();
  if (options.check)
    problem = fresh->load(*view, in, out, own);
  else
    fresh->loadWithoutChunks(*view);
  if (problem.empty())
    known = std::move(fresh);
  return known.get();
}

std::string Runner::runGroup(const ProgramGroup &group, Summary &summary) {
  if (std::string problem = communicators(group.ranks, !options.trace.empty()); !problem.empty())
    return problem;
  table.group(group.collective, group.ranks, group.root);
  std::optional<std::pair<uint64_t, uint64_t>> skipped; // first and last of adjacent sizes without a program
  auto reportSkipped = [&] {
    if (skipped)
      table.skipped(group.collective, group.ranks, skipped->first, skipped->second);
    skipped.reset();
  };
  for (gc3DataType_t type : options.types) {
    size_t size = core::elementSize(static_cast<core::ElementType>(type));
    std::string problem;
    uint64_t sizesRun = 0;
    for (uint64_t count : wantedCounts(group, size, problem)) {
      Shape shape;
      if (problem = shapeOf(group.programs[0], count, size, shape); !problem.empty())
        return problem;
      uint64_t bytes = shape.largest * size;
      auto program = select(group, bytes, count, type);
      if (!program) {
        skipped = skipped ? std::pair(skipped->first, bytes) : std::pair(bytes, bytes);
        continue;
      }
      reportSkipped();
      if (problem = chooseTrace(group.ranks, sizesRun++); !problem.empty())
        return problem;
      const Postcondition *post = postcondition(*program, problem);
      if (!post)
        return problem;
      uint32_t contributions = file->program(static_cast<uint32_t>(*program)).contributions();
      for (Reduction op : options.ops) {
        if (op == Reduction::Avg && contributions == 0 && options.ops.size() > 1)
          continue; // avg is undefined for this program, which is an error only if no other operation was requested
        Row row;
        if (problem = runRow(group, *program, count, type, op, row); !problem.empty())
          return problem;
        summary.rows.push_back(row);
        summary.wrong += row.placement[0].wrong + row.placement[1].wrong;
        table.row(row);
        if (!post->reduces())
          break;
      }
    }
    reportSkipped();
    if (!problem.empty())
      return problem;
  }
  return {};
}

/// Returns true if the runtime's message already names the program.
static bool isNamed(const std::string &message, const std::string &program) {
  return message.find("program '" + program + "'") != std::string::npos;
}

/// Allocates the buffers of the own ranks.
std::string Runner::makeBuffers(const Shape &shape, size_t elementSize) {
  inputs.resize(own.size());
  outputs.resize(own.size());
  const bool areShared = job.processes() > 1 && !gpu;
  for (uint32_t i = 0; i < own.size(); ++i) {
    const uint64_t input = shape.input[own.first + i], output = shape.output[own.first + i];
    std::string reason = inputs[i].reserve(input * elementSize + 1, areShared);
    if (reason.empty())
      reason = outputs[i].reserve(std::max(input, output) * elementSize + 1, areShared);
    if (!reason.empty())
      return "no memory for buffers of " + std::to_string(shape.largest * elementSize) + " bytes on " +
             std::to_string(own.size()) + (own.size() == 1 ? " rank: " : " ranks: ") + reason;
  }
  return gpu ? gpu->prepare() : "";
}

std::string Runner::runRow(const ProgramGroup &group, int program, uint64_t count, gc3DataType_t type, Reduction op,
                           Row &row) {
  Shape shape;
  size_t size = core::elementSize(static_cast<core::ElementType>(type));
  if (std::string problem = shapeOf(program, count, size, shape); !problem.empty())
    return problem;
  std::string problem;
  const Postcondition *post = postcondition(program, problem);
  row.collective = group.collective;
  row.program = file->program(static_cast<uint32_t>(program)).name()->str();
  row.ranks = group.ranks;
  row.bytes = shape.largest * size;
  row.count = count;
  row.type = typeName(type);
  row.op = post->reduces() ? nameOf(op) : "none";
  if (!post->reduces() && op == Reduction::MulSum)
    op = Reduction::Sum; // collectives that only copy do not multiply
  row.root = group.root;
  if (problem = job.agree(makeBuffers(shape, size)); !problem.empty())
    return problem;
  rowSeed += uint64_t{1} << 32; // the seed of a round is this number plus the round
  madeRound = -1;
  for (Placement placement : {Placement::OutOfPlace, Placement::InPlace})
    if (placement == Placement::OutOfPlace ? options.outOfPlace : options.inPlace)
      if (problem = measure(group, placement, row, type, op, shape, program); !problem.empty())
        return isNamed(problem, row.program) ? problem : "program '" + row.program + "': " + problem;
  if (options.timesNccl)
    row.columns = baselineColumns(row);
  return {};
}

/// Adds NCCL's times to the table, and looks up its collectives.
void Runner::addBaseline() {
  size_t width = 0;
  for (ProgramGroup &group : groups) {
    for (const int program : group.programs)
      width = std::max<size_t>(width, file->program(static_cast<uint32_t>(program)).name()->size());
    const auto isNccls = [&](int program) { return findInNccl(*file, static_cast<uint32_t>(program)).has_value(); };
    if (std::all_of(group.programs.begin(), group.programs.end(), isNccls))
      group.ofNccl = findInNccl(*file, static_cast<uint32_t>(group.programs[0]));
  }
  table.addColumns(static_cast<int>(width), baselineTitles, baselineUnits);
}

std::string Runner::runAll(Summary &summary) {
  if (std::string problem = groupPrograms(); !problem.empty())
    return problem;
  if (std::string problem = checkSizes(); !problem.empty())
    return problem;
  if (std::string problem = nccl ? nccl->join(job) : ""; !problem.empty())
    return problem;
  if (options.timesNccl)
    addBaseline();
  table.header();
  if (nccl)
    table.note("NCCL " + nccl->version());
  for (const ProgramGroup &group : groups)
    if (std::string problem = runGroup(group, summary); !problem.empty())
      return problem;
  if (summary.rows.empty() && !whyNone.empty())
    return whyNone;
  table.footer(summary);
  destroyCommunicators(); // writes the trace
  if (trace::TraceFile *traced = options.trace.empty() ? nullptr : traceFile())
    table.trace(traced->path(), leavesTraceOut);
  return {};
}

void Runner::abort() {
  for (gc3Comm_t comm : comms)
    gc3CommAbort(comm);
  comms.clear();
  nccl->abort();
}

std::string Runner::run(Summary &summary) {
  if (options.backend != Backend::Nccl)
    return runBundle(summary);
  constexpr std::chrono::seconds afterLoss(3); // less than the grace of runLocalProcesses()
  losses = std::make_unique<LossWatch>(job, afterLoss);
  nccl = std::make_unique<NcclRank>(*cuda::linkedCuda());
  std::string problem = job.agree(nccl->prepare(job));
  if (problem.empty())
    problem = runBundle(summary);
  if (!problem.empty())
    abort();
  return problem;
}

std::string Runner::runBundle(Summary &summary) {
  if (std::string problem = open(); !problem.empty())
    return problem;
  if (const std::string problem = runAll(summary); !problem.empty())
    return options.bundle + ": " + problem;
  if (options.trace.empty())
    return {};
  trace::TraceFile *traced = traceFile();
  return traced && !traced->hasFailed() ? "" : "the trace '" + options.trace + "' is incomplete";
}

} // namespace gc3::run
