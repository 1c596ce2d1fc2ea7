// SPDX-License-Identifier: Apache-2.0
// Writes a bundle: one FlatBuffer per section, then the container around them. Equal inputs give identical bytes.
#include "Bundle_generated.h"
#include "bundle/Container.h"
#include "gc3/Emit/Bundle.h"
#include <algorithm>
#include <cstring>

using namespace gc3;
using namespace gc3::ir;
namespace fbs = gc3::bundle::fbs;

namespace {

/// The sections that follow the manifest, in the order of the file and without the manifest.
class Body {
public:
  explicit Body(size_t expectedSize) { bytes.reserve(expectedSize); }

  void add(bundle::SectionKind kind, uint32_t program, uint32_t rank, const flatbuffers::FlatBufferBuilder &section);
  /// Returns the file: header, table, manifest, then these sections.
  std::string file(const flatbuffers::FlatBufferBuilder &manifest) &&;
  /// Returns the value of Program.digest in the manifest.
  uint64_t digest(uint32_t program) const;

private:
  std::string bytes;
  std::vector<bundle::SectionEntry> table; // offsets are relative to `bytes`
};

} // namespace

static bundle::SectionEntry entryOf(bundle::SectionKind kind, uint32_t program, uint32_t rank, uint64_t offset,
                                    const flatbuffers::FlatBufferBuilder &section) {
  bundle::SectionEntry entry{};
  entry.kind = static_cast<uint32_t>(kind);
  entry.program = program;
  entry.rank = rank;
  entry.offset = offset;
  entry.size = section.GetSize();
  entry.checksum = bundle::checksum(section.GetBufferPointer(), section.GetSize());
  return entry;
}

void Body::add(bundle::SectionKind kind, uint32_t program, uint32_t rank,
               const flatbuffers::FlatBufferBuilder &section) {
  bytes.resize(bundle::alignSection(bytes.size()));
  table.push_back(entryOf(kind, program, rank, bytes.size(), section));
  bytes.append(reinterpret_cast<const char *>(section.GetBufferPointer()), section.GetSize());
}

uint64_t Body::digest(uint32_t program) const {
  std::vector<bundle::SectionEntry> own;
  std::copy_if(table.begin(), table.end(), std::back_inserter(own),
               [&](const bundle::SectionEntry &entry) { return entry.program == program; });
  return bundle::programDigest(own.data(), own.size());
}

std::string Body::file(const flatbuffers::FlatBufferBuilder &manifest) && {
  uint64_t first = bundle::alignSection(sizeof(bundle::FileHeader) + (table.size() + 1) * sizeof(bundle::SectionEntry));
  uint64_t front = bundle::alignSection(first + manifest.GetSize());
  for (bundle::SectionEntry &entry : table)
    entry.offset += front;
  table.insert(table.begin(), entryOf(bundle::SectionKind::Manifest, 0, 0, first, manifest));
  bytes.insert(0, front, '\0');
  bundle::FileHeader header{};
  std::memcpy(header.magic, bundle::fileMagic, sizeof(header.magic));
  header.major = bundle::majorVersion;
  header.minor = bundle::minorVersion;
  header.sections = static_cast<uint32_t>(table.size());
  header.fileSize = bytes.size();
  header.checksum = bundle::headerChecksum(header, table.data());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), table.data(), table.size() * sizeof(bundle::SectionEntry));
  std::memcpy(bytes.data() + first, manifest.GetBufferPointer(), manifest.GetSize());
  return std::move(bytes);
}

static void checkSection(flatbuffers::FlatBufferBuilder &builder, const Postcondition &post) {
  std::vector<fbs::Run> runs;
  runs.reserve(post.runs.size());
  for (const Run &run : post.runs)
    runs.emplace_back(run.rank, run.index, run.rankStride, run.indexStride, run.length);
  // Each vector is created in a statement of its own, here and below. The order in which arguments of a call are
  // evaluated depends on the compiler, but the bytes of a bundle must not depend on it.
  auto valueBegin = builder.CreateVector(post.valueBegin);
  auto values = builder.CreateVectorOfStructs(runs);
  auto rowOfRank = builder.CreateVector(post.rowOfRank);
  auto rowBegin = builder.CreateVector(post.rowBegin);
  auto rows = builder.CreateVector(post.rows);
  builder.Finish(fbs::CreateCheck(builder, valueBegin, values, rowOfRank, rowBegin, rows), bundle::checkIdentifier);
}

/// Steps and waits of one rank; indices are relative to the rank.
struct RankLists {
  std::vector<fbs::ThreadBlock> blocks;
  std::vector<fbs::Instruction> steps;
  std::vector<fbs::Wait> waits;
  bool writesInput = false;

  RankLists(const Program &program, uint32_t rank) {
    uint32_t begin = program.rankBegin[rank];
    uint32_t end = program.rankBegin[rank + 1];
    blocks.reserve(end - begin);
    if (begin != end)
      steps.reserve(program.threadBlocks[end - 1].firstStep + program.threadBlocks[end - 1].stepCount -
                    program.threadBlocks[begin].firstStep);
    for (uint32_t index = begin; index != end; ++index) {
      const ThreadBlock &block = program.threadBlocks[index];
      blocks.emplace_back(block.channel, block.sendPeer, block.recvPeer, static_cast<uint32_t>(steps.size()),
                          block.stepCount);
      for (uint32_t i = 0; i != block.stepCount; ++i)
        add(program, program.steps[block.firstStep + i]);
    }
  }

private:
  void add(const Program &program, const Step &step) {
    bool reads = readsSrc(step.opcode), writes = writesDst(step.opcode);
    steps.emplace_back(static_cast<uint8_t>(step.opcode), reads ? step.srcBuffer : 0, writes ? step.dstBuffer : 0, 0,
                       step.count, reads ? step.srcIndex : 0, writes ? step.dstIndex : 0,
                       static_cast<uint32_t>(waits.size()), step.waitCount);
    for (uint32_t i = step.waitBegin; i != step.waitBegin + step.waitCount; ++i)
      waits.emplace_back(program.waits[i].threadBlock, program.waits[i].step);
    writesInput |= writesDst(step.opcode) && step.dstBuffer == InputBuffer;
  }
};

static void rankSection(flatbuffers::FlatBufferBuilder &builder, const Program &program, uint32_t rank) {
  const Collective &collective = program.info->collective;
  const RankAlias &alias = collective.aliases[rank];
  RankLists lists(program, rank);
  std::vector<uint32_t> scratch;
  for (uint32_t buffer = FirstScratchBuffer; buffer != program.info->bufferCount(); ++buffer)
    scratch.push_back(program.bufferSize(rank, static_cast<BufferId>(buffer)));
  auto scratchSlots = builder.CreateVector(scratch);
  auto blocks = builder.CreateVectorOfStructs(lists.blocks);
  auto steps = builder.CreateVectorOfStructs(lists.steps);
  auto waits = builder.CreateVectorOfStructs(lists.waits);
  auto section =
      fbs::CreateRankProgram(builder, rank, collective.size(rank, InputBuffer) * program.subdivision,
                             collective.size(rank, OutputBuffer) * program.subdivision,
                             static_cast<fbs::Alias>(alias.kind), alias.offset * program.subdivision,
                             lists.writesInput && alias.kind == RankAlias::None, scratchSlots, blocks, steps, waits);
  builder.Finish(section, bundle::rankProgramIdentifier);
}

/// Returns the number of input chunks in a value of the postcondition, or 0 if values have different numbers.
static uint32_t contributions(const Postcondition &post) {
  uint64_t common = 0;
  for (uint32_t value = 0; value != post.valueCount(); ++value) {
    uint64_t own = post.contributions(value);
    if (own > UINT32_MAX || (common != 0 && own != common))
      return 0;
    common = own;
  }
  return static_cast<uint32_t>(common);
}

static uint32_t largestMessage(const Program &program) {
  uint32_t largest = 1;
  for (const Step &step : program.steps)
    if (sends(step.opcode))
      largest = std::max(largest, step.count);
  return largest;
}

using StoredTimes = flatbuffers::Offset<flatbuffers::Vector<const fbs::TimePoint *>>;

/// Writes the times. Returns null if there are none.
static StoredTimes storeTimes(flatbuffers::FlatBufferBuilder &builder, const std::vector<TimePoint> &times) {
  std::vector<fbs::TimePoint> points;
  for (const TimePoint &time : times)
    points.emplace_back(time.bytes, time.microseconds);
  return points.empty() ? StoredTimes() : builder.CreateVectorOfStructs(points);
}

static flatbuffers::Offset<fbs::Program> manifestEntry(flatbuffers::FlatBufferBuilder &builder,
                                                       const emit::VerifiedProgram &verified, uint64_t sum) {
  const Program &program = *verified.program;
  const ProgramInfo &info = *program.info;
  auto name = builder.CreateString(info.name);
  auto collective = builder.CreateString(info.collective.name);
  auto form = builder.CreateString(info.collective.form());
  auto scratch = builder.CreateVectorOfStrings(info.scratchNames);
  auto times = storeTimes(builder, verified.times);
  fbs::ProgramBuilder entry(builder);
  entry.add_name(name);
  entry.add_collective(collective);
  entry.add_ranks(info.collective.ranks);
  entry.add_protocol(static_cast<fbs::Protocol>(info.protocol));
  entry.add_min_bytes(info.minBytes);
  entry.add_max_bytes(info.maxBytes);
  entry.add_input_chunks_per_block(info.collective.input.chunks);
  entry.add_output_chunks_per_block(info.collective.output.chunks);
  entry.add_subdivision(program.subdivision);
  entry.add_max_count(largestMessage(program));
  entry.add_scratch_names(scratch);
  entry.add_contributions(contributions(info.collective.post));
  entry.add_in_place(info.collective.inPlace());
  entry.add_fifo_slots(program.fifoSlots);
  entry.add_min_fifo_slots(verified.minSlots == 0 ? program.fifoSlots : verified.minSlots);
  entry.add_verified(verified.proven);
  entry.add_digest(sum);
  entry.add_whole_slots(verified.wholeSlots);
  entry.add_form(form);
  entry.add_meaning(meaningOf(info.collective));
  entry.add_times(times);
  entry.add_pinned(info.isPinned);
  entry.add_nodes(info.nodes);
  return entry.Finish();
}

static std::vector<flatbuffers::Offset<fbs::Baseline>> storeBaselines(flatbuffers::FlatBufferBuilder &builder,
                                                                      const std::vector<Baseline> &baselines) {
  std::vector<flatbuffers::Offset<fbs::Baseline>> stored;
  for (const Baseline &baseline : baselines) {
    auto form = builder.CreateString(baseline.form);
    auto times = storeTimes(builder, baseline.times);
    stored.push_back(fbs::CreateBaseline(builder, form, baseline.ranks, times));
  }
  return stored;
}

static void manifestSection(flatbuffers::FlatBufferBuilder &builder, const std::vector<emit::VerifiedProgram> &programs,
                            const Body &body, const std::string &producer, const std::vector<Baseline> &baselines) {
  std::vector<flatbuffers::Offset<fbs::Program>> entries;
  for (uint32_t i = 0; i != programs.size(); ++i)
    entries.push_back(manifestEntry(builder, programs[i], body.digest(i)));
  auto list = builder.CreateVector(entries);
  auto stored = baselines.empty() ? flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fbs::Baseline>>>()
                                  : builder.CreateVector(storeBaselines(builder, baselines));
  builder.Finish(fbs::CreateManifest(builder, builder.CreateString(producer), list, stored),
                 bundle::manifestIdentifier);
}

/// Returns slightly more than the size of the file, so that the buffer need not grow.
static size_t expectedSize(const std::vector<emit::VerifiedProgram> &programs) {
  static constexpr size_t tablesSize = 256; // size of a section without its lists
  size_t size = 0;
  for (const emit::VerifiedProgram &verified : programs) {
    const Program &program = *verified.program;
    const Postcondition &post = program.info->collective.post;
    size +=
        program.steps.size() * sizeof(fbs::Instruction) + program.waits.size() * sizeof(fbs::Wait) +
        program.threadBlocks.size() * sizeof(fbs::ThreadBlock) + program.bufferSizes.size() * sizeof(uint32_t) +
        (program.ranks() + size_t(8)) * (tablesSize + sizeof(bundle::SectionEntry)) +
        post.runs.size() * sizeof(fbs::Run) +
        (post.valueBegin.size() + post.rowOfRank.size() + post.rowBegin.size() + post.rows.size()) * sizeof(uint32_t);
  }
  return size;
}

std::string gc3::emit::writeBundle(const std::vector<VerifiedProgram> &programs, const std::string &producer,
                                   const std::vector<Baseline> &baselines) {
  Body body(expectedSize(programs));
  flatbuffers::FlatBufferBuilder builder;
  for (uint32_t i = 0; i != programs.size(); ++i) {
    const Program &program = *programs[i].program;
    checkSection(builder, program.info->collective.post);
    body.add(bundle::SectionKind::Check, i, 0, builder);
    for (uint32_t rank = 0; rank != program.ranks(); ++rank) {
      builder.Clear();
      rankSection(builder, program, rank);
      body.add(bundle::SectionKind::RankProgram, i, rank, builder);
    }
    builder.Clear();
  }
  manifestSection(builder, programs, body, producer, baselines);
  return std::move(body).file(builder);
}
