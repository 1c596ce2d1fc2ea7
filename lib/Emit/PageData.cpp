// SPDX-License-Identifier: Apache-2.0
// Writes the JSON of a page: shapes, thread blocks, steps with their data and times, the postcondition, the source
// text. Linear in the program and its replay, and in the source files that its steps come from.
#include "PageData.h"
#include "gc3/Emit/Replay.h"
#include "gc3/Support/JsonWriter.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::ir;

namespace {

class DataWriter {
public:
  DataWriter(JsonWriter &out, const Program &program, const emit::Replay &replay, const SourceManager &sources)
      : out(out), program(program), info(*program.info), collective(info.collective), sources(sources), replay(replay) {
  }
  void write();

private:
  template <typename Value>
  void member(const char *name, Value value);
  template <typename Range, typename Write>
  void list(const char *name, const Range &range, Write write);
  template <typename Get>
  void column(const char *name, Get get);

  void buffers();
  void place(uint32_t rank, BufferId buffer);
  void threadBlocks();
  void steps();
  void waits(uint32_t step);
  void moves();
  void postcondition();
  void promisedValue(uint32_t value);
  void source();
  uint32_t fileOf(SourceRange range);
  void site(SourceRange range, uint32_t file);

  JsonWriter &out;
  const Program &program;
  const ProgramInfo &info;
  const Collective &collective;
  const SourceManager &sources;
  const emit::Replay &replay;
  std::vector<unsigned> files; // LLVM's numbers of the files that the page shows
};

} // namespace

/// Converts a number for JSON; None becomes -1.
static int64_t number(uint32_t value) {
  return value == None ? -1 : static_cast<int64_t>(value);
}

template <typename Value>
void DataWriter::member(const char *name, Value value) {
  out.key(name);
  out.value(value);
}

template <typename Range, typename Write>
void DataWriter::list(const char *name, const Range &range, Write write) {
  out.key(name);
  out.array([&] {
    for (const auto &element : range)
      write(element);
  });
}

/// Writes an array with one number per step.
template <typename Get>
void DataWriter::column(const char *name, Get get) {
  list(name, program.steps, [&](const Step &step) { out.value(int64_t(get(step))); });
}

/// Writes the position of a rank's input or output: [buffer, first slot, number of slots].
void DataWriter::place(uint32_t rank, BufferId buffer) {
  Location first = canonical(collective, {rank, buffer, 0}, program.subdivision);
  out.value({first.buffer, number(first.index), number(collective.size(rank, buffer) * program.subdivision)});
}

void DataWriter::buffers() {
  out.key("buffers");
  out.array([&] {
    for (uint32_t buffer = 0; buffer != info.bufferCount(); ++buffer)
      out.value(info.bufferName(static_cast<BufferId>(buffer)));
  });
  list("sizes", program.bufferSizes, [&](uint32_t size) { out.value(number(size)); });
  for (BufferId buffer : {InputBuffer, OutputBuffer}) {
    out.key(buffer == InputBuffer ? "inputs" : "outputs");
    out.array([&] {
      for (uint32_t rank = 0; rank != collective.ranks; ++rank)
        place(rank, buffer);
    });
  }
}

void DataWriter::threadBlocks() {
  list("threadBlocks", program.threadBlocks, [&](const ThreadBlock &block) {
    out.object([&] {
      member("rank", number(block.rank));
      member("channel", number(block.channel));
      member("sendPeer", int64_t(block.sendPeer));
      member("recvPeer", int64_t(block.recvPeer));
      member("firstStep", number(block.firstStep));
      member("stepCount", number(block.stepCount));
    });
  });
}

void DataWriter::waits(uint32_t step) {
  const Wait *begin = program.waits.data() + program.steps[step].waitBegin;
  out.array([&] {
    for (const Wait *wait = begin; wait != begin + program.steps[step].waitCount; ++wait)
      out.value({number(wait->threadBlock), number(wait->step)});
  });
}

/// Writes an array per field of the steps instead of an object per step. This takes a third of the size, and browsers
/// read it faster.
void DataWriter::steps() {
  list("opcode", program.steps, [&](const Step &step) { out.value(name(step.opcode)); });
  column("srcBuffer", [](const Step &step) { return step.srcBuffer; });
  column("srcIndex", [](const Step &step) { return step.srcIndex; });
  column("dstBuffer", [](const Step &step) { return step.dstBuffer; });
  column("dstIndex", [](const Step &step) { return step.dstIndex; });
  column("count", [](const Step &step) { return step.count; });
  column("site", [](const Step &step) { return step.site; });
  list("tick", replay.tick, [&](uint32_t tick) { out.value(number(tick)); });
  list("sender", replay.messages.senderOf, [&](uint32_t step) { out.value(number(step)); });
  list("receiver", replay.messages.receiverOf, [&](uint32_t step) { out.value(number(step)); });
  out.key("waits");
  out.array([&] {
    for (uint32_t step = 0; step != program.steps.size(); ++step)
      waits(step);
  });
}

void DataWriter::moves() {
  list("values", replay.values, [&](uint32_t value) { out.value(number(value)); });
  list("sums", replay.sums, [&](const std::pair<uint32_t, uint32_t> &sum) {
    out.value({number(sum.first), number(sum.second)});
  });
}

void DataWriter::promisedValue(uint32_t value) {
  const Postcondition &post = collective.post;
  out.array([&] {
    for (uint32_t i = post.valueBegin[value]; i != post.valueBegin[value + 1]; ++i) {
      const Run &run = post.runs[i];
      out.value({number(run.rank), number(run.index), run.rankStride, run.indexStride, number(run.length)});
    }
  });
}

void DataWriter::postcondition() {
  const Postcondition &post = collective.post;
  out.key("values");
  out.array([&] {
    for (uint32_t value = 0; value != post.valueCount(); ++value)
      promisedValue(value);
  });
  list("rowOfRank", post.rowOfRank, [&](uint32_t row) { out.value(number(row)); });
  list("rowBegin", post.rowBegin, [&](uint32_t begin) { out.value(number(begin)); });
  list("rows", post.rows, [&](uint32_t value) { out.value(number(value)); });
}

/// Returns the index in `files` of the file that contains the range, or None for a range that does not come from text.
uint32_t DataWriter::fileOf(SourceRange range) {
  if (!range.isValid())
    return None;
  unsigned id = sources.llvmManager().FindBufferContainingLoc(sources.pointers(range).Start);
  auto known = std::find(files.begin(), files.end(), id);
  if (known == files.end())
    known = files.insert(known, id);
  return static_cast<uint32_t>(known - files.begin());
}

/// Returns the length of UTF-8 text in UTF-16 units, which JavaScript strings use.
static int64_t utf16Length(llvm::StringRef text) {
  int64_t length = 0;
  for (char c : text)
    length += ((c & 0xc0) != 0x80) + ((c & 0xf8) == 0xf0);
  return length;
}

/// Writes [file, line, column, end line, end column], all counted from 0. Writes null if `file` is None.
void DataWriter::site(SourceRange range, uint32_t file) {
  if (file == None) {
    out.null();
    return;
  }
  out.array([&] {
    out.value(number(file));
    for (uint32_t offset : {range.begin, range.end}) {
      SourceManager::LineColumn place = sources.place(offset);
      out.value(int64_t(place.line) - 1);
      out.value(utf16Length(sources.text({offset - (place.column - 1), offset})));
    }
  });
}

/// Writes sites and files. The first file is the file of the program itself. The other files that steps come from
/// follow.
void DataWriter::source() {
  fileOf(info.nameRange);
  std::vector<uint8_t> used(info.sites.size());
  for (const Step &step : program.steps)
    used[step.site] = 1;
  out.key("sites");
  out.array([&] {
    for (size_t i = 0; i != info.sites.size(); ++i)
      site(info.sites[i], used[i] != 0 ? fileOf(info.sites[i]) : None);
  });
  list("files", files, [&](unsigned id) {
    const llvm::MemoryBuffer *file = sources.llvmManager().getMemoryBuffer(id);
    out.object([&] {
      member("name", file->getBufferIdentifier());
      member("text", file->getBuffer());
    });
  });
}

void DataWriter::write() {
  out.object([&] {
    member("program", llvm::StringRef(info.name));
    member("collective", llvm::StringRef(collective.name));
    member("ranks", number(collective.ranks));
    member("protocol", name(info.protocol));
    member("subdivision", number(program.subdivision));
    member("slots", number(program.fifoSlots));
    member("ticks", number(replay.ticks));
    buffers();
    threadBlocks();
    out.key("steps");
    out.object([&] { steps(); });
    moves();
    out.key("post");
    out.object([&] { postcondition(); });
    source();
  });
}

void emit::writePageData(llvm::raw_ostream &out, const Program &program, const Replay &replay,
                         const SourceManager &sources) {
  JsonWriter json(out);
  DataWriter(json, program, replay, sources).write();
}
