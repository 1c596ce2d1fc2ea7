// SPDX-License-Identifier: Apache-2.0
// Reads the Instruction DAG from its text (docs/instruction-dag.md). The scheduler does not check the shape of the
// graph, so the reader checks all of it. Numbers must be in order, edges must lead to earlier instructions of the same
// rank, messages must have two ends, and chains must be complete. Verify checks what the instructions do to the data.
// Linear; the site of an instruction is its line.
#include "ReadParts.h"
#include "gc3/IR/InstructionDag.h"
#include "gc3/Support/Quantity.h"
#include <map>
#include <optional>
#include <tuple>

using namespace gc3;
using namespace gc3::ir;

static constexpr uint32_t maxChannel = (1 << 16) - 1;
static constexpr uint32_t maxThreadBlock = (1 << 16) - 1;
static constexpr uint32_t maxParallel = 1 << 20;

namespace {

class InstructionDagReader {
public:
  InstructionDagReader(Scanner &scanner, const ReadOptions &options, uint64_t &slots)
      : scanner(scanner), parts(scanner, options, slots) {}

  bool run();
  InstructionDag dag;

private:
  bool instruction();
  bool spill(Instruction &instruction);
  bool messages(Instruction &instruction);
  bool chain(Instruction &instruction, std::optional<ChainDemand> &demand);
  bool directives(Instruction &instruction);
  bool directive(uint32_t &number);
  bool checkDirectives(const Instruction &instruction);
  bool edges(const Instruction &instruction);
  bool node(uint32_t &number) { return scanner.expect("%") && scanner.number(number, "the number of an instruction"); }
  bool bounded(const char *word, int32_t &value, uint32_t most);
  bool checkReceivers();
  bool wrong(SourceRange place, const std::string &message) { return scanner.fail(DiagId::BadOperand, place, message); }
  const Instruction &at(uint32_t number) const { return dag.instructions[number]; }
  uint32_t next() const { return static_cast<uint32_t>(dag.instructions.size()); }

  Scanner &scanner;
  ProgramReader parts;
  std::map<std::tuple<int32_t, int32_t, int32_t, uint32_t>, uint32_t> directiveNumbers;
};

} // namespace

/// Reads `WORD number` if the word comes next. Reports a number above `most`.
bool InstructionDagReader::bounded(const char *word, int32_t &value, uint32_t most) {
  uint32_t start = scanner.start();
  uint32_t number = 0;
  if (!scanner.takeWord(word))
    return true;
  if (!scanner.number(number, "a number"))
    return false;
  value = static_cast<int32_t>(number);
  return number <= most ||
         wrong(scanner.since(start), std::string("'") + word + "' takes at most " + std::to_string(most));
}

/// Reads `channel 1 sendtb 0 recvtb 2 parallel 4`; each part can be absent.
bool InstructionDagReader::directive(uint32_t &number) {
  Directive made;
  int32_t parallel = 1;
  uint32_t start = scanner.start();
  if (!bounded("channel", made.channel, maxChannel) || !bounded("sendtb", made.sendThreadBlock, maxThreadBlock) ||
      !bounded("recvtb", made.recvThreadBlock, maxThreadBlock) || !bounded("parallel", parallel, maxParallel))
    return false;
  if (parallel == 0)
    return wrong(scanner.since(start), "'parallel' must be at least 1");
  made.parallel = static_cast<uint32_t>(parallel);
  made.channelSite = made.parallelSite = scanner.since(start);
  std::vector<Directive> &all = parts.info->directives;
  auto [place, isNew] = directiveNumbers.try_emplace(
      {made.channel, made.sendThreadBlock, made.recvThreadBlock, made.parallel}, static_cast<uint32_t>(all.size()));
  if (isNew)
    all.push_back(made);
  number = place->second;
  return true;
}

/// Reads the directive of the received (or only) message, the directive of the forwarded message, and the number of the
/// instance.
bool InstructionDagReader::directives(Instruction &instruction) {
  if (!directive(instruction.directive))
    return false;
  instruction.sendDirective = instruction.directive;
  bool passesOn = receives(instruction.opcode) && sends(instruction.opcode);
  if (passesOn && scanner.takeWord("sends") && !directive(instruction.sendDirective))
    return false;
  uint32_t parallel = parts.info->directives[instruction.directive].parallel;
  if (parallel == 1)
    return true;
  int32_t instance = 0;
  if (scanner.peekWord() != "instance")
    return scanner.expected("'instance'");
  if (!bounded("instance", instance, parallel - 1))
    return false;
  instruction.instance = static_cast<uint32_t>(instance);
  return true;
}

/// Checks that both ends of a message have the same directive, that a chain has one channel, and that an instruction
/// receives and forwards in one thread block. The channel applies to the whole chain, even if a later instruction is
/// the first to name it.
bool InstructionDagReader::checkDirectives(const Instruction &instruction) {
  if (receives(instruction.opcode) && at(instruction.sender).sendDirective != instruction.directive)
    return wrong(scanner.line(), "the directive of the message differs from that of its sender, %" +
                                     std::to_string(instruction.sender));
  const Directive &in = parts.info->directives[instruction.directive];
  const Directive &out = parts.info->directives[instruction.sendDirective];
  bool passesOn = receives(instruction.opcode) && sends(instruction.opcode);
  if (passesOn && in.recvThreadBlock >= 0 && out.sendThreadBlock >= 0 && in.recvThreadBlock != out.sendThreadBlock)
    return wrong(scanner.line(), "receives in thread block " + std::to_string(in.recvThreadBlock) +
                                     " but forwards in thread block " + std::to_string(out.sendThreadBlock));
  if (instruction.chain == None)
    return true;
  ChainDemand &chain = dag.chains[instruction.chain];
  for (const Directive *directive : {&in, &out})
    if (!chain.merge({directive->channel, -1}))
      return wrong(scanner.line(), "channel " + std::to_string(directive->channel) + " conflicts with channel " +
                                       std::to_string(chain.channel) + " of the chain");
  return true;
}

/// Reads `spill scratch[0]` after an rrs. Without it, the spill place is the operand. Verify checks only the slots that
/// steps use, so this function checks that the place lies inside its buffer.
bool InstructionDagReader::spill(Instruction &instruction) {
  if (instruction.opcode != Opcode::RecvReduceSend)
    return true;
  instruction.dstBuffer = instruction.srcBuffer;
  instruction.dstIndex = instruction.srcIndex;
  if (!scanner.takeWord("spill"))
    return true;
  ProgramReader::Slice place;
  uint32_t start = scanner.start();
  if (!parts.slice(place))
    return false;
  if (place.count != instruction.count)
    return parts.countMismatch(instruction.count, place.count);
  instruction.dstBuffer = place.buffer;
  instruction.dstIndex = place.index;
  uint32_t size = parts.bufferSizes[instruction.rank * parts.info->bufferCount() + place.buffer];
  return (place.index <= size && place.count <= size - place.index) ||
         wrong(scanner.since(start), "the spill place lies outside its buffer, which has " + quantity(size, "slot"));
}

/// Reads `from %0` if the opcode receives, and `to %2` if it sends.
bool InstructionDagReader::messages(Instruction &instruction) {
  uint32_t start = scanner.start();
  if (receives(instruction.opcode)) {
    if (!scanner.expectWord("from") || !node(instruction.sender))
      return false;
    SourceRange place = scanner.since(start);
    uint32_t sender = instruction.sender;
    if (sender >= next() || at(sender).receiver != next())
      return wrong(place, "no earlier instruction with that number sends to this one");
    if (at(sender).rank == instruction.rank)
      return wrong(place, "a rank sends a message to itself");
    if (at(sender).count != instruction.count)
      return scanner.fail(DiagId::CountMismatch, place,
                          "receives " + quantity(instruction.count, "slot") + ", but the sender sends " +
                              std::to_string(at(sender).count));
  }
  start = scanner.start();
  if (!sends(instruction.opcode))
    return true;
  if (!scanner.expectWord("to") || !node(instruction.receiver))
    return false;
  return instruction.receiver > next() || wrong(scanner.since(start), "a message must go to a later instruction");
}

/// Reads `chain 0 (channel 2 instance 1)`. A send begins the next chain and can demand more of its channel than its
/// directive does. A receiving instruction continues the chain of its sender.
bool InstructionDagReader::chain(Instruction &instruction, std::optional<ChainDemand> &demand) {
  if (!receives(instruction.opcode) && !sends(instruction.opcode))
    return true;
  if (!scanner.expectWord("chain"))
    return false;
  uint32_t start = scanner.start();
  if (!scanner.number(instruction.chain, "the number of a chain"))
    return false;
  auto wanted = receives(instruction.opcode) ? at(instruction.sender).chain : static_cast<uint32_t>(dag.chains.size());
  if (instruction.chain != wanted)
    return wrong(scanner.since(start), "expected chain " + std::to_string(wanted));
  if (instruction.opcode != Opcode::Send || !scanner.take("("))
    return true;
  demand.emplace();
  return bounded("channel", demand->channel, maxChannel) && bounded("instance", demand->instance, maxChannel) &&
         scanner.expect(")");
}

/// Reads `after %4, ~%5`.
bool InstructionDagReader::edges(const Instruction &instruction) {
  if (scanner.takeWord("after"))
    do {
      uint32_t start = scanner.start();
      bool isFalse = scanner.take("~");
      uint32_t number = 0;
      if (!node(number))
        return false;
      if (number >= next() || at(number).rank != instruction.rank)
        return wrong(scanner.since(start), "this rank has no earlier instruction with that number");
      dag.edges.edges.emplace_back(number, isFalse);
    } while (scanner.take(","));
  dag.edges.begin.push_back(static_cast<uint32_t>(dag.edges.edges.size()));
  return scanner.endLine();
}

/// Reads `%2 = rank 2 rrcs output[0] -> output[0] from %1 to %3 chain 0`.
bool InstructionDagReader::instruction() {
  Instruction made{};
  made.sender = made.receiver = made.chain = None;
  uint32_t start = scanner.start();
  uint32_t number = 0;
  if (!node(number))
    return false;
  if (number != next())
    return scanner.fail(DiagId::Syntax, scanner.since(start), "expected %" + std::to_string(next()));
  if (!scanner.expect("="))
    return false;
  start = scanner.start();
  if (!scanner.expectWord("rank") || !scanner.number(made.rank, "the number of the rank"))
    return false;
  if (uint32_t ranks = parts.info->collective.ranks; made.rank >= ranks)
    return scanner.fail(DiagId::RankOutOfRange, scanner.since(start), "the program has " + quantity(ranks, "rank"));
  std::optional<ChainDemand> demand;
  if (!parts.operation(made) || !spill(made) || !messages(made) || !chain(made, demand) || !directives(made) ||
      !edges(made))
    return false;
  if (made.opcode == Opcode::Send)
    dag.chains.push_back(demand ? *demand : demandOf(parts.info->directives[made.directive], made.instance));
  if (!checkDirectives(made))
    return false;
  made.site = static_cast<uint32_t>(parts.info->sites.size());
  parts.info->sites.push_back(scanner.line());
  dag.instructions.push_back(made);
  scanner.nextLine();
  return true;
}

/// Finds senders without a receiver. messages() has checked each receiver against its sender.
bool InstructionDagReader::checkReceivers() {
  for (uint32_t number = 0; number != next(); ++number)
    if (uint32_t receiver = at(number).receiver;
        receiver != None && (receiver >= next() || at(receiver).sender != number))
      return wrong(parts.info->sites[at(number).site], "no instruction receives the message of this one");
  return true;
}

bool InstructionDagReader::run() {
  if (!parts.header("instruction-dag", nullptr))
    return false;
  for (uint32_t rank = 0; rank != parts.info->collective.ranks; ++rank)
    if (!parts.rankLine(rank))
      return false;
  while (!scanner.atEnd() && scanner.peekWord().empty())
    if (!instruction())
      return false;
  if (!scanner.atEnd() && scanner.peekWord() != "instruction")
    return scanner.expected("an instruction, 'instruction-dag' or the end of the text");
  if (!checkReceivers() || !parts.finishCollective())
    return false;
  dag.info = parts.info;
  dag.subdivision = parts.subdivision;
  dag.bufferSizes = std::move(parts.bufferSizes);
  return true;
}

std::vector<InstructionDag> gc3::ir::readInstructionDag(SourceManager &sources, Diagnostics &diags,
                                                        llvm::StringRef name, llvm::StringRef text,
                                                        const ReadOptions &options) {
  return readPrograms<InstructionDagReader>(sources, diags, name, text, options, &InstructionDagReader::dag);
}
