// SPDX-License-Identifier: Apache-2.0
// Tests the memory accesses of one run (kernel::TileRun), for each opcode and protocol. A run must load and store each
// byte only as often as necessary, access no other byte, and use the expected widths.
#include "BundleBuilder.h"
#include "CountingMachine.h"
#include "MotionCall.h"
#include "ptx/Library.h"
#include "ptx/OnCounting.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>

using namespace gc3;
using namespace gc3::test;
using kernel::Protocol;

namespace {

/// Parameters of a run. `sourceAt` and `targetAt` are the distances of the source and target from a multiple of 128, in
/// bytes.
struct Shot {
  Opcode opcode;
  uint64_t bytes;
  uint32_t sourceAt = 0, targetAt = 0;
  uint64_t inMessage = 0;
  uint64_t nominalBytes = bytes;
  bool inPlace = false; ///< the target buffer is the source buffer
  uint32_t threads = 64;
};

/// Moves the data of a run with one thread. Runs the PTX of runtime/kernel if the environment variable EMULATED_PTX is
/// set, else the templates. Returns false after a stop.
template <Protocol P, uint32_t ElementBytes>
bool moveRunOn(CountingMachine &machine, const kernel::Motion &motion, const kernel::TileRun &run) {
  ptx::Library *library = ptx::Library::chosen();
  if (!library)
    return moveRun<P, ElementBytes>(machine, motion, run);
  static const ptx::Entry entry = library->motion(P, ElementBytes);
  uint32_t stopped = 0;
  const MotionCall call{motion, run, &stopped};
  EXPECT_EQ(entry.kernel->parameterBytes, sizeof call);
  const ptx::BlockMemory memory{std::as_bytes(std::span(&call, 1)), {}, 1};
  ptx::OnCounting counting(machine, stopped);
  ptx::Thread(*entry.module, *entry.kernel, memory, counting).run();
  return stopped == 0;
}

struct alignas(128) Memory : std::array<std::byte, 12288> {};
Memory source, target, incoming, outgoing, arrived;

void fill(Memory &memory, uint32_t seed) {
  for (size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<std::byte>((i * 37 + i / 256 * 11 + seed) & 0xff);
}

/// A range of bytes in a FIFO slot. inSlot() returns the range that holds `bytes` bytes of a message's data from byte
/// `begin` on.
struct Extent {
  uint64_t begin, bytes;
};
Extent inSlot(Protocol protocol, uint64_t begin, uint64_t bytes) {
  switch (protocol) {
  case Protocol::Simple: return {begin, bytes};
  case Protocol::LL: return {begin / 8 * kernel::lineBytesLL, (bytes + 7) / 8 * kernel::lineBytesLL};
  case Protocol::LL128: return {begin / 120 * kernel::lineBytesLL128, (bytes + 119) / 120 * kernel::lineBytesLL128};
  }
  __builtin_unreachable();
}

template <Protocol P, uint32_t ElementBytes>
class Range {
public:
  explicit Range(const Shot &shot) : shot(shot), flags(shot.opcode) {
    fill(source, 1), fill(target, 2), fill(arrived, 3), fill(outgoing, 4), fill(incoming, 5);
    from = source.data() + 128 + shot.sourceAt;
    to = shot.inPlace ? from : target.data() + 128 + shot.targetAt;
    if (flags.receives()) {
      Accounts uncounted;
      uncounted.all = {{"arrived", arrived.data(), arrived.size()}, {"slot", incoming.data(), incoming.size()}};
      move(uncounted, Opcode::Send,
           {arrived.data(), nullptr, nullptr, shot.inMessage, shot.nominalBytes, shot.nominalBytes},
           {nullptr, incoming.data(), 0, inNumber});
    }
    first = flags.receives() ? copyOf(arrived.data()) : copyOf(flags.accumulates() ? to : from);
    second = copyOf(from);
  }

  /// Runs the opcode and checks its accesses and results. Returns the text of Accounts::text() for all accesses.
  std::string run() {
    const Extent out = inSlot(P, shot.inMessage, P == Protocol::Simple ? shot.bytes : shot.nominalBytes);
    // A step that also sends forwards the nominal bytes, so it loads them all.
    const Extent in = flags.sends() ? out : inSlot(P, shot.inMessage, shot.bytes);
    Accounts accounts;
    accounts.all = {{"source", from, shot.bytes},
                    {"target", to, shot.inPlace ? 0 : shot.bytes},
                    {"in", incoming.data() + in.begin, in.bytes},
                    {"out", outgoing.data() + out.begin, out.bytes}};
    move(accounts, shot.opcode, runOfShot(), {incoming.data(), outgoing.data(), inNumber, outNumber});
    expectBytes(accounts);
    expectValues();
    return accounts.text();
  }

  /// Clears a line of the message, as if it had not arrived. Returns the number of threads that stop because of this.
  uint32_t stopped(uint32_t line) {
    const uint64_t lineBytes = inSlot(P, 0, 1).bytes;
    std::fill_n(incoming.begin() + static_cast<ptrdiff_t>(line * lineBytes), lineBytes, std::byte{});
    Accounts none;
    none.all = {{"target", to, shot.bytes}, {"slot", incoming.data(), incoming.size()}};
    uint32_t stopped = 0;
    for (uint32_t thread = 0; thread < shot.threads; ++thread) {
      CountingMachine machine(none, thread, shot.threads);
      stopped += !moveRunOn<P, ElementBytes>(
          machine, {flags, kernel::Operation::Sum, {incoming.data(), nullptr, inNumber, 0}, nullptr}, runOfShot());
    }
    return stopped;
  }

private:
  static constexpr uint64_t inNumber = 7, outNumber = 9;

  std::vector<std::byte> copyOf(const std::byte *at) const { return {at, at + shot.bytes}; }
  kernel::TileRun runOfShot() const {
    return {flags.reads() ? from : nullptr,
            flags.writes() ? to : nullptr,
            nullptr,
            shot.inMessage,
            shot.bytes,
            shot.nominalBytes};
  }

  void move(Accounts &accounts, Opcode opcode, const kernel::TileRun &run, const kernel::Message &message) {
    const kernel::Motion motion{kernel::OpcodeFlags(opcode), kernel::Operation::Sum, message, nullptr};
    for (uint32_t thread = 0; thread < shot.threads; ++thread) {
      CountingMachine machine(accounts, thread, shot.threads);
      ASSERT_TRUE((moveRunOn<P, ElementBytes>(machine, motion, run))) << "thread " << thread << " stopped";
    }
  }

  static void expectEach(const std::vector<uint8_t> &counts, uint8_t times, const std::string &what) {
    EXPECT_EQ(std::count(counts.begin(), counts.end(), times), static_cast<ptrdiff_t>(counts.size()))
        << what << ", not all " << int{times} << " times";
  }

  /// Checks the number of accesses to each byte. LL128 loads each line twice, the second time after its flag has
  /// arrived.
  void expectBytes(const Accounts &accounts) const {
    EXPECT_EQ(accounts.strays, 0u);
    for (const Account &account : accounts.all)
      EXPECT_EQ(account.misaligned, 0u) << account.name;
    const bool stays = shot.opcode == Opcode::Copy && shot.inPlace;
    expectEach(accounts.all[0].loaded, stays ? 0 : flags.reads() + (flags.accumulates() && shot.inPlace),
               "loads of the source");
    expectEach(accounts.all[0].stored, flags.writes() && shot.inPlace && !stays ? 1 : 0, "stores to the source");
    expectEach(accounts.all[1].loaded, flags.accumulates() ? 1 : 0, "loads of the target");
    expectEach(accounts.all[1].stored, flags.writes() ? 1 : 0, "stores to the target");
    expectEach(accounts.all[2].loaded, !flags.receives() ? 0 : P == Protocol::LL128 ? 2 : 1, "loads from the slot");
    expectEach(accounts.all[2].stored, 0, "stores to the incoming slot");
    expectEach(accounts.all[3].loaded, 0, "loads from the outgoing slot");
    expectEach(accounts.all[3].stored, flags.sends() ? 1 : 0, "stores to the slot");
  }

  void expectValues() {
    for (uint64_t i = 0; flags.reduces() && i < shot.bytes; ++i)
      first[i] = static_cast<std::byte>(static_cast<uint8_t>(first[i]) - static_cast<uint8_t>(second[i]));
    EXPECT_TRUE(!flags.writes() || std::equal(first.begin(), first.end(), to)) << "the target has other bytes";
    if (!flags.sends())
      return;
    Accounts uncounted;
    uncounted.all = {{"got", arrived.data(), arrived.size()}, {"slot", outgoing.data(), outgoing.size()}};
    move(uncounted, Opcode::Recv, {nullptr, arrived.data(), nullptr, shot.inMessage, shot.bytes, shot.nominalBytes},
         {outgoing.data(), nullptr, outNumber, 0});
    EXPECT_TRUE(std::equal(first.begin(), first.end(), arrived.data())) << "the message has other bytes";
  }

  const Shot shot;
  const kernel::OpcodeFlags flags;
  std::byte *from, *to;
  std::vector<std::byte> first, second; ///< operands of the reduction
};

template <Protocol P, uint32_t ElementBytes>
std::string counted(const Shot &shot) {
  return Range<P, ElementBytes>(shot).run();
}

constexpr Opcode all[] = {
    Opcode::Send,           Opcode::Recv,         Opcode::Copy,           Opcode::Reduce,
    Opcode::RecvReduceCopy, Opcode::RecvCopySend, Opcode::RecvReduceSend, Opcode::RecvReduceCopySend};
static_assert(std::size(all) == common::opcodeCount);

/// Returns true if the opcode has code for the protocol. Steps within a rank always use Simple.
bool isOf(Protocol protocol, Opcode opcode) {
  return protocol == Protocol::Simple || !kernel::OpcodeFlags(opcode).isLocal();
}

/// Tests runs with fewer and with more elements than threads, in whole and in short slots.
template <Protocol P, uint32_t ElementBytes>
void expectEachByteOnce(Opcode opcode, uint32_t sourceAt, uint32_t targetAt) {
  for (uint64_t bytes : {0, 8, 56, 136, 240, 1336, 1104})
    for (uint64_t less : {uint64_t{0}, uint64_t{ElementBytes}}) {
      const bool inPlace = targetAt == 16;
      const Shot shot{opcode,     bytes >= less ? bytes - less : 0,
                      sourceAt,   targetAt % 16,
                      less * 240, bytes,
                      inPlace,    less == 0 ? 32u : 64u};
      SCOPED_TRACE(std::string(common::opcodeTraits[static_cast<uint32_t>(opcode)].name) + ", " +
                   std::to_string(shot.bytes) + " bytes of " + std::to_string(bytes) + ", at " +
                   std::to_string(sourceAt) + (inPlace ? "" : " and " + std::to_string(targetAt)));
      counted<P, ElementBytes>(shot);
    }
}

template <Protocol P, uint32_t ElementBytes>
void expectEachByteOnce() {
  for (Opcode opcode : all)
    for (uint32_t sourceAt : {0, 1, 2, 4, 6, 8, 12, 15})
      for (uint32_t targetAt : {0, 1, 3, 4, 8, 10, 16})
        if (isOf(P, opcode) && (sourceAt | targetAt) % ElementBytes == 0 && !testing::Test::HasFailure())
          expectEachByteOnce<P, ElementBytes>(opcode, sourceAt, targetAt);
}

template <Protocol P>
void expectEachByteOnceOfAllTypes() {
  expectEachByteOnce<P, 1>();
  expectEachByteOnce<P, 2>();
  expectEachByteOnce<P, 4>();
  expectEachByteOnce<P, 8>();
}

/// Expected accesses to each side of a step by width: loads of a side that the opcode reads, and stores to a side that
/// it writes.
struct Widths {
  Account::ByWidth source, target, in, out;
};

template <Protocol P>
std::string textOf(Opcode opcode, const Widths &widths) {
  const kernel::OpcodeFlags flags(opcode);
  Accounts accounts;
  for (const char *name : {"source", "target", "in", "out"})
    accounts.all.emplace_back(name, nullptr, 0);
  if (flags.reads())
    accounts.all[0].loads = widths.source;
  if (flags.accumulates())
    accounts.all[1].loads = widths.target;
  if (flags.writes())
    accounts.all[1].stores = widths.target;
  if (flags.receives())
    (P == Protocol::Simple ? accounts.all[2].loads : accounts.all[2].flaggedLoads) = widths.in;
  if (flags.sends())
    (P == Protocol::Simple ? accounts.all[3].stores : accounts.all[3].flaggedStores) = widths.out;
  return accounts.text();
}

/// Runs each of the opcodes and checks the widths of its accesses.
template <Protocol P, uint32_t ElementBytes>
void expectWidths(Shot shot, const Widths &widths, std::vector<Opcode> opcodes = {std::begin(all), std::end(all)}) {
  for (Opcode opcode : opcodes) {
    shot.opcode = opcode;
    if (isOf(P, opcode)) {
      EXPECT_EQ((counted<P, ElementBytes>(shot)), textOf<P>(opcode, widths))
          << common::opcodeTraits[static_cast<uint32_t>(opcode)].name << ", " << shot.bytes << " bytes at "
          << shot.sourceAt << ", " << shot.targetAt << " and " << shot.inMessage << " in the message";
    }
  }
}

constexpr Opcode any = Opcode::Send;

} // namespace

TEST(Motion, eachByteOnceUnderSimple) {
  expectEachByteOnceOfAllTypes<Protocol::Simple>();
}

TEST(Motion, eachByteOnceUnderLL) {
  expectEachByteOnceOfAllTypes<Protocol::LL>();
}

TEST(Motion, eachByteOnceUnderLL128) {
  expectEachByteOnceOfAllTypes<Protocol::LL128>();
}

/// 240 bytes of data are 15 packs, 30 lines of LL, or two lines of LL128. LL128 loads each line twice.
TEST(Motion, alignedRuns) {
  expectWidths<Protocol::Simple, 1>({any, 240}, {{{16, 15}}, {{16, 15}}, {{16, 15}}, {{16, 15}}});
  expectWidths<Protocol::Simple, 2>({any, 240}, {{{16, 15}}, {{16, 15}}, {{16, 15}}, {{16, 15}}});
  expectWidths<Protocol::Simple, 8>({any, 240}, {{{16, 15}}, {{16, 15}}, {{16, 15}}, {{16, 15}}});
  expectWidths<Protocol::LL, 2>({any, 240}, {{{8, 30}}, {{8, 30}}, {{16, 30}}, {{16, 30}}});
  expectWidths<Protocol::LL128, 2>({any, 240}, {{{16, 15}}, {{16, 15}}, {{16, 32}}, {{16, 16}}});
  // enough for several rounds of all threads with the largest number of loads in flight, and for a remainder
  expectWidths<Protocol::Simple, 2>({any, 9600}, {{{16, 600}}, {{16, 600}}, {{16, 600}}, {{16, 600}}});
}

/// A few narrow accesses come before the first pack and after the last.
TEST(Motion, headsAndTails) {
  const Account::ByWidth halves{{16, 14}, {2, 7 + 3}}, floats{{16, 14}, {4, 3 + 1}}, doubles{{16, 14}, {8, 1}};
  expectWidths<Protocol::Simple, 2>({any, 14 + 224 + 6, 2, 2, 2}, {halves, halves, halves, halves});
  expectWidths<Protocol::Simple, 4>({any, 12 + 224 + 4, 4, 4, 4}, {floats, floats, floats, floats});
  expectWidths<Protocol::Simple, 8>({any, 8 + 224, 8, 8, 8}, {doubles, doubles, doubles, doubles});
  expectWidths<Protocol::Simple, 2>({any, 6, 2, 2, 2}, {{{2, 3}}, {{2, 3}}, {{2, 3}}, {{2, 3}}});
}

/// Under LL and LL128, accesses to messages always have full width. The local sides use narrow accesses for the last
/// data of a message. Each local side uses the widest accesses that its own alignment allows.
TEST(Motion, headsAndTailsOfLines) {
  expectWidths<Protocol::LL, 2>({any, 230}, {{{8, 28}, {2, 3}}, {{8, 28}, {2, 3}}, {{16, 29}}, {{16, 29}}});
  expectWidths<Protocol::LL128, 2>({any, 230}, {{{16, 14}, {2, 3}}, {{16, 14}, {2, 3}}, {{16, 32}}, {{16, 16}}});
  expectWidths<Protocol::LL128, 2>({any, 120}, {{{16, 7}, {8, 1}}, {{16, 7}, {8, 1}}, {{16, 16}}, {{16, 8}}});
  expectWidths<Protocol::LL128, 1>({any, 123, 0, 8},
                                   {{{16, 7}, {8, 1}, {1, 3}}, {{8, 15}, {1, 3}}, {{16, 32}}, {{16, 16}}});
}

/// Under Simple, all sides use the widest unit that divides the distances between their addresses. Under LL and LL128,
/// each local side uses the widest unit that its own alignment allows.
/// A message without a slot: the target at the receiver has another alignment than the source.
TEST(Motion, directTargetOfDifferentAlignment) {
  fill(source, 1), fill(target, 2);
  kernel::OpcodeFlags flags(Opcode::Send);
  flags.sendDirectly();
  std::byte *const from = source.data() + 128, *const to = target.data() + 132;
  Accounts accounts{{{"source", from, 240}, {"target", to, 240}}};
  const kernel::Motion motion{flags, kernel::Operation::Sum, {}, nullptr};
  for (uint32_t thread = 0; thread < 64; ++thread) {
    CountingMachine machine(accounts, thread, 64);
    ASSERT_TRUE((moveRun<Protocol::Simple, 4>(machine, motion, {from, nullptr, to, 0, 240, 240})));
  }
  EXPECT_EQ(accounts.text(), "source: 60 loads of 4; target: 60 stores of 4");
  EXPECT_EQ(std::memcmp(from, to, 240), 0);
}

TEST(Motion, sidesOfDifferentAlignment) {
  const std::vector<Opcode> sourceUnlike{Opcode::Send,           Opcode::Copy,           Opcode::Reduce,
                                         Opcode::RecvReduceCopy, Opcode::RecvReduceSend, Opcode::RecvReduceCopySend};
  const std::vector<Opcode> fused{Opcode::Send,         Opcode::Recv,           Opcode::RecvReduceCopy,
                                  Opcode::RecvCopySend, Opcode::RecvReduceSend, Opcode::RecvReduceCopySend};
  for (uint32_t unit : {8, 4, 2}) {
    const Account::ByWidth units{{unit, 240 / unit}};
    expectWidths<Protocol::Simple, 2>({any, 240, unit, unit, 16}, {units, units, units, units}, fused);
    expectWidths<Protocol::Simple, 2>({any, 240, unit, 0, 16}, {units, units, units, units}, sourceUnlike);
  }
  expectWidths<Protocol::Simple, 1>({any, 240, 1}, {{{1, 240}}, {{1, 240}}, {{1, 240}}, {{1, 240}}}, sourceUnlike);
  expectWidths<Protocol::Simple, 4>({any, 240, 4}, {{{4, 60}}, {{4, 60}}, {{4, 60}}, {{4, 60}}}, sourceUnlike);
  // units of 4, except for the first and last element
  const Account::ByWidth some{{4, 59}, {2, 2}};
  expectWidths<Protocol::Simple, 2>({any, 240, 6, 2}, {some, some, some, some}, {Opcode::Copy, Opcode::Reduce});
  for (uint32_t unit : {8, 4, 2}) {
    const Account::ByWidth units{{unit, 240 / unit}}, words{{8, 30}};
    expectWidths<Protocol::LL, 2>({any, 240, unit, 0}, {units, words, {{16, 30}}, {{16, 30}}});
    expectWidths<Protocol::LL128, 2>({any, 240, unit, 0}, {units, {{16, 15}}, {{16, 32}}, {{16, 16}}});
    expectWidths<Protocol::LL128, 2>({any, 240, 0, unit}, {{{16, 15}}, units, {{16, 32}}, {{16, 16}}});
  }
}

/// Each thread moves several lines at a time. The last ones of the slot are short.
TEST(Motion, manyLinesOfShortSlots) {
  for (Opcode opcode : all) {
    if (isOf(Protocol::LL, opcode))
      counted<Protocol::LL, 4>({opcode, 2044, 0, 0, 0, 2048});
    if (isOf(Protocol::LL128, opcode))
      counted<Protocol::LL128, 4>({opcode, 2876, 0, 0, 0, 2880});
  }
}

/// In LL128 the last lane of each line checks the flag. On a GPU all lanes of the warp stop together; on
/// CountingMachine each lane acts alone, so only the last lane of the line stops.
TEST(Motion, everyLineIsWaitedFor) {
  for (uint32_t line = 0; line < 30; ++line)
    EXPECT_EQ((Range<Protocol::LL, 4>({Opcode::Recv, 240}).stopped(line)), 1u) << line;
  for (uint32_t line = 0; line < 512; line += 63) // several lines for each thread
    EXPECT_EQ((Range<Protocol::LL, 4>({Opcode::Recv, 4096}).stopped(line)), 1u) << line;
  for (uint32_t line = 0; line < 5; ++line)
    EXPECT_EQ((Range<Protocol::LL128, 4>({Opcode::Recv, 600}).stopped(line)), 1u) << line;
  for (uint32_t line = 0; line < 40; ++line)
    EXPECT_EQ((Range<Protocol::LL128, 4>({Opcode::Recv, 4800}).stopped(line)), 1u) << line;
}
