// SPDX-License-Identifier: Apache-2.0
// Writes a bundle: one FlatBuffer per section, then the container around them. Byte-for-byte a function of its input.
#include "Bundle_generated.h"
#include "bundle/Container.h"
#include "gc3/Emit/Bundle.h"
#include <algorithm>
#include <cstring>

using namespace gc3;
using namespace gc3::ir;
namespace fbs = gc3::bundle::fbs;

namespace {

struct Section {
  bundle::SectionKind kind;
  uint32_t program;
  uint32_t rank;
  flatbuffers::DetachedBuffer bytes;
  uint64_t checksum = bundle::checksum(bytes.data(), bytes.size());
};

} // namespace

static flatbuffers::DetachedBuffer checkSection(const Postcondition &post) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<fbs::Run> runs;
  runs.reserve(post.runs.size());
  for (const Run &run : post.runs)
    runs.emplace_back(run.rank, run.index, run.rankStride, run.indexStride, run.length);
  // One by one, here and below: compilers differ in the order of arguments, and a bundle must not.
  auto valueBegin = builder.CreateVector(post.valueBegin);
  auto values = builder.CreateVectorOfStructs(runs);
  auto rowOfRank = builder.CreateVector(post.rowOfRank);
  auto rowBegin = builder.CreateVector(post.rowBegin);
  auto rows = builder.CreateVector(post.rows);
  builder.Finish(fbs::CreateCheck(builder, valueBegin, values, rowOfRank, rowBegin, rows), bundle::checkIdentifier);
  return builder.Release();
}

/// Room for what is in a rank's section besides its lists, so that it is not copied to grow.
static constexpr size_t tablesSize = 256;

/// Steps and waits of one rank, with indices that count within the rank.
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

  size_t bytes() const {
    return blocks.size() * sizeof(fbs::ThreadBlock) + steps.size() * sizeof(fbs::Instruction) +
           waits.size() * sizeof(fbs::Wait);
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

static flatbuffers::DetachedBuffer rankSection(const Program &program, uint32_t rank) {
  const Collective &collective = program.info->collective;
  const RankAlias &alias = collective.aliases[rank];
  RankLists lists(program, rank);
  std::vector<uint32_t> scratch;
  for (uint32_t buffer = FirstScratchBuffer; buffer != program.info->bufferCount(); ++buffer)
    scratch.push_back(program.bufferSize(rank, static_cast<BufferId>(buffer)));
  flatbuffers::FlatBufferBuilder builder(lists.bytes() + scratch.size() * sizeof(uint32_t) + tablesSize);
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
  return builder.Release();
}

/// The number of input chunks in every output chunk that the collective names, or 0 if they differ.
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

static uint64_t digest(const std::vector<Section> &sections, uint32_t program) {
  std::vector<bundle::SectionEntry> entries;
  for (const Section &section : sections)
    if (section.program == program) {
      bundle::SectionEntry entry{};
      entry.checksum = section.checksum;
      entries.push_back(entry);
    }
  return bundle::programDigest(entries.data(), entries.size());
}

static flatbuffers::Offset<fbs::Program> manifestEntry(flatbuffers::FlatBufferBuilder &builder,
                                                       const emit::VerifiedProgram &verified, uint64_t sum) {
  const Program &program = *verified.program;
  const ProgramInfo &info = *program.info;
  auto name = builder.CreateString(info.name);
  auto collective = builder.CreateString(info.collective.name);
  auto scratch = builder.CreateVectorOfStrings(info.scratchNames);
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
  return entry.Finish();
}

static flatbuffers::DetachedBuffer manifestSection(const std::vector<emit::VerifiedProgram> &programs,
                                                   const std::vector<Section> &sections, const std::string &producer) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fbs::Program>> entries;
  for (uint32_t i = 0; i != programs.size(); ++i)
    entries.push_back(manifestEntry(builder, programs[i], digest(sections, i)));
  auto list = builder.CreateVector(entries);
  builder.Finish(fbs::CreateManifest(builder, builder.CreateString(producer), list), bundle::manifestIdentifier);
  return builder.Release();
}

/// Header, table, then the sections at aligned offsets.
static std::string container(const std::vector<Section> &sections) {
  std::vector<bundle::SectionEntry> table;
  uint64_t offset = bundle::alignSection(sizeof(bundle::FileHeader) + sections.size() * sizeof(bundle::SectionEntry));
  uint64_t end = offset;
  for (const Section &section : sections) {
    bundle::SectionEntry entry{};
    entry.kind = static_cast<uint32_t>(section.kind);
    entry.program = section.program;
    entry.rank = section.rank;
    entry.offset = offset;
    entry.size = section.bytes.size();
    entry.checksum = section.checksum;
    table.push_back(entry);
    end = offset + entry.size;
    offset = bundle::alignSection(end);
  }
  bundle::FileHeader header{};
  std::memcpy(header.magic, bundle::fileMagic, sizeof(header.magic));
  header.major = bundle::majorVersion;
  header.minor = bundle::minorVersion;
  header.sections = static_cast<uint32_t>(sections.size());
  header.fileSize = end;
  header.checksum = bundle::headerChecksum(header, table.data());

  std::string file;
  file.reserve(end);
  file.append(reinterpret_cast<const char *>(&header), sizeof(header));
  file.append(reinterpret_cast<const char *>(table.data()), table.size() * sizeof(bundle::SectionEntry));
  for (size_t i = 0; i != sections.size(); ++i) {
    file.resize(table[i].offset);
    file.append(reinterpret_cast<const char *>(sections[i].bytes.data()), sections[i].bytes.size());
  }
  return file;
}

std::string gc3::emit::writeBundle(const std::vector<VerifiedProgram> &programs, const std::string &producer) {
  std::vector<Section> sections;
  for (uint32_t i = 0; i != programs.size(); ++i) {
    const Program &program = *programs[i].program;
    sections.push_back({bundle::SectionKind::Check, i, 0, checkSection(program.info->collective.post)});
    for (uint32_t rank = 0; rank != program.ranks(); ++rank)
      sections.push_back({bundle::SectionKind::RankProgram, i, rank, rankSection(program, rank)});
  }
  Section manifest{bundle::SectionKind::Manifest, 0, 0, manifestSection(programs, sections, producer)};
  sections.insert(sections.begin(), std::move(manifest));
  return container(sections);
}
