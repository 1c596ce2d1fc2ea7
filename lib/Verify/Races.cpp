// SPDX-License-Identifier: Apache-2.0
// Finds races rank by rank, in the order of one execution. Compares every read with the last write of its slot.
// Compares every write with the reads since the last write. If there were no such reads, compares the write with the
// last write. Earlier accesses need no comparison, because they raced with the last write if they were not over before
// it. So a program in which one order shows no race has no race in any order.
#include "Stages.h"
#include <tuple>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::verify;

namespace {

class RaceFinder {
public:
  RaceFinder(const Program &program, const Connections &connections, const Order &order, const Options &options,
             std::vector<Finding> &findings)
      : program(program), orders(program, order),
        happensBefore(program, connections, orders, options.maxSlots / 8 + 16 * program.steps.size()),
        maxFindings(options.maxFindings), maxReaders(std::min<uint64_t>(options.maxSlots, mostEntries / 2)),
        findings(findings) {}

  void run();

private:
  static constexpr uint32_t NoEntry = ~uint32_t(0);
  static constexpr uint32_t ListBit = uint32_t(1) << 31;
  static constexpr size_t mostEntries = ListBit - 3; // leaves room for two more entries, whose references still differ
                                                     // from NoEntry
  /// The users of a slot; steps are counted within the rank.
  struct Slot {
    uint32_t writer = NoEntry;
    uint32_t readers = NoEntry; // since the last write: one step, or ListBit | the latest entry in `lists`
  };
  struct Reader {
    uint32_t step;
    uint32_t next; // next entry, or NoEntry
  };

  void startRank(uint32_t rank);
  void visit(StepOfBlock place);
  Slot *slotAt(BufferId buffer, uint32_t index) { return slots.data() + bufferBegin[buffer] + index; }
  void read(Slot &slot);
  void write(Slot &slot);
  void addReader(Slot &slot);
  uint32_t makeEntry(Reader reader);
  void dropOutdatedReaders();
  void compare(uint32_t earlier);
  void report(StepOfBlock earlier);
  void reportUndecided(StepOfBlock earlier);
  void stopSearch(std::string message, uint32_t site);
  bool enough() const { return undecided || findings.size() >= maxFindings; }

  const Program &program;
  RankOrders orders;
  HappensBefore happensBefore;
  uint32_t maxFindings;
  uint64_t maxReaders; // limit for all slots of a rank together
  std::vector<Finding> &findings;
  bool undecided = false; // true: the check would take too much time or memory

  // State of the current rank.
  uint32_t firstStep = 0;
  std::vector<uint32_t> blockOf;     // by step of the rank: its thread block
  std::vector<uint32_t> bufferBegin; // by buffer: its first slot
  std::vector<Slot> slots;
  std::vector<Reader> lists;
  uint32_t freeEntries = NoEntry; // first free entry in `lists`, or NoEntry
  size_t cleanupSize = 0;         // size of `lists` at which outdated entries are dropped
  std::vector<uint32_t> seenIn;   // by thread block of the rank: the last slot in whose list it was found

  // State of the current step.
  StepOfBlock current{};
  uint32_t currentStep = 0;    // number within the rank
  uint32_t compared = NoEntry; // the last step that was compared with the current one
};

} // namespace

void RaceFinder::startRank(uint32_t rank) {
  uint32_t buffers = program.info->bufferCount();
  firstStep = program.rankBegin[rank] == program.threadBlocks.size()
                  ? 0
                  : program.threadBlocks[program.rankBegin[rank]].firstStep;
  bufferBegin.assign(1, 0);
  for (BufferId buffer = 0; buffer != buffers; ++buffer)
    bufferBegin.push_back(bufferBegin.back() + program.bufferSize(rank, buffer));
  slots.assign(bufferBegin.back(), {});
  lists.clear();
  freeEntries = NoEntry;
  cleanupSize = std::min(slots.size(), mostEntries);
  blockOf.clear();
  for (uint32_t block = program.rankBegin[rank]; block != program.rankBegin[rank + 1]; ++block)
    blockOf.insert(blockOf.end(), program.threadBlocks[block].stepCount, block);
}

/// Reports a race unless `earlier` is over before the current step begins. Steps of one thread block are always
/// ordered.
void RaceFinder::compare(uint32_t earlier) {
  if (earlier == compared || blockOf[earlier] == current.block || enough())
    return;
  compared = earlier;
  StepOfBlock place{blockOf[earlier], firstStep + earlier - program.threadBlocks[blockOf[earlier]].firstStep};
  HappensBefore::Answer answer = happensBefore.order(place, current);
  if (answer == HappensBefore::Unordered)
    report(place);
  else if (answer == HappensBefore::OutOfBudget)
    reportUndecided(place);
}

/// Adds the current step to the slot's readers. The latest reader of a thread block represents all of its readers,
/// because a step that comes after the latest reader comes after all of them. If an older entry is not among the first
/// few, it stays until dropOutdatedReaders() drops all outdated entries.
void RaceFinder::addReader(Slot &slot) {
  static constexpr uint32_t few = 8;
  if (undecided)
    return;
  bool isList = slot.readers != NoEntry && slot.readers & ListBit;
  if (!isList && (slot.readers == NoEntry || blockOf[slot.readers] == current.block)) {
    slot.readers = currentStep;
    return;
  }
  if (freeEntries == NoEntry && lists.size() >= cleanupSize)
    dropOutdatedReaders();
  uint32_t list = isList ? slot.readers & ~ListBit : makeEntry({slot.readers, NoEntry});
  for (uint32_t entry = list, i = 0; entry != NoEntry && i != few; entry = lists[entry].next, ++i) {
    if (blockOf[lists[entry].step] == current.block) {
      lists[entry].step = currentStep;
      return;
    }
  }
  slot.readers = ListBit | makeEntry({currentStep, list});
}

uint32_t RaceFinder::makeEntry(Reader reader) {
  uint32_t entry = freeEntries;
  if (entry == NoEntry) {
    entry = static_cast<uint32_t>(lists.size());
    lists.push_back(reader);
  } else {
    freeEntries = lists[entry].next;
    lists[entry] = reader;
  }
  return entry;
}

/// Rebuilds all lists, slot by slot, with only the latest reader of each thread block. Takes time linear in slots and
/// entries. The next call follows only after as many new readers, so the cost per reader is constant.
void RaceFinder::dropOutdatedReaders() {
  uint32_t rank = program.threadBlocks[current.block].rank;
  uint32_t firstBlock = program.rankBegin[rank];
  seenIn.assign(program.rankBegin[rank + 1] - firstBlock, NoEntry);
  std::vector<Reader> kept;
  for (uint32_t slot = 0; slot != slots.size(); ++slot) {
    uint32_t readers = slots[slot].readers;
    if (readers == NoEntry || !(readers & ListBit))
      continue;
    slots[slot].readers = ListBit | static_cast<uint32_t>(kept.size());
    for (uint32_t entry = readers & ~ListBit; entry != NoEntry; entry = lists[entry].next) {
      uint32_t &seen = seenIn[blockOf[lists[entry].step] - firstBlock];
      if (seen != slot)
        kept.push_back({lists[entry].step, static_cast<uint32_t>(kept.size()) + 1});
      seen = slot;
    }
    kept.back().next = NoEntry;
  }
  cleanupSize = std::min(2 * kept.size() + slots.size(), mostEntries);
  if (kept.size() > maxReaders)
    stopSearch("thread blocks of rank " + std::to_string(rank) + " read slots more than " + std::to_string(maxReaders) +
                   " times before the slots are written again, too many to analyze; --max-slots allows more",
               None);
  lists = std::move(kept);
  freeEntries = NoEntry;
}

void RaceFinder::read(Slot &slot) {
  if (slot.writer != NoEntry)
    compare(slot.writer);
  addReader(slot);
}

/// Compares the current step with the readers, or with the last write if there are none. The readers have been compared
/// with the last write, and a step that comes after the readers also comes after that write.
void RaceFinder::write(Slot &slot) {
  if (slot.readers == NoEntry) {
    if (slot.writer != NoEntry)
      compare(slot.writer);
  } else if (slot.readers & ListBit) {
    for (uint32_t entry = slot.readers & ~ListBit, next = NoEntry; entry != NoEntry; entry = next) {
      compare(lists[entry].step);
      next = lists[entry].next;
      lists[entry].next = freeEntries;
      freeEntries = entry;
    }
  } else {
    compare(slot.readers);
  }
  slot = {currentStep, NoEntry};
}

/// Handles reads first: a step reads before it writes.
void RaceFinder::visit(StepOfBlock place) {
  if (enough())
    return;
  const Step &step = program.steps[program.threadBlocks[place.block].firstStep + place.step];
  current = place;
  currentStep = program.threadBlocks[place.block].firstStep + place.step - firstStep;
  compared = NoEntry;
  if (readsSrc(step.opcode))
    for (Slot *slot = slotAt(step.srcBuffer, step.srcIndex), *end = slot + step.count; slot != end; ++slot)
      read(*slot);
  if (writesDst(step.opcode))
    for (Slot *slot = slotAt(step.dstBuffer, step.dstIndex), *end = slot + step.count; slot != end; ++slot)
      write(*slot);
}

/// Returns `writes` or `reads` if the step does this to the slot, else null.
static const char *accessOf(const Step &step, BufferId buffer, uint32_t index) {
  auto holds = [&](BufferId other, uint32_t first) { return other == buffer && index - first < step.count; };
  if (writesDst(step.opcode) && holds(step.dstBuffer, step.dstIndex))
    return "writes";
  return readsSrc(step.opcode) && holds(step.srcBuffer, step.srcIndex) ? "reads" : nullptr;
}

/// Returns a slot that both steps access and one of them writes. There must be one.
static std::pair<BufferId, uint32_t> sharedSlot(const Step &a, const Step &b) {
  for (auto [writer, other] : {std::pair(&a, &b), std::pair(&b, &a)})
    if (writesDst(writer->opcode))
      for (uint32_t i = 0; i != writer->count; ++i)
        if (accessOf(*other, writer->dstBuffer, writer->dstIndex + i))
          return {writer->dstBuffer, writer->dstIndex + i};
  llvm_unreachable("a race without a slot");
}

void RaceFinder::report(StepOfBlock earlier) {
  const Step &first = program.steps[program.threadBlocks[earlier.block].firstStep + earlier.step];
  const Step &second = program.steps[program.threadBlocks[current.block].firstStep + current.step];
  BufferId buffer;
  uint32_t index;
  std::tie(buffer, index) = sharedSlot(first, second); // clang 14 can't capture structured bindings in lambdas
  std::string slot = program.info->bufferName(buffer) + "[" + std::to_string(index) + "]";
  auto describeAccess = [&](StepOfBlock place, const Step &step) {
    return describe(program, place.block, place.step) + " " + accessOf(step, buffer, index) + " it";
  };
  const ThreadBlock &block = program.threadBlocks[current.block];
  uint32_t firstBlock = program.rankBegin[block.rank];
  std::string message =
      "rank " + std::to_string(block.rank) + ": thread blocks " + std::to_string(earlier.block - firstBlock) + " and " +
      std::to_string(current.block - firstBlock) + " race for " + slot + ": no wait or message orders them";
  findings.push_back({Finding::Race,
                      std::move(message),
                      second.site,
                      {{describeAccess(earlier, first), first.site}, {describeAccess(current, second), second.site}}});
}

/// Ends the search. Adds the message only if no race has been found, because one race suffices to reject the program.
void RaceFinder::stopSearch(std::string message, uint32_t site) {
  undecided = true;
  if (findings.empty())
    findings.push_back({Finding::TooLarge, std::move(message), site, {}});
}

void RaceFinder::reportUndecided(StepOfBlock earlier) {
  stopSearch("the check whether " + describe(program, earlier.block, earlier.step) + " is over before " +
                 describe(program, current.block, current.step) +
                 " begins takes too long; add a wait between the two, or allow more with --max-slots",
             program.steps[firstStep + currentStep].site);
}

void RaceFinder::run() {
  for (uint32_t rank = 0; rank != program.ranks() && !enough(); ++rank) {
    startRank(rank);
    orders.forEachStep(rank, [&](uint32_t block, uint32_t step) { visit({block, step}); });
  }
}

void gc3::verify::findRaces(const Program &program, const Connections &connections, const Order &order,
                            const Options &options, std::vector<Finding> &findings) {
  RaceFinder(program, connections, order, options, findings).run();
}
