// SPDX-License-Identifier: Apache-2.0
// Writes bundles for tests.
#include "BundleBuilder.h"

#include <cstring>
#include <map>

namespace gc3::test {

using namespace bundle;
using flatbuffers::FlatBufferBuilder;

namespace {

std::string finished(FlatBufferBuilder &builder) {
  return {reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()};
}

std::string rankSection(uint32_t number, const Rank &rank, const Edits &edits) {
  FlatBufferBuilder builder;
  RankParts parts{number, {}, {}, {}};
  for (const Block &block : rank.blocks) {
    parts.blocks.emplace_back(block.channel, block.sendPeer, block.recvPeer,
                              static_cast<uint32_t>(parts.instructions.size()),
                              static_cast<uint32_t>(block.steps.size()));
    for (const StepSpec &step : block.steps) {
      parts.instructions.emplace_back(
          static_cast<uint8_t>(step.opcode), step.src.buffer, step.dst.buffer, uint8_t{0}, step.count, step.src.index,
          step.dst.index, static_cast<uint32_t>(parts.waits.size()), static_cast<uint32_t>(step.waits.size()));
      for (auto [tb, index] : step.waits)
        parts.waits.emplace_back(tb, index);
    }
  }
  edits.rank(parts);
  auto root = fbs::CreateRankProgram(
      builder, parts.rank, rank.inputSlots, rank.outputSlots, static_cast<fbs::Alias>(rank.alias), rank.aliasOffset,
      rank.writesInput, builder.CreateVector(rank.scratchSlots), builder.CreateVectorOfStructs(parts.blocks),
      builder.CreateVectorOfStructs(parts.instructions), builder.CreateVectorOfStructs(parts.waits));
  builder.Finish(root, rankProgramIdentifier);
  return finished(builder);
}

std::string checkSection(const ProgramSpec &program, const Edits &edits) {
  FlatBufferBuilder builder;
  CheckParts parts;
  std::map<Value, uint32_t> numbers; // the number of each value, plus 1, as CheckParts::rows stores it
  for (uint32_t r = 0; r < program.ranks.size(); ++r) {
    parts.rowOfRank.push_back(r);
    if (r < program.outputs.size())
      for (const Value &value : program.outputs[r]) {
        if (value.empty()) { // any value is right
          parts.rows.push_back(0);
          continue;
        }
        auto [known, isNew] = numbers.try_emplace(value, static_cast<uint32_t>(numbers.size() + 1));
        if (isNew) {
          for (auto [rank, index] : value)
            parts.runs.emplace_back(rank, index, 0, 0, 1u);
          parts.valueBegin.push_back(static_cast<uint32_t>(parts.runs.size()));
        }
        parts.rows.push_back(known->second);
      }
    parts.rowBegin.push_back(static_cast<uint32_t>(parts.rows.size()));
  }
  edits.check(parts);
  auto root = fbs::CreateCheck(builder, builder.CreateVector(parts.valueBegin),
                               builder.CreateVectorOfStructs(parts.runs), builder.CreateVector(parts.rowOfRank),
                               builder.CreateVector(parts.rowBegin), builder.CreateVector(parts.rows));
  builder.Finish(root, checkIdentifier);
  return finished(builder);
}

std::string manifestSection(const std::vector<ProgramSpec> &programs, const std::vector<uint64_t> &digests,
                            const std::vector<BaselineSpec> &baselines) {
  FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fbs::Program>> tables;
  for (size_t i = 0; i < programs.size(); ++i) {
    const ProgramSpec &p = programs[i];
    tables.push_back(fbs::CreateProgram(
        builder, builder.CreateString(p.name), builder.CreateString(p.collective),
        static_cast<uint32_t>(p.ranks.size()), static_cast<fbs::Protocol>(p.protocol), p.minBytes, p.maxBytes,
        p.inputChunks, p.outputChunks, p.subdivision, p.maxCount, builder.CreateVectorOfStrings(p.scratchNames),
        p.contributions, p.inPlace, p.fifoSlots, p.minFifoSlots, p.verified, digests[i], p.wholeSlots,
        p.form.empty() ? 0 : builder.CreateString(p.form), p.meaning,
        p.times.empty() ? 0 : builder.CreateVectorOfStructs(p.times), p.pinned, p.nodes));
  }
  std::vector<flatbuffers::Offset<fbs::Baseline>> lists;
  for (const BaselineSpec &baseline : baselines)
    lists.push_back(fbs::CreateBaseline(builder, builder.CreateString(baseline.form), baseline.ranks,
                                        builder.CreateVectorOfStructs(baseline.times)));
  auto root = fbs::CreateManifest(builder, builder.CreateString("test"), builder.CreateVector(tables),
                                  lists.empty() ? 0 : builder.CreateVector(lists));
  builder.Finish(root, manifestIdentifier);
  return finished(builder);
}

SectionEntry entryOf(SectionKind kind, uint32_t program, uint32_t rank, const std::string &bytes) {
  return {static_cast<uint32_t>(kind), program, rank, 0, 0, bytes.size(), checksum(bytes.data(), bytes.size())};
}

} // namespace

std::string buildBundle(const std::vector<ProgramSpec> &programs, const Edits &edits,
                        const std::vector<BaselineSpec> &baselines) {
  std::vector<SectionEntry> table(1);
  std::vector<std::string> contents(1);
  std::vector<uint64_t> digests;
  for (uint32_t p = 0; p < programs.size(); ++p) {
    size_t first = table.size();
    contents.push_back(checkSection(programs[p], edits));
    table.push_back(entryOf(SectionKind::Check, p, 0, contents.back()));
    for (uint32_t r = 0; r < programs[p].ranks.size(); ++r) {
      contents.push_back(rankSection(r, programs[p].ranks[r], edits));
      table.push_back(entryOf(SectionKind::RankProgram, p, r, contents.back()));
    }
    digests.push_back(programDigest(&table[first], table.size() - first));
  }
  contents[0] = manifestSection(programs, digests, baselines);
  table[0] = entryOf(SectionKind::Manifest, 0, 0, contents[0]);

  std::string file(sizeof(FileHeader) + table.size() * sizeof(SectionEntry), '\0');
  for (size_t i = 0; i < table.size(); ++i) {
    file.resize(alignSection(file.size()), '\0');
    table[i].offset = file.size();
    file += contents[i];
  }
  FileHeader header{
      {'G', 'C', '3', 'B'}, majorVersion, minorVersion, static_cast<uint32_t>(table.size()), 0, file.size(), 0};
  return withContainer(std::move(file), {header, std::move(table)});
}

ContainerParts containerOf(const std::string &file) {
  ContainerParts parts;
  std::memcpy(&parts.header, file.data(), sizeof parts.header);
  parts.table.resize(parts.header.sections);
  std::memcpy(parts.table.data(), file.data() + sizeof parts.header, parts.table.size() * sizeof(SectionEntry));
  return parts;
}

std::string withContainer(std::string file, ContainerParts parts) {
  parts.header.checksum = headerChecksum(parts.header, parts.table.data());
  std::memcpy(file.data(), &parts.header, sizeof parts.header);
  std::memcpy(file.data() + sizeof parts.header, parts.table.data(), parts.table.size() * sizeof(SectionEntry));
  return file;
}

} // namespace gc3::test
