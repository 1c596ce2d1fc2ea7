// SPDX-License-Identifier: Apache-2.0
// Chunk operations, the directives around them, and the settings of a program. The scopes of directives form a stack,
// which continues across calls. An operation uses the innermost channel and the product of all parallel factors.
#include "Machine.h"
#include "gc3/Support/Quantity.h"

using namespace gc3;
using namespace gc3::sema;

static constexpr int64_t MaxChannel = 65535;
static constexpr int64_t MaxThreadBlock = 65535;
static constexpr int64_t MaxParallel = 65536;

bool Machine::chunkInstruction(const Instruction &in) {
  if (in.op == Op::MakeChunk)
    return makeChunk(in);
  if (in.op == Op::Copy || in.op == Op::Reduce)
    return transfer(in);
  if (in.op == Op::Slice)
    return slice(in);
  if (in.op == Op::Split)
    return split(in);
  if (in.op == Op::PushChannel || in.op == Op::PushParallel)
    return pushDirective(in);
  if (in.op == Op::PopDirectives)
    scopes.resize(scopes.size() - in.a);
  else if (in.op == Op::ChunkRank)
    numbers[in.a] = refs[in.b].rank;
  else if (in.op == Op::ChunkIndex)
    numbers[in.a] = refs[in.b].index;
  else if (in.op == Op::ChunkCount)
    numbers[in.a] = refs[in.b].count;
  else
    numbers[in.a] = refs[in.b].buffer;
  return true;
}

bool Machine::makeChunk(const Instruction &in) {
  if (!tracer)
    return fail(DiagId::NotConstant, "there are no chunks outside of a program's body");
  const PlaceOperands &place = code.places[in.b];
  int64_t count = place.count == NoRegister ? 1 : numbers[place.count];
  if (!tracer->chunk({numbers[place.rank], numbers[place.buffer], numbers[place.index], count}, refs[in.a]))
    return fail(tracer->failure);
  return countChunks(refs[in.a].count);
}

bool Machine::transfer(const Instruction &in) {
  const PlaceOperands &place = code.places[in.c];
  uint32_t directive = 0;
  if (!directiveOf(place, here(), directive))
    return false;
  ChunkRef result;
  bool good = in.op == Op::Reduce
                  ? tracer->reduce(refs[in.b], refs[place.other], directive, here(), result)
                  : tracer->copy(refs[in.b], {numbers[place.rank], numbers[place.buffer], numbers[place.index], 0},
                                 directive, here(), result);
  if (!good)
    return fail(tracer->failure);
  refs[in.a] = result;
  return countChunks(2 * uint64_t(result.count)); // each chunk is checked and moved
}

bool Machine::slice(const Instruction &in) {
  ChunkRef ref = refs[in.b];
  int64_t first = numbers[in.c], count = numbers[in.c + 1], end = 0;
  if (first < 0 || count < 1 || __builtin_add_overflow(first, count, &end) || end > ref.count)
    return fail(DiagId::ChunkOutOfRange, "slice(" + std::to_string(first) + ", " + std::to_string(count) +
                                             ") is no part of a reference to " + quantity(ref.count, "chunk"));
  ref.index += static_cast<uint32_t>(first);
  ref.count = static_cast<uint32_t>(count);
  refs[in.a] = ref;
  return true;
}

bool Machine::split(const Instruction &in) {
  ChunkRef ref = refs[in.b];
  int64_t parts = numbers[in.c];
  if (parts < 1 || parts > ref.count || ref.count % parts != 0)
    return fail(DiagId::CountMismatch,
                quantity(ref.count, "chunk") + " can't be split into " + std::to_string(parts) + " equal parts");
  listRegisters[in.a].reset();
  List *list = own(listRegisters[in.a], File::Chunk, static_cast<uint64_t>(parts), budget);
  if (!list)
    return listBudgetFailure();
  ref.count = static_cast<uint32_t>(ref.count / parts);
  for (int64_t i = 0; i < parts; ++i, ref.index += ref.count)
    list->chunks.push_back(ref);
  return countSteps(static_cast<uint64_t>(parts));
}

bool Machine::pushDirective(const Instruction &in) {
  int64_t value = numbers[in.a];
  Scope scope{scopes.back().directive, NoRegister};
  if (in.op == Op::PushChannel) {
    if (value < 0 || value > MaxChannel)
      return fail(DiagId::BadDirective,
                  "channel " + std::to_string(value) + "; it must be 0 to " + std::to_string(MaxChannel));
    scope.directive.channel = static_cast<int32_t>(value);
    scope.directive.channelSite = here();
  } else {
    if (value < 1 || value > MaxParallel)
      return fail(DiagId::BadDirective,
                  "parallelize (" + std::to_string(value) + "); it must be 1 to " + std::to_string(MaxParallel));
    uint64_t product = static_cast<uint64_t>(value) * scope.directive.parallel;
    if (product > static_cast<uint64_t>(MaxParallel)) {
      Failure failure{DiagId::BadDirective, "nested parallelize: " + std::to_string(product) +
                                                " instances of an operation; at most " + std::to_string(MaxParallel)};
      failure.notes.push_back(
          {scope.directive.parallelSite, std::to_string(scope.directive.parallel) + " of them from here"});
      return fail(failure);
    }
    scope.directive.parallel = static_cast<uint32_t>(product);
    scope.directive.parallelSite = here();
  }
  scopes.push_back(scope);
  return true;
}

/// Returns the number of a directive; equal directives have one number. The key of the map omits the source places,
/// because they seldom differ.
uint32_t Machine::intern(const ir::Directive &directive) {
  auto pair = [](int32_t high, uint32_t low) { return uint64_t(static_cast<uint32_t>(high)) << 32 | low; };
  uint64_t key = mix(mix(pair(directive.channel, directive.parallel)) ^
                     pair(directive.sendThreadBlock, static_cast<uint32_t>(directive.recvThreadBlock)));
  auto &ids = directiveIds[key >> 1]; // the map reserves the two largest keys
  for (uint32_t id : ids)
    if (program->directives[id] == directive)
      return id;
  ids.push_back(static_cast<uint32_t>(program->directives.size()));
  program->directives.push_back(directive);
  return ids.back();
}

bool Machine::directiveOf(const PlaceOperands &place, SourceRange site, uint32_t &id) {
  Scope &top = scopes.back();
  bool plain =
      place.channel == NoRegister && place.sendThreadBlock == NoRegister && place.recvThreadBlock == NoRegister;
  if (plain) {
    if (top.id == NoRegister)
      top.id = intern(top.directive);
    id = top.id;
    return true;
  }
  ir::Directive directive = top.directive;
  auto read = [&](uint32_t reg, int64_t limit, const char *what, int32_t &target) {
    if (reg == NoRegister)
      return true;
    int64_t value = numbers[reg];
    target = static_cast<int32_t>(value);
    return (value >= 0 && value <= limit) ||
           fail(DiagId::BadDirective,
                std::string(what) + " = " + std::to_string(value) + "; it must be 0 to " + std::to_string(limit));
  };
  if (place.channel != NoRegister)
    directive.channelSite = site;
  if (!read(place.channel, MaxChannel, "ch", directive.channel) ||
      !read(place.sendThreadBlock, MaxThreadBlock, "sendtb", directive.sendThreadBlock) ||
      !read(place.recvThreadBlock, MaxThreadBlock, "recvtb", directive.recvThreadBlock))
    return false;
  id = intern(directive);
  return true;
}

bool Machine::setNodes(int64_t nodes, int64_t ranksOfNode) {
  const int64_t ranks = collective->ranks();
  if (nodes < 1 || ranksOfNode < 1 || nodes > ranks || ranksOfNode != ranks / nodes || ranks % nodes != 0)
    return fail(DiagId::BadDirective, "nodes " + std::to_string(nodes) + " of " + std::to_string(ranksOfNode) +
                                          ": the program has " + quantity(ranks, "rank") +
                                          ", which must be the product of both numbers");
  settings.nodes = static_cast<uint32_t>(nodes);
  return true;
}

bool Machine::settingInstruction(const Instruction &in) {
  if (in.op == Op::SetProtocol) {
    settings.protocol = static_cast<ir::Protocol>(numbers[in.a]);
    return true;
  }
  if (in.op == Op::SetInstances) {
    int64_t value = numbers[in.a];
    if (value < 1 || value > MaxParallel)
      return fail(DiagId::BadDirective,
                  "instances " + std::to_string(value) + "; it must be 1 to " + std::to_string(MaxParallel));
    settings.instances = value;
    settings.instancesRange = here();
    return true;
  }
  if (in.op == Op::SetNodes)
    return setNodes(numbers[in.a], numbers[in.b]);
  int64_t low = numbers[in.a], high = numbers[in.b];
  if (low < 0 || low >= high)
    return fail(DiagId::BadDirective, "sizes " + std::to_string(low) + " .. " + std::to_string(high) +
                                          ": the first must be less than the second, and neither negative");
  settings.minBytes = static_cast<uint64_t>(low);
  settings.maxBytes = static_cast<uint64_t>(high);
  settings.sizesRange = here();
  return true;
}
