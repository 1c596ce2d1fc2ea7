// SPDX-License-Identifier: Apache-2.0
// Prints a bundle: its dispatch table, and every program as GC3-IR text, read back through the runtime's own loader.
#include "bundle/BundleFile.h"
#include "gc3/Emit/Bundle.h"
#include "gc3/IR/Print.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <array>

using namespace gc3;
using namespace gc3::ir;
namespace fbs = gc3::bundle::fbs;

namespace {

/// One program of a bundle as IR. What only the compiler knows (directives, source places) is not in a bundle.
class Reader {
public:
  Reader(const bundle::BundleFile &file, uint32_t index) : file(file), stored(file.program(index)), index(index) {}

  bundle::BundleStatus read(Program &program);

private:
  void readHeader();
  void addRank(Program &program, const bundle::RankView &view);
  void addAlias(const bundle::RankView &view);
  bool addBuffer(BufferId buffer, uint32_t slots);
  bool addPostcondition(const bundle::CheckView &view);
  bundle::BundleStatus invalid(const std::string &what) const {
    return {bundle::BundleError::Invalid, "invalid bundle: program '" + info->name + "': " + what};
  }

  const bundle::BundleFile &file;
  const fbs::Program &stored;
  uint32_t index;
  std::shared_ptr<ProgramInfo> info = std::make_shared<ProgramInfo>();
};

} // namespace

void Reader::readHeader() {
  info->name = stored.name()->str();
  info->collective.name = stored.collective()->str();
  info->collective.ranks = stored.ranks();
  info->collective.input.chunks = stored.input_chunks_per_block();
  info->collective.output.chunks = stored.output_chunks_per_block();
  info->protocol = static_cast<Protocol>(stored.protocol());
  info->minBytes = stored.min_bytes();
  info->maxBytes = stored.max_bytes();
  info->directives.resize(1);
  info->sites.resize(1);
  if (stored.scratch_names())
    for (const auto *name : *stored.scratch_names())
      info->scratchNames.push_back(name->str());
}

void Reader::addAlias(const bundle::RankView &view) {
  RankAlias alias;
  alias.kind = static_cast<RankAlias::Kind>(view.alias);
  alias.offset = view.aliasOffset / stored.subdivision();
  info->collective.aliases.push_back(alias);
}

/// Notes that the next rank has the buffer, if it has. All ranks that do have as many blocks.
bool Reader::addBuffer(BufferId buffer, uint32_t slots) {
  Collective &collective = info->collective;
  Shape &shape = buffer == InputBuffer ? collective.input : collective.output;
  (buffer == InputBuffer ? collective.hasInput : collective.hasOutput).push_back(slots != 0);
  if (slots == 0)
    return true;
  uint32_t blocks = slots / (shape.chunks * stored.subdivision());
  bool first = shape.blocks == 0;
  shape.blocks = first ? blocks : shape.blocks;
  return blocks == shape.blocks;
}

/// A row is as long as the output of its ranks; no value is empty.
bool Reader::addPostcondition(const bundle::CheckView &view) {
  Postcondition &post = info->collective.post;
  post.valueBegin.assign(view.valueBegin.begin(), view.valueBegin.end());
  for (const fbs::Run &run : view.runs)
    post.runs.push_back({run.rank(), run.index(), run.rank_stride(), run.index_stride(), run.length()});
  post.rowOfRank.assign(view.rowOfRank.begin(), view.rowOfRank.end());
  post.rowBegin.assign(view.rowBegin.begin(), view.rowBegin.end());
  post.rows.assign(view.rows.begin(), view.rows.end());
  bool good = std::adjacent_find(post.valueBegin.begin(), post.valueBegin.end()) == post.valueBegin.end();
  for (uint32_t rank = 0; rank != stored.ranks(); ++rank) {
    uint32_t row = post.rowOfRank[rank];
    good &= post.rowBegin[row + 1] - post.rowBegin[row] == info->collective.size(rank, OutputBuffer);
  }
  return good;
}

void Reader::addRank(Program &program, const bundle::RankView &view) {
  addAlias(view);
  program.bufferSizes.push_back(view.alias == fbs::Alias::InputInOutput ? 0 : view.inputSlots);
  program.bufferSizes.push_back(view.alias == fbs::Alias::OutputInInput ? 0 : view.outputSlots);
  program.bufferSizes.insert(program.bufferSizes.end(), view.scratchSlots.begin(), view.scratchSlots.end());
  auto firstStep = static_cast<uint32_t>(program.steps.size());
  auto firstWait = static_cast<uint32_t>(program.waits.size());
  for (const fbs::ThreadBlock &block : view.threadBlocks)
    program.threadBlocks.push_back({view.rank, block.channel(), block.send_peer(), block.recv_peer(),
                                    firstStep + block.first_instruction(), block.instruction_count()});
  for (const fbs::Instruction &instruction : view.instructions) {
    Step step{};
    step.opcode = static_cast<Opcode>(instruction.opcode());
    step.srcBuffer = instruction.src_buffer();
    step.dstBuffer = instruction.dst_buffer();
    step.srcIndex = instruction.src_index();
    step.dstIndex = instruction.dst_index();
    step.count = instruction.count();
    step.waitBegin = firstWait + instruction.wait_begin();
    step.waitCount = instruction.wait_count();
    program.steps.push_back(step);
  }
  for (const fbs::Wait &wait : view.waits)
    program.waits.push_back({wait.thread_block(), wait.step()});
  program.rankBegin.push_back(static_cast<uint32_t>(program.threadBlocks.size()));
}

bundle::BundleStatus Reader::read(Program &program) {
  readHeader();
  program.subdivision = stored.subdivision();
  program.fifoSlots = stored.fifo_slots();
  for (uint32_t rank = 0; rank != stored.ranks(); ++rank) {
    bundle::RankView view;
    if (bundle::BundleStatus status = file.rank(index, rank, view); !status.ok())
      return status;
    if (!addBuffer(InputBuffer, view.inputSlots) || !addBuffer(OutputBuffer, view.outputSlots))
      return invalid("rank " + std::to_string(rank) + " has another number of blocks than those before it");
    addRank(program, view);
  }
  bundle::CheckView view;
  if (bundle::BundleStatus status = file.check(index, view); !status.ok())
    return status;
  if (!addPostcondition(view))
    return invalid("the postcondition does not fit the output");
  program.info = info;
  return {};
}

/// What was proven: all of it, or the properties by name.
static std::string proof(uint32_t verified) {
  static constexpr std::array names = {"structure", "no deadlock", "postcondition", "no races"}; // by bit
  if (verified == (1u << names.size()) - 1)
    return "proven";
  std::string text;
  for (size_t bit = 0; bit != names.size(); ++bit)
    if (verified >> bit & 1)
      text += std::string(text.empty() ? "proven only: " : " + ") + names[bit];
  return text.empty() ? "not proven" : text;
}

static void printTable(llvm::raw_ostream &out, const bundle::BundleFile &file) {
  out << "bundle by " << file.manifest().producer()->str() << ", " << file.bytes().size() << " bytes, "
      << file.programCount() << (file.programCount() == 1 ? " program\n" : " programs\n");
  for (uint32_t i = 0; i != file.programCount(); ++i) {
    const fbs::Program &program = file.program(i);
    out << program.collective()->str() << " on " << program.ranks() << " ranks, " << program.min_bytes() << " to ";
    if (program.max_bytes() == ProgramInfo::NoLimit)
      out << "any number of";
    else
      out << "less than " << program.max_bytes();
    out << " bytes: " << program.name()->str() << (program.in_place() ? ", in place" : "")
        << (program.whole_slots() ? ", whole slots" : "") << ", slots " << program.min_fifo_slots() << " to "
        << program.fifo_slots() << ", " << proof(program.verified()) << ", digest "
        << llvm::format_hex(program.digest(), 18) << '\n';
  }
}

std::string gc3::emit::dumpBundle(llvm::raw_ostream &out, const std::string &path) {
  std::unique_ptr<bundle::BundleFile> file;
  if (bundle::BundleStatus status = bundle::BundleFile::open(path.c_str(), file); !status.ok())
    return status.message;
  printTable(out, *file);
  for (uint32_t i = 0; i != file->programCount(); ++i) {
    Program program;
    if (bundle::BundleStatus status = Reader(*file, i).read(program); !status.ok())
      return status.message;
    out << '\n';
    print(out, program);
  }
  return {};
}
