// SPDX-License-Identifier: Apache-2.0
// Tests each check of the bundle reader and its message. Each bundle has only the error that the check detects.
#include "MendBundle.h"
#include "Programs.h"
#include "ReadAll.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace gc3::bundle;
using namespace gc3::test;

namespace {

constexpr const char *programPrefix = "invalid bundle: program 'ring3_1': ";
constexpr const char *rankPrefix = "invalid bundle: rank 1 of program 'ring3_1': ";
constexpr const char *checkPrefix = "invalid bundle: the postcondition of program 'ring3_1': ";

void expectRefused(const std::string &bytes, const std::string &message, BundleError error = BundleError::Invalid) {
  BundleStatus status = readAll(bytes);
  EXPECT_EQ(status.error, error) << message;
  EXPECT_EQ(status.message, message);
}

/// Returns the bytes of a bundle after `change`. Without the change it is valid: an AllReduce on a ring of three ranks,
/// out of place.
template <typename Change>
std::string changed(Change change, const Edits &edits = {}) {
  ProgramSpec spec = ringAllReduce(3, false);
  change(spec);
  return buildBundle({spec}, edits);
}

std::string unchanged(const Edits &edits) {
  return changed([](ProgramSpec &) {}, edits);
}

/// Like changed(), but changes the stored parts of rank 1.
template <typename Change>
std::string changedRank(Change change) {
  Edits edits;
  edits.rank = [&](RankParts &parts) {
    if (parts.rank == 1)
      change(parts);
  };
  return unchanged(edits);
}

template <typename Change>
std::string changedCheck(Change change) {
  Edits edits;
  edits.check = change;
  return unchanged(edits);
}

template <typename Change>
std::string changedContainer(Change change) {
  std::string bytes = unchanged({});
  ContainerParts parts = containerOf(bytes);
  change(parts);
  return withContainer(bytes, parts);
}

template <typename Change>
std::string changedSections(Change change) {
  std::vector<Section> sections = *splitBundle(unchanged({}));
  change(sections);
  return joinBundle(sections);
}

StepSpec &step(ProgramSpec &spec, size_t index = 2) { // a rank has the steps send, rrs, rrcs, rcs, recv
  return spec.ranks[1].blocks[0].steps[index];
}

fbs::Instruction withReserved(const fbs::Instruction &inst) {
  char bytes[sizeof inst];
  std::memcpy(bytes, &inst, sizeof inst);
  bytes[3] = 1;
  fbs::Instruction result;
  std::memcpy(&result, bytes, sizeof inst);
  return result;
}

fbs::Instruction withWaits(const fbs::Instruction &inst, uint32_t begin, uint32_t count) {
  return {inst.opcode(), inst.src_buffer(), inst.dst_buffer(), 0,
          inst.count(),  inst.src_index(),  inst.dst_index(),  begin,
          count};
}

fbs::ThreadBlock withInstructions(const fbs::ThreadBlock &block, uint32_t first, uint32_t count) {
  return {block.channel(), block.send_peer(), block.recv_peer(), first, count};
}

} // namespace

TEST(BundleChecks, theUnchangedOneIsRight) {
  EXPECT_EQ(readAll(unchanged({})).message, "");
}

TEST(BundleChecks, container) {
  const std::string reserved = "invalid bundle: header with version 0 or a reserved field that is not 0";
  expectRefused(changedContainer([](ContainerParts &c) { c.header.major = 0; }), reserved);
  expectRefused(changedContainer([](ContainerParts &c) { c.header.zero = 1; }), reserved);
  const std::string aligned = "invalid bundle: section 2 is not aligned to 16 bytes";
  expectRefused(changedContainer([](ContainerParts &c) { c.table[2].offset += 8, c.table[2].size -= 8; }), aligned);
  expectRefused(changedContainer([](ContainerParts &c) { c.table[2].zero = 1; }), aligned);
  const std::string overlaps = "invalid bundle: section 2 overlaps another section or exceeds the file";
  expectRefused(changedContainer([](ContainerParts &c) { c.table[2].offset = c.table[1].offset; }), overlaps);
  expectRefused(changedContainer([](ContainerParts &c) { c.table[2].offset = uint64_t{1} << 40; }), overlaps);
  expectRefused(changedContainer([](ContainerParts &c) { c.table[2].size = UINT64_MAX; }), overlaps);
  expectRefused(changedContainer([](ContainerParts &c) { c.table[4].size -= 16; }),
                "corrupt bundle: the padding after the last section is not zero", BundleError::Corrupt);
  std::string whole = unchanged({});
  whole.resize(sizeof(FileHeader) + sizeof(SectionEntry));
  ContainerParts many = containerOf(whole + std::string(1 << 10, '\0'));
  many.header.fileSize = whole.size();
  std::memcpy(whole.data(), &many.header, sizeof many.header);
  expectRefused(whole, "corrupt bundle: the section table does not fit into the file", BundleError::Corrupt);
}

TEST(BundleChecks, padding) {
  std::string bytes = unchanged({});
  expectRefused(bytes + "x", "corrupt bundle: 1 bytes after its end", BundleError::Corrupt);
  ContainerParts parts = containerOf(bytes);
  std::string gap = bytes; // changes the padding before section k, the first section after padding
  uint32_t k = 1;
  while (parts.table[k].offset == parts.table[k - 1].offset + parts.table[k - 1].size)
    ++k;
  gap[parts.table[k].offset - 1] = 'x';
  expectRefused(gap, "corrupt bundle: the padding before section " + std::to_string(k) + " is not zero",
                BundleError::Corrupt);
  std::string wide = bytes; // 16 bytes of padding more than necessary
  wide.insert(parts.table[4].offset, 16, '\0');
  parts.table[4].offset += 16;
  parts.header.fileSize += 16;
  expectRefused(withContainer(wide, parts), "corrupt bundle: the padding before section 4 is not zero",
                BundleError::Corrupt);
  parts = containerOf(bytes);
  parts.header.fileSize += 16;
  expectRefused(withContainer(bytes + std::string(16, '\0'), parts),
                "corrupt bundle: the padding after the last section is not zero", BundleError::Corrupt);
  parts.header.fileSize -= 15;
  expectRefused(withContainer(bytes + "x", parts), "corrupt bundle: the padding after the last section is not zero",
                BundleError::Corrupt);
}

TEST(BundleChecks, sections) {
  using Sections = std::vector<Section>;
  expectRefused(joinBundle({}), "invalid bundle: the first section is not a manifest");
  expectRefused(changedSections([](Sections &s) { s[0].kind = 2; }),
                "invalid bundle: the first section is not a manifest");
  expectRefused(changedSections([](Sections &s) { s[0].bytes.resize(4); }), "invalid bundle: the manifest has 4 bytes");
  expectRefused(changedSections([](Sections &s) { s[0].bytes[4] = 'x'; }), "invalid bundle: the manifest is malformed");
  expectRefused(changedSections([](Sections &s) { s[1].bytes[4] = 'x'; }),
                "invalid bundle: the postcondition of program 'ring3_1' is malformed");
  expectRefused(changedSections([](Sections &s) { s[3].bytes[4] = 'x'; }),
                "invalid bundle: rank 1 of program 'ring3_1' is malformed");
  expectRefused(changedSections([](Sections &s) { s.pop_back(); }),
                "invalid bundle: sections of program 'ring3_1' are missing");
  expectRefused(changedSections([](Sections &s) { s.push_back(s.back()); }), "invalid bundle: 1 extra sections");
  expectRefused(changedSections([](Sections &s) {
                  auto *manifest = flatbuffers::GetMutableRoot<fbs::Manifest>(s[0].bytes.data());
                  auto *program = const_cast<fbs::Program *>(manifest->programs()->Get(0));
                  reinterpret_cast<flatbuffers::Table *>(program)->SetField<uint32_t>(fbs::Program::VT_RANKS, 1u << 31,
                                                                                      0);
                }),
                std::string(programPrefix) + "2147483648 ranks");
  const std::string order = "invalid bundle: section 3 is out of order";
  expectRefused(changedSections([](Sections &s) { s[3].kind = 2; }), order);
  expectRefused(changedSections([](Sections &s) { s[3].program = 1; }), order);
  expectRefused(changedSections([](Sections &s) { s[3].rank = 2; }), order);
  expectRefused(changedSections([](Sections &s) { s[3].bytes = s[4].bytes; }),
                std::string(rankPrefix) + "has rank number 2");
}

TEST(BundleChecks, digest) {
  std::string bytes = unchanged({});
  std::string other = changed([](ProgramSpec &s) { // valid, and its sections have the same lengths
    for (Rank &rank : s.ranks)
      rank.blocks[0].channel = 5;
  });
  ContainerParts parts = containerOf(bytes), others = containerOf(other);
  for (size_t k = 2; k != parts.table.size(); ++k) {
    ASSERT_EQ(parts.table[k].offset, others.table[k].offset);
    std::memcpy(&bytes[parts.table[k].offset], &other[parts.table[k].offset], parts.table[k].size);
    parts.table[k].checksum = others.table[k].checksum;
  }
  ASSERT_TRUE(readAll(other).ok());
  expectRefused(withContainer(bytes, parts),
                "invalid bundle: the digest of program 'ring3_1' does not match its sections");
}

TEST(BundleChecks, programs) {
  auto refused = [](auto change, const std::string &message) {
    expectRefused(changed(change), programPrefix + message);
  };
  const char *noWord =
      "invalid bundle: program 0: its names, and that of its collective, must consist of letters, digits "
      "and _";
  for (const char *name : {"", "9", "a b", "a\n", "a\x1b[2J", "\xc3\xa9", "a-b"}) {
    expectRefused(changed([=](ProgramSpec &s) { s.name = name; }), noWord);
    expectRefused(changed([=](ProgramSpec &s) { s.collective = name; }), noWord);
  }
  ASSERT_TRUE(readAll(changed([](ProgramSpec &s) { s.name = "_Z9"; })).ok());
  refused([](ProgramSpec &s) { s.ranks.clear(), s.outputs.clear(); }, "0 ranks");
  refused([](ProgramSpec &s) { s.protocol = 3; }, "unknown protocol 3");
  refused([](ProgramSpec &s) { s.minBytes = s.maxBytes = 5; }, "size range 5 .. 5 is empty");
  refused([](ProgramSpec &s) { s.nodes = 2; }, "3 ranks can't be divided among 2 nodes");
  refused([](ProgramSpec &s) { s.subdivision = 0; }, "subdivision and largest count must be at least 1");
  refused([](ProgramSpec &s) { s.maxCount = 0; }, "subdivision and largest count must be at least 1");
  auto emptied = [](ProgramSpec &s) {
    for (Rank &rank : s.ranks)
      rank = {};
    s.outputs.clear();
  };
  refused([&](ProgramSpec &s) { emptied(s), s.inputChunks = 65536, s.subdivision = 65536; },
          "65536 chunks of 65536 slots are too many for a block");
  refused([&](ProgramSpec &s) { emptied(s), s.outputChunks = 65536, s.subdivision = 65536; },
          "65536 chunks of 65536 slots are too many for a block");
  refused(
      [](ProgramSpec &s) {
        s.scratchNames.assign(255, "x");
        for (Rank &rank : s.ranks)
          rank.scratchSlots.assign(255, 0);
      },
      "255 scratch buffers, at most 254 fit");
  refused([](ProgramSpec &s) { s.minFifoSlots = 0; }, "proven with 8 FIFO slots, needs 0");
  refused([](ProgramSpec &s) { s.minFifoSlots = 9; }, "proven with 8 FIFO slots, needs 9");
}

TEST(BundleChecks, buffers) {
  auto refused = [](auto change, const std::string &message) {
    expectRefused(changed([&](ProgramSpec &s) { change(s, s.ranks[1]); }), rankPrefix + message);
  };
  refused([](ProgramSpec &, Rank &r) { r.scratchSlots = {1}; }, "has 1 scratch buffers, but the program names 0");
  refused([](ProgramSpec &, Rank &r) { r.inputSlots = 4; }, "input of 4 slots is not a whole number of blocks of 3");
  refused([](ProgramSpec &, Rank &r) { r.outputSlots = 4; }, "output of 4 slots is not a whole number of blocks of 3");
  auto only = [](ProgramSpec &s) { s.ranks[0] = s.ranks[2] = {}, s.ranks[1].blocks.clear(), s.outputs.clear(); };
  refused([&](ProgramSpec &s, Rank &) { only(s), s.inputChunks = 0; },
          "input of 3 slots is not a whole number of blocks of 0");
  refused([](ProgramSpec &, Rank &r) { r.alias = 3; }, "unknown alias kind 3");
  refused([&](ProgramSpec &s, Rank &r) { only(s), r.alias = 1, r.inputSlots = 0; },
          "alias of 0 slots at 0 exceeds a buffer of 3 slots");
  refused([&](ProgramSpec &s, Rank &r) { only(s), r.alias = 2, r.outputSlots = 0; },
          "alias of 0 slots at 0 exceeds a buffer of 3 slots");
  refused([](ProgramSpec &, Rank &r) { r.alias = 1, r.aliasOffset = 3; },
          "alias of 3 slots at 3 exceeds a buffer of 3 slots");
  refused([](ProgramSpec &, Rank &r) { r.alias = 2, r.aliasOffset = UINT32_MAX; },
          "alias of 3 slots at 4294967295 exceeds a buffer of 3 slots");
  refused([&](ProgramSpec &s, Rank &r) { only(s), s.inputChunks = 1, r.alias = 1; },
          "alias between blocks of 1 and of 3 chunks");
  refused([&](ProgramSpec &s, Rank &r) { only(s), r.outputSlots = 6, r.alias = 1, r.aliasOffset = 2; },
          "alias at 2 does not begin a block of 3 slots");
}

TEST(BundleChecks, threadBlocks) {
  auto refused = [](auto change, const std::string &message) {
    expectRefused(changedRank(change), rankPrefix + message);
  };
  refused([](RankParts &p) { p.blocks[0] = withInstructions(p.blocks[0], 1, 4); },
          "thread block 0: instructions 1 + 4 do not begin at 0, or exceed the list");
  refused([](RankParts &p) { p.blocks[0] = withInstructions(p.blocks[0], 0, 6); },
          "thread block 0: instructions 0 + 6 do not begin at 0, or exceed the list");
  refused([](RankParts &p) { p.blocks[0] = withInstructions(p.blocks[0], 0, 4); },
          "1 instructions belong to no thread block");
  auto peers = [&](int32_t send, int32_t recv, const std::string &peer) {
    refused(
        [&](RankParts &p) {
          p.blocks[0] = {0, send, recv, 0, 5};
        },
        "thread block 0: peer " + peer + " is not another rank");
  };
  peers(-2, 0, "-2");
  peers(3, 0, "3");
  peers(1, 0, "1");
  peers(2, -2, "-2");
  peers(2, 3, "3");
  peers(2, 1, "1");
}

TEST(BundleChecks, instructions) {
  auto refused = [](auto change, size_t at, const std::string &message) {
    expectRefused(changed(change), rankPrefix + ("thread block 0 step " + std::to_string(at) + ": ") + message);
  };
  refused([](ProgramSpec &s) { step(s).opcode = static_cast<Opcode>(8); }, 2, "unknown opcode 8");
  expectRefused(changedRank([](RankParts &p) { p.instructions[2] = withReserved(p.instructions[2]); }),
                std::string(rankPrefix) + "thread block 0 step 2: reserved field is not 0");
  refused([](ProgramSpec &s) { step(s, 0).dst = out(0); }, 0, "send has a destination");
  refused([](ProgramSpec &s) { step(s, 0).dst = in(1); }, 0, "send has a destination");
  refused([](ProgramSpec &s) { step(s, 1).dst = out(0); }, 1, "rrs has a destination");
  refused([](ProgramSpec &s) { step(s, 3).src = out(0); }, 3, "rcs has a source");
  refused([](ProgramSpec &s) { step(s, 4).src = in(1); }, 4, "recv has a source");
  refused([](ProgramSpec &s) { step(s).count = 0; }, 2, "count 0 is not in 1 .. 1");
  refused([](ProgramSpec &s) { step(s).count = 2, step(s).src = in(0), step(s).dst = out(0); }, 2,
          "count 2 is not in 1 .. 1");
  refused([](ProgramSpec &s) { s.ranks[1].blocks[0].sendPeer = -1; }, 0, "send in a thread block without send peer");
  refused([](ProgramSpec &s) { s.ranks[1].blocks[0].recvPeer = -1; }, 1, "rrs in a thread block without receive peer");
  refused([](ProgramSpec &s) { step(s).src.buffer = 2; }, 2, "source buffer 2 does not exist");
  refused([](ProgramSpec &s) { step(s).dst.buffer = 2; }, 2, "destination buffer 2 does not exist");
  refused([](ProgramSpec &s) { step(s).src.index = 3; }, 2, "source slots 3 + 1 exceed buffer 0 of 3 slots");
  refused([](ProgramSpec &s) { step(s).dst.index = 3; }, 2, "destination slots 3 + 1 exceed buffer 1 of 3 slots");
  refused([](ProgramSpec &s) { step(s).dst.index = UINT32_MAX; }, 2,
          "destination slots 4294967295 + 1 exceed buffer 1 of 3 slots");
  for (auto [from, to] : {std::pair(0u, 1u), std::pair(1u, 0u)})
    refused(
        [from = from, to = to](ProgramSpec &s) {
          s.ranks[1].blocks.push_back({-1, -1, 0, {{Opcode::Copy, out(from), out(to), 2, {}}}});
          s.ranks[1].blocks.insert(s.ranks[1].blocks.begin(), s.ranks[1].blocks.back());
          s.ranks[1].blocks.pop_back();
        },
        0, "reads and writes overlapping slots");
  refused([](ProgramSpec &s) { step(s).dst.buffer = 0; }, 2, "writes the input of a rank that does not declare this");
}

TEST(BundleChecks, validInstructions) {
  auto taken = [](auto change) { EXPECT_EQ(readAll(changed(change)).message, ""); };
  auto local = [](Slot from, Slot to) {
    return [=](ProgramSpec &s) {
      s.ranks[1].writesInput = true;
      s.ranks[1].blocks.push_back({-1, -1, 0, {{Opcode::Reduce, from, to, 2, {}}}}); // may be longer than a message
    };
  };
  taken(local(out(1), out(1)));
  taken(local(in(0), out(1)));
  taken(local(in(0), in(0)));
}

TEST(BundleChecks, waits) {
  auto refused = [](auto change, const std::string &message) {
    expectRefused(changedRank(change), rankPrefix + message);
  };
  auto wait = [](RankParts &p, uint32_t block, uint32_t at) {
    p.waits = {{block, at}};
    p.instructions[2] = withWaits(p.instructions[2], 0, 1);
  };
  refused(
      [&](RankParts &p) {
        wait(p, 0, 0);
        p.instructions[3] = withWaits(p.instructions[3], 0, 1);
      },
      "instructions have 2 waits, the list 1");
  refused([](RankParts &p) { p.instructions[2] = withWaits(p.instructions[2], 5, 0); },
          "thread block 0 step 2: waits 5 + 0 exceed the list of 0");
  refused(
      [&](RankParts &p) {
        wait(p, 0, 0);
        p.instructions[2] = withWaits(p.instructions[2], UINT32_MAX, 1);
      },
      "thread block 0 step 2: waits 4294967295 + 1 exceed the list of 1");
  refused([&](RankParts &p) { wait(p, 1, 0); },
          "thread block 0 step 2: waits for thread block 1 step 0, which does not exist");
  refused([&](RankParts &p) { wait(p, UINT32_MAX, 0); },
          "thread block 0 step 2: waits for thread block 4294967295 step 0, which does not exist");
  refused([&](RankParts &p) { wait(p, 0, 5); },
          "thread block 0 step 2: waits for thread block 0 step 5, which does not exist");
  refused([&](RankParts &p) { wait(p, 0, 2); }, "thread block 0 step 2: waits for step 2 of its own thread block");
  EXPECT_EQ(readAll(changedRank([&](RankParts &p) { wait(p, 0, 1); })).message, "");
}

TEST(BundleChecks, postconditions) {
  auto refused = [](auto change, const std::string &message) {
    expectRefused(changedCheck(change), checkPrefix + message);
  };
  refused([](CheckParts &c) { std::swap(c.valueBegin[1], c.valueBegin[2]); }, "the values do not tile the runs");
  refused([](CheckParts &c) { c.valueBegin[0] = 1; }, "the values do not tile the runs");
  refused([](CheckParts &c) { c.valueBegin.back() -= 1; }, "the values do not tile the runs");
  refused([](CheckParts &c) { c.valueBegin.clear(), c.rows.assign(9, 0); }, "the values do not tile the runs");
  refused([](CheckParts &c) { std::swap(c.rowBegin[1], c.rowBegin[2]); }, "the rows do not tile their chunks");
  refused([](CheckParts &c) { c.rowOfRank.pop_back(); }, "has 2 ranks");
  refused([](CheckParts &c) { c.rowOfRank[1] = 3; }, "row 3 does not exist");
  refused([](CheckParts &c) { c.rowOfRank[1] = UINT32_MAX; }, "row 4294967295 does not exist");
  refused([](CheckParts &c) { c.rows[1] = 4; }, "value 4 - 1 does not exist");
  refused(
      [](CheckParts &c) {
        c = {};
        c.rowOfRank = {0, 0, 0}, c.rowBegin = {0, 1}, c.rows = {1}, c.valueBegin.clear();
      },
      "value 1 - 1 does not exist");
  const std::string leaves = "a run exceeds the ranks or buffers";
  auto run = [&](fbs::Run stored) { refused([&](CheckParts &c) { c.runs[1] = stored; }, leaves); };
  run({0, 0, 0, 0, 0});
  run({3, 0, 0, 0, 1});
  run({3, 0, -1, 0, 2});
  run({0, 0, 1, 0, 4});
  run({1, 0, -1, 0, 3});
  run({0, 0, 0, -1, 2});
  run({0, UINT32_MAX, 0, 1, 2});
  EXPECT_EQ(readAll(changedCheck([](CheckParts &c) { c.runs[1] = {2, UINT32_MAX, -1, -1, 3}; })).message, "");
}

TEST(BundleChecks, connections) {
  auto refused = [](auto change, const std::string &message) {
    ProgramSpec spec = allToAll(3, 2);
    change(spec.ranks[0].blocks);
    expectRefused(buildBundle({spec}), message);
  };
  using Blocks = std::vector<Block>; // blocks of rank 0: a copy, to and from rank 1, to and from rank 2
  refused([](Blocks &b) { b[1].steps.pop_back(); },
          "connection from rank 1 to rank 0 on channel 0 has no receiving thread block");
  refused([](Blocks &b) { b[1].steps.erase(b[1].steps.begin()); },
          "connection from rank 0 to rank 1 on channel 0 has no sending thread block");
  refused([](Blocks &b) { b[2].channel = 7; },
          "connection from rank 0 to rank 2 on channel 0 has no sending thread block");
  refused([](Blocks &b) { b[1].steps[0].count = 1; },
          "connection from rank 0 to rank 1 on channel 0: message 0 is sent with 1 slots and received with 2");
  refused([](Blocks &b) { b[1].steps.push_back(b[1].steps[0]); },
          "connection from rank 0 to rank 1 on channel 0: message 1 is sent with 2 slots and received with 0");
  refused([](Blocks &b) { b[2] = b[1]; },
          "connection from rank 0 to rank 1 on channel 0 has two sending thread blocks");
  refused([](Blocks &b) { b[2].recvPeer = 1; },
          "connection from rank 1 to rank 0 on channel 0 has two receiving thread blocks");
}
