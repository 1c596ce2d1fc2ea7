// SPDX-License-Identifier: Apache-2.0
// Reads headers, ranks and operations of the textual forms. Checks everything that later stages assume of a collective:
// shapes, sizes, aliases, budgets. Verify checks whether operations stay inside their buffers.
#include "ReadParts.h"
#include "gc3/Common/StandardCollective.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::ir;

static const char *wordOf(BufferId buffer) {
  return buffer == InputBuffer ? "input" : "output";
}

bool ProgramReader::names(llvm::StringRef level) {
  llvm::StringRef program, collective;
  auto [first, second] = level.split('-');
  if (!scanner.takeWord(first))
    return scanner.expected("'" + level + "'");
  if (!scanner.expect("-") || !scanner.expectWord(second))
    return false;
  uint32_t start = scanner.start();
  if (!scanner.name(program, "the name of the program"))
    return false;
  info->name = program.str();
  info->nameRange = scanner.since(start);
  if (!scanner.expectWord("implements") || !scanner.name(collective, "the name of a collective") ||
      !scanner.arguments(info->collective.arguments) || !scanner.expectWord("ranks"))
    return false;
  info->collective.name = collective.str();
  if (common::findStandard(info->collective.name))
    info->collective.arguments.clear(); // a copied form can have a root, which the buffers show
  start = scanner.start();
  uint32_t ranks = 0;
  if (!scanner.number(ranks, "the number of ranks"))
    return false;
  if (ranks < 1 || ranks > MaxRanks)
    return scanner.fail(DiagId::BadShape, scanner.since(start),
                        "there can be 1 to " + std::to_string(MaxRanks) + " ranks");
  info->collective.ranks = ranks;
  info->collective.hasInput.resize(ranks);
  info->collective.hasOutput.resize(ranks);
  info->collective.aliases.resize(ranks);
  return true;
}

bool ProgramReader::protocol() {
  for (Protocol protocol : {Protocol::Simple, Protocol::LL, Protocol::LL128})
    if (scanner.takeWord(name(protocol))) {
      info->protocol = protocol;
      return true;
    }
  return scanner.expected("'Simple', 'LL' or 'LL128'");
}

/// Reads `2 of 8`. The product is the number of ranks.
bool ProgramReader::nodes() {
  uint32_t start = scanner.start(), ranksOfNode = 0;
  if (!scanner.number(info->nodes, "the number of nodes") || !scanner.expectWord("of") ||
      !scanner.number(ranksOfNode, "the number of ranks of a node"))
    return false;
  return uint64_t(info->nodes) * ranksOfNode == info->collective.ranks ||
         scanner.fail(DiagId::BadOperand, scanner.since(start),
                      "the program has " + quantity(info->collective.ranks, "rank") +
                          ", which must be the product of both numbers");
}

/// Reads `0..1048576`, `1048576..` or `1048576.. pinned`.
bool ProgramReader::sizes() {
  uint32_t start = scanner.start();
  if (!scanner.number64(info->minBytes, "a number of bytes") || !scanner.expect(".."))
    return false;
  bool open = scanner.atLineEnd() || !scanner.peekWord().empty();
  if (!open && !scanner.number64(info->maxBytes, "a number of bytes"))
    return false;
  info->sizesRange = scanner.since(start);
  info->isPinned = scanner.takeWord("pinned");
  return info->minBytes < info->maxBytes || scanner.fail(DiagId::BadOperand, info->sizesRange, "the range is empty");
}

bool ProgramReader::settings(uint32_t *fifoSlots) {
  if (scanner.takeWord("protocol") && !protocol())
    return false;
  if (scanner.takeWord("nodes") && !nodes())
    return false;
  if (scanner.takeWord("sizes") && !sizes())
    return false;
  uint32_t start = scanner.start();
  if (scanner.takeWord("subdivision")) {
    if (!scanner.number(subdivision, "the number of slots per chunk"))
      return false;
    if (subdivision == 0)
      return scanner.fail(DiagId::BadShape, scanner.since(start), "a chunk has at least one slot");
  }
  start = scanner.start();
  if (fifoSlots && scanner.takeWord("slots")) {
    if (!scanner.number(*fifoSlots, "the number of slots per connection"))
      return false;
    if (*fifoSlots < 1 || *fifoSlots > MaxFifoSlots)
      return scanner.fail(DiagId::BadShape, scanner.since(start),
                          "a connection has 1 to " + std::to_string(MaxFifoSlots) + " slots");
  }
  return scanner.endLine();
}

/// Reads `[3]` (chunks) or `[4][3]` (blocks and chunks).
bool ProgramReader::shape(BufferId buffer) {
  uint32_t start = scanner.start();
  Shape &shape = buffer == InputBuffer ? info->collective.input : info->collective.output;
  if (shape.chunks != 0)
    return scanner.fail(DiagId::Redefinition, {start, start}, std::string(wordOf(buffer)) + " has a shape already");
  shape.blocks = 1;
  if (!scanner.expect("[") || !scanner.number(shape.chunks, "the number of chunks") || !scanner.expect("]"))
    return false;
  if (scanner.take("[")) {
    shape.blocks = shape.chunks;
    if (!scanner.number(shape.chunks, "the number of chunks of a block") || !scanner.expect("]"))
      return false;
  }
  if (shape.blocks == 0 || shape.chunks == 0)
    return scanner.fail(DiagId::BadShape, scanner.since(start), "there must be at least one block of one chunk");
  uint64_t perRank = options.maxSlots / info->collective.ranks / subdivision;
  if (uint64_t(shape.blocks) * shape.chunks > perRank)
    return scanner.fail(DiagId::SlotBudget, scanner.since(start),
                        "the " + std::string(wordOf(buffer)) + " of all ranks together would have more than " +
                            std::to_string(options.maxSlots) + " slots; --max-slots allows more");
  return true;
}

bool ProgramReader::buffersLine() {
  while (!scanner.atLineEnd()) {
    uint32_t start = scanner.start();
    llvm::StringRef name;
    if (!scanner.name(name, "a buffer"))
      return false;
    if (name == "input" || name == "output") {
      if (!shape(name == "input" ? InputBuffer : OutputBuffer))
        return false;
      continue;
    }
    std::vector<std::string> &scratch = info->scratchNames;
    if (std::find(scratch.begin(), scratch.end(), name) != scratch.end())
      return scanner.fail(DiagId::Redefinition, scanner.since(start), "there is a buffer '" + name.str() + "' already");
    if (info->bufferCount() == MaxBuffers)
      return scanner.fail(DiagId::SlotBudget, scanner.since(start),
                          "more than " + std::to_string(MaxBuffers) + " buffers");
    scratch.push_back(name.str());
  }
  return true;
}

bool ProgramReader::header(llvm::StringRef level, uint32_t *fifoSlots) {
  if (!names(level) || !settings(fifoSlots))
    return false;
  scanner.nextLine();
  if (scanner.takeWord("buffers")) {
    if (!buffersLine())
      return false;
    scanner.nextLine();
  }
  for (; scanner.takeWord("ensures"); scanner.nextLine())
    if (!readPromise(scanner, promises.emplace_back()))
      return false;
  bufferSizes.resize(size_t(info->collective.ranks) * info->bufferCount());
  return true;
}

bool ProgramReader::bufferId(BufferId &id) {
  uint32_t start = scanner.start();
  llvm::StringRef name;
  if (!scanner.name(name, "a buffer"))
    return false;
  for (uint32_t buffer = 0; buffer != info->bufferCount(); ++buffer)
    if (name == info->bufferName(static_cast<BufferId>(buffer))) {
      id = static_cast<BufferId>(buffer);
      return true;
    }
  return scanner.fail(DiagId::NoSuchBuffer, scanner.since(start), "there is no buffer '" + name.str() + "'");
}

/// Reads `input 3`.
bool ProgramReader::bufferSize(uint32_t rank) {
  uint32_t start = scanner.start();
  BufferId buffer = 0;
  uint32_t size = 0;
  if (!bufferId(buffer) || !scanner.number(size, "the number of its slots"))
    return false;
  SourceRange place = scanner.since(start);
  const std::string &name = info->bufferName(buffer);
  if (size == 0)
    return scanner.fail(DiagId::BadShape, place, "a buffer has at least 1 slot; leave out empty buffers");
  if (sizeOf(rank, buffer) != 0)
    return scanner.fail(DiagId::Redefinition, place, "rank " + std::to_string(rank) + " has '" + name + "' already");
  slots += size;
  if (slots > options.maxSlots)
    return scanner.fail(DiagId::SlotBudget, place,
                        "all buffers of all ranks and programs together have more than " +
                            quantity(options.maxSlots, "slot") + "; --max-slots allows more");
  sizeOf(rank, buffer) = size;
  if (buffer >= FirstScratchBuffer)
    return true;
  Collective &collective = info->collective;
  (buffer == InputBuffer ? collective.hasInput : collective.hasOutput)[rank] = 1;
  uint32_t wanted = collective.size(rank, buffer) * subdivision;
  return size == wanted || scanner.fail(DiagId::BadShape, place,
                                        "the '" + name + "' of " + quantity(collective.size(rank, buffer), "chunk") +
                                            " has " + quantity(wanted, "slot") + ", not " + std::to_string(size));
}

/// Checks that the inner buffer is a range of whole blocks of the outer one, as the front end guarantees.
bool ProgramReader::checkAlias(uint32_t rank, BufferId inner, uint32_t offset, SourceRange place) {
  BufferId outer = inner == InputBuffer ? OutputBuffer : InputBuffer;
  const Collective &collective = info->collective;
  const Shape &in = inner == InputBuffer ? collective.input : collective.output;
  const Shape &out = outer == InputBuffer ? collective.input : collective.output;
  if (in.total() == 0 || sizeOf(rank, inner) != 0 || sizeOf(rank, outer) == 0)
    return scanner.fail(DiagId::BadAlias, place,
                        "the rank must have a size for " + std::string(wordOf(outer)) + ", which contains " +
                            wordOf(inner) + ", and none for " + wordOf(inner));
  bool fits = in.chunks == out.chunks && offset % (out.chunks * subdivision) == 0 &&
              offset + uint64_t(in.total()) * subdivision <= sizeOf(rank, outer);
  return fits || scanner.fail(DiagId::BadAlias, place,
                              std::string(wordOf(inner)) + " must be a range of whole blocks of " + wordOf(outer));
}

/// Reads `(input is output[3..])`.
bool ProgramReader::alias(uint32_t rank) {
  uint32_t start = scanner.start();
  BufferId inner = scanner.takeWord("input") ? InputBuffer : OutputBuffer;
  if (inner == OutputBuffer && !scanner.expectWord("output"))
    return false;
  uint32_t offset = 0;
  if (!scanner.expectWord("is") || !scanner.expectWord(wordOf(inner == InputBuffer ? OutputBuffer : InputBuffer)) ||
      !scanner.expect("[") || !scanner.number(offset, "a slot") || !scanner.expect("..") || !scanner.expect("]"))
    return false;
  if (!checkAlias(rank, inner, offset, scanner.since(start)) || !scanner.expect(")"))
    return false;
  Collective &collective = info->collective;
  (inner == InputBuffer ? collective.hasInput : collective.hasOutput)[rank] = 1;
  collective.aliases[rank] = {inner == InputBuffer ? RankAlias::InputInOutput : RankAlias::OutputInInput,
                              offset / subdivision};
  return true;
}

bool ProgramReader::rankLine(uint32_t rank) {
  if (scanner.atEnd() || scanner.peekWord() != "rank")
    return scanner.expected("'rank " + llvm::Twine(rank) + ":'");
  scanner.takeWord("rank");
  uint32_t start = scanner.start();
  uint32_t number = 0;
  if (!scanner.number(number, "the number of the rank"))
    return false;
  if (number != rank)
    return scanner.fail(DiagId::Syntax, scanner.since(start),
                        "expected rank " + std::to_string(rank) + ", found " + std::to_string(number));
  if (!scanner.expect(":"))
    return false;
  while (!scanner.atLineEnd()) {
    if (scanner.take("(")) {
      if (!alias(rank) || !scanner.endLine())
        return false;
    } else if (!bufferSize(rank)) {
      return false;
    }
  }
  scanner.nextLine();
  return true;
}

bool ProgramReader::finishCollective() {
  PostconditionReader reader(scanner, info->collective, options);
  for (const Promise &promise : promises)
    if (!reader.add(promise))
      return false;
  reader.finish();
  return true;
}

bool ProgramReader::opcode(Opcode &opcode) {
  llvm::StringRef word = scanner.peekWord();
  for (Opcode candidate : {Opcode::Send, Opcode::Recv, Opcode::RecvReduceCopySend, Opcode::RecvCopySend,
                           Opcode::RecvReduceSend, Opcode::RecvReduceCopy, Opcode::Copy, Opcode::Reduce})
    if (word == name(candidate)) {
      opcode = candidate;
      return scanner.takeWord(word);
    }
  return scanner.expected("one of send, recv, copy, reduce, rrc, rcs, rrs and rrcs");
}

/// Reads `output[3]` or `output[3..7]`.
bool ProgramReader::slice(Slice &slice) {
  uint32_t start = scanner.start();
  if (!bufferId(slice.buffer) || !scanner.expect("[") || !scanner.number(slice.index, "a slot"))
    return false;
  slice.count = 1;
  if (scanner.take("..")) {
    uint32_t end = 0;
    if (!scanner.number(end, "the slot after the last one"))
      return false;
    if (end < slice.index)
      return scanner.fail(DiagId::BadOperand, scanner.since(start), "the range ends before it begins");
    slice.count = end - slice.index;
  }
  return scanner.expect("]");
}

bool ProgramReader::countMismatch(uint32_t read, uint32_t written) {
  return scanner.fail(DiagId::CountMismatch, scanner.line(),
                      "reads " + quantity(read, "slot") + " and writes " + std::to_string(written));
}
