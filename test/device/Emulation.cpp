// SPDX-License-Identifier: Apache-2.0
// Gives the emulated GPU and the host executor buffers with the same contents, outputs included, and the same
// alignment.
#include "Emulation.h"
#include "Launch.h"
#include "Oracle.h"

#include "plan/StallReport.h"

#include <optional>

namespace gc3::test {

using kernel::Protocol;

namespace {

/// Memory of one rank in one call.
struct Buffers {
  std::vector<std::byte> input, output, scratch; ///< each buffer begins after `offset` unused bytes
  size_t offset = 0;
  size_t inputAt = 0; ///< byte offset of the input in the output, or of the output in the input
  bundle::fbs::Alias alias{};

  std::byte *in() { return alias == bundle::fbs::Alias::InputInOutput ? out() + inputAt : input.data() + offset; }
  std::byte *out() {
    return alias == bundle::fbs::Alias::OutputInInput ? input.data() + offset + inputAt : output.data() + offset;
  }
  /// Returns the buffers for the kernel. If one buffer is an alias of a part of the other, the kernel does not use the
  /// inner one.
  kernel::RankBuffers memory() { return {{input.data() + offset, output.data() + offset, scratch.data()}}; }
};

class Emulation {
public:
  Emulation(const bundle::BundleFile &file, uint32_t index, const EmulationOptions &options)
      : file(file), index(index), options(options), size(core::elementSize(options.type)), random(options.seed) {}

  std::string run();

private:
  std::string prepare();
  plan::ConnectionPool::Parts makeParts(const plan::ConnectionPool &pool);
  std::vector<Buffers> makeBuffers();
  void leaveOldFlags(std::byte *slots) const;
  std::string findOldFlag() const;
  void makeNetwork();
  kernel::BlockImage &blockImage(uint32_t number) const;
  kernel::SendEnd &sendEnd(uint32_t connection) const;
  kernel::ReceiveEnd &receiveEnd(uint32_t connection) const;
  uint32_t rankOf(uint32_t threadBlock) const;
  void fill(std::vector<std::byte> &bytes, size_t elements);
  bool runEmulated(std::vector<Buffers> &ranks);
  std::string checkRecords() const;
  std::string runOnHost(std::vector<Buffers> &ranks);
  std::string stuck() const;

  const bundle::BundleFile &file;
  const uint32_t index;
  const EmulationOptions &options;
  const size_t size;
  host::Random random;
  std::unique_ptr<core::Program> program;
  bundle::CheckView check;
  core::Layout layout;
  kernel::KernelArgs call{};
  std::optional<plan::ProgramImage> image;
  std::unique_ptr<std::byte[]> memory, fifos;
  std::byte *base = nullptr;            ///< address of the image
  std::unique_ptr<std::byte[]> staging; ///< the slots of senders whose connections use the network
  std::vector<kernel::NetworkSend> networkSends;
  std::vector<kernel::NetworkReceive> networkReceives;
  std::vector<kernel::StepTimes> records;
  std::vector<uint64_t> running;         ///< for each block
  std::vector<kernel::BlockTimes> times; ///< of each block
  FakeNetwork network;
  std::vector<NetworkEnd> networkEnds; ///< for each rank
};

} // namespace

/// Allocates zeroed memory that begins at a multiple of 128 bytes.
static std::byte *zeroed(uint64_t bytes, std::unique_ptr<std::byte[]> &memory) {
  memory.reset(new std::byte[bytes + 128]());
  return memory.get() + (128 - reinterpret_cast<uintptr_t>(memory.get()) % 128) % 128;
}

/// Allocates the FIFO regions of all ranks, consecutively in one allocation.
plan::ConnectionPool::Parts Emulation::makeParts(const plan::ConnectionPool &pool) {
  plan::ConnectionPool::Parts parts(pool.pieces());
  if (parts.empty())
    return parts;
  uint64_t bytes = 0;
  for (uint32_t r = 0; r < program->ranks(); ++r)
    bytes += pool.bytes(0, r);
  std::byte *next = zeroed(bytes, fifos);
  for (uint32_t r = 0; r < program->ranks(); ++r) {
    parts[0].push_back(next);
    next += pool.bytes(0, r);
  }
  return parts;
}

static plan::DirectMessages directMessages(const core::Program &program) {
  return plan::DirectMessages::inOneLaunch(program, core::Transfers::asWritten(program, core::HappensBefore(program)));
}

std::string Emulation::prepare() {
  if (bundle::BundleStatus status = core::Program::load(file, index).moveTo(program); !status.ok())
    return status.message;
  if (bundle::BundleStatus status = file.check(index).moveTo(check); !status.ok())
    return status.message;
  if (std::string problem =
          layout.compute(*program, options.count, size, {.slots = options.sizes.slots, .tileElements = 1});
      !problem.empty())
    return problem;
  if (std::string problem = setGeometry(*program, options.count, static_cast<uint32_t>(size), options.sizes, call);
      !problem.empty())
    return problem;
  image.emplace(*program, core::RankRange{0, program->ranks()}, options.sizes.slots,
                options.direct ? directMessages(*program) : plan::DirectMessages());
  base = zeroed(image->bytes(), memory);
  plan::ConnectionPool pool(program->ranks());
  const std::vector<uint32_t> numbers = pool.add(*program, options.sizes);
  const plan::ConnectionPool::Parts parts = makeParts(pool);
  std::vector<std::byte> constants = image->constants(base, {pool, numbers, parts}, call);
  std::memcpy(base, constants.data(), constants.size());
  for (uint32_t c = 0; options.firstMessage != 0 && c < program->connections().size(); ++c) {
    const kernel::SendEnd &send = sendEnd(c);
    const kernel::ReceiveEnd &receive = receiveEnd(c);
    for (uint64_t *counter : {send.sent, send.arrived, receive.received, receive.freed})
      *counter = options.firstMessage;
    if (options.sizes.protocol == Protocol::LL)
      leaveOldFlags(send.slots);
  }
  if (options.overNetwork != 0)
    makeNetwork();
  return {};
}

/// Makes some random connections use the network. Their senders get their own slots. Sets the signals as if
/// `firstMessage` messages had been sent.
void Emulation::makeNetwork() {
  const size_t connections = program->connections().size();
  const uint64_t bytes = options.sizes.slots * options.sizes.slotBytes;
  staging.reset(new std::byte[connections * bytes]);
  networkSends.resize(connections);
  networkReceives.resize(connections);
  network.place = [](const void *, uint32_t, uint64_t offset) { return reinterpret_cast<std::byte *>(offset); };
  const uint32_t spare = options.sizes.slots - program->info().min_fifo_slots();
  for (uint32_t c = 0; c < connections; ++c) {
    if (random.below(100) >= options.overNetwork)
      continue;
    call.peers = kernel::Scope::System;
    const uint32_t sender = rankOf(program->connections()[c].sender),
                   receiver = rankOf(program->connections()[c].receiver);
    const uint32_t ids = options.sizes.slots + 1;
    const kernel::Signal arrived{c % 3, ids * c}, freed{c % 2, ids * c + options.sizes.slots};
    std::byte *own = staging.get() + c * bytes;
    const auto offset = [&](const std::byte *at) { return reinterpret_cast<uint64_t>(at); };
    networkSends[c] = {receiver, arrived, freed, nullptr, offset(own), offset(sendEnd(c).slots)};
    networkReceives[c] = {sender, arrived, freed};
    for (uint32_t slot = 0; slot < options.sizes.slots; ++slot)
      network.signals[{receiver, arrived.context, arrived.id + slot}] =
          (options.firstMessage + options.sizes.slots - 1 - slot) / options.sizes.slots;
    network.signals[{sender, freed.context, freed.id}] = options.firstMessage;
    sendEnd(c) = {own, nullptr, nullptr, sendEnd(c).sent, &networkSends[c]};
    receiveEnd(c) = {receiveEnd(c).slots,
                     nullptr,
                     nullptr,
                     receiveEnd(c).received,
                     &networkReceives[c],
                     1 + static_cast<uint32_t>(random.below(spare + 1))};
  }
  for (uint32_t r = 0; r < program->ranks(); ++r)
    networkEnds.push_back({&network, r, 3});
  for (uint32_t number = 0; number < image->blocks(); ++number)
    blockImage(number).network = &networkEnds[rankOf(number)];
}

kernel::BlockImage &Emulation::blockImage(uint32_t number) const {
  return const_cast<kernel::BlockImage &>(call.blocks[number]); // prepare() has written it to memory of this object
}

kernel::SendEnd &Emulation::sendEnd(uint32_t connection) const {
  return blockImage(program->connections()[connection].sender).out;
}

kernel::ReceiveEnd &Emulation::receiveEnd(uint32_t connection) const {
  return blockImage(program->connections()[connection].receiver).in;
}

uint32_t Emulation::rankOf(uint32_t threadBlock) const {
  return blockImage(threadBlock).rank;
}

/// Writes the oldest flags that lines of a connection can have after `firstMessage` messages. LL writes all lines of a
/// slot only once in 2^31 messages; all later messages may have been shorter. So each line has the flag of that one
/// message.
void Emulation::leaveOldFlags(std::byte *slots) const {
  const uint64_t whole = options.firstMessage >> 31 << 31;
  for (uint64_t message = std::max<uint64_t>(whole, 1); message < whole + options.sizes.slots; ++message) {
    std::byte *slot = slots + (message - 1) % options.sizes.slots * options.sizes.slotBytes;
    const auto flag = static_cast<uint32_t>(message);
    for (uint64_t at = 4; at < options.sizes.slotBytes; at += 8)
      std::memcpy(slot + at, &flag, sizeof flag);
  }
}

/// Returns an error message if a line has a flag from before the time when LL last wrote all lines of its slot. Such a
/// flag would later match by chance.
std::string Emulation::findOldFlag() const {
  for (uint32_t c = 0; c < program->connections().size(); ++c) {
    const kernel::SendEnd &send = sendEnd(c);
    const uint64_t sent = *send.sent, whole = sent >> 31 << 31;
    if (whole == 0 || sent < whole + options.sizes.slots)
      continue;
    for (uint64_t at = 4; at < options.sizes.slots * options.sizes.slotBytes; at += 8) {
      uint32_t flag;
      std::memcpy(&flag, send.slots + at, sizeof flag);
      if (static_cast<uint32_t>(sent) - flag > sent - whole)
        return "connection " + std::to_string(c) + " keeps flag " + std::to_string(flag) + " after " +
               std::to_string(sent) + " messages";
    }
  }
  return {};
}

/// Resizes `bytes` and fills it with random elements. Floats are below 2 in magnitude, so that sums are finite.
void Emulation::fill(std::vector<std::byte> &bytes, size_t elements) {
  bytes.resize(elements * size + options.misalignment * size);
  for (std::byte &byte : bytes)
    byte = static_cast<std::byte>(random.next());
  if (!core::isInteger(options.type))
    for (size_t last = size - 1; last < bytes.size(); last += size)
      bytes[last] &= std::byte{0xbf};
}

std::vector<Buffers> Emulation::makeBuffers() {
  std::vector<Buffers> ranks(program->ranks());
  for (uint32_t r = 0; r < program->ranks(); ++r) {
    const core::RankLayout &rank = layout.ranks[r];
    ranks[r].offset = options.misalignment * size;
    ranks[r].alias = program->rank(r).alias;
    ranks[r].inputAt = rank.aliasElement * size;
    fill(ranks[r].input, rank.input.elements);
    fill(ranks[r].output, rank.output.elements);
    uint64_t scratch = 0;
    for (uint32_t slots : program->rank(r).scratchSlots)
      scratch += slots * layout.slotElements;
    fill(ranks[r].scratch, scratch);
  }
  return ranks;
}

bool Emulation::runEmulated(std::vector<Buffers> &ranks) {
  uint32_t stop = 0;
  call.stop = &stop;
  call.op = static_cast<kernel::Operation>(options.op);
  for (uint32_t r = 0; r < ranks.size(); ++r)
    call.memory[r] = ranks[r].memory();
  records.assign(size_t{image->blocks()} * options.ringRecords, {});
  call.records = options.ringRecords == 0 ? nullptr : records.data();
  call.ringRecords = options.ringRecords;
  running.assign(image->blocks(), 0);
  call.running = running.data();
  times.assign(image->blocks(), {});
  call.times = times.data();
  const Grid grid{options.type, options.sizes.protocol, image->blocks(), options.threads, options.overNetwork != 0};
  return launch(call, grid, random.next(), options.faults, stop);
}

std::string Emulation::runOnHost(std::vector<Buffers> &ranks) {
  std::vector<Ends> ends;
  for (Buffers &rank : ranks)
    ends.push_back({rank.in(), rank.out()});
  return test::runOnHost(file, *program,
                         {options.count, static_cast<gc3DataType_t>(options.type), static_cast<gc3RedOp_t>(options.op)},
                         ends);
}

/// Checks that the trace ring of each block holds the block's last steps, in order. Returns an error message, or an
/// empty string.
std::string Emulation::checkRecords() const {
  for (uint32_t block = 0; options.ringRecords != 0 && block < image->blocks(); ++block) {
    const uint32_t steps = call.blocks[block].stepCount;
    const uint64_t all = steps * call.tiles, kept = std::min<uint64_t>(all, options.ringRecords);
    uint64_t last = 0;
    for (uint64_t number = all - kept; number < all; ++number) {
      const kernel::StepTimes &record = records[block * options.ringRecords + number % options.ringRecords];
      if (record.step != number % steps || record.tile != number / steps || record.begin <= last ||
          record.end <= record.begin)
        return "block " + std::to_string(block) + " has recorded something else for step " + std::to_string(number);
      last = record.end;
    }
    for (uint64_t place = kept; place < options.ringRecords; ++place)
      if (records[block * options.ringRecords + place].begin != 0)
        return "block " + std::to_string(block) + " has recorded more than it has done";
  }
  return {};
}

std::string Emulation::stuck() const {
  return "stuck" + plan::stallReport(*program, image->ranks(), {image->reports(base), image->blocks()});
}

std::string Emulation::run() {
  if (std::string problem = prepare(); !problem.empty())
    return problem;
  for (uint32_t i = 0; i < options.calls; ++i) {
    std::vector<Buffers> emulated = makeBuffers(), expected = emulated;
    const bool ended = runEmulated(emulated);
    if (running != std::vector<uint64_t>(running.size()))
      return "a block says that it runs, and has ended";
    if (std::any_of(times.begin(), times.end(), [](const auto &t) { return t.begin == 0 || t.end <= t.begin; }))
      return "a block has not recorded when it began and ended";
    if (!ended)
      return stuck();
    if (network.leftBehind != 0)
      return "messages were on their way from a rank whose kernel had ended";
    if (std::string problem = checkRecords(); !problem.empty())
      return problem;
    if (std::string problem = runOnHost(expected); !problem.empty())
      return problem;
    for (uint32_t r = 0; r < program->ranks(); ++r)
      if (std::string problem = comparePromised(*program, check, layout, r, options.type, options.op, emulated[r].out(),
                                                expected[r].out());
          !problem.empty())
        return "call " + std::to_string(i) + ": " + problem;
  }
  return options.sizes.protocol == Protocol::LL ? findOldFlag() : "";
}

std::string emulate(const bundle::BundleFile &file, uint32_t program, const EmulationOptions &options) {
  return Emulation(file, program, options).run();
}

} // namespace gc3::test
