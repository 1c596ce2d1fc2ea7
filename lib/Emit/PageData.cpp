// SPDX-License-Identifier: Apache-2.0
// The JSON of a page: shapes, thread blocks, steps with what they move and when, the postcondition, the source text.
// Linear in the program and its replay, and in the source files that its steps come from.
#include "PageData.h"
#include "gc3/Emit/Replay.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace gc3;
using namespace gc3::ir;
namespace json = llvm::json;

namespace {

class DataWriter {
public:
  DataWriter(json::OStream &out, const Program &program, const SourceManager &sources)
      : out(out), program(program), info(*program.info), collective(info.collective), sources(sources),
        replay(emit::replay(program)) {}
  void write();

private:
  template <typename Range, typename Write>
  void list(const char *name, const Range &range, Write write);
  template <typename Get>
  void column(const char *name, Get get);

  void buffers();
  void place(uint32_t rank, BufferId buffer);
  void threadBlocks();
  void steps();
  void postcondition();
  void source();
  uint32_t fileOf(SourceRange range);
  void site(SourceRange range, uint32_t file);

  json::OStream &out;
  const Program &program;
  const ProgramInfo &info;
  const Collective &collective;
  const SourceManager &sources;
  const emit::Replay replay;
  std::vector<unsigned> files; // LLVM's numbers of the files that steps come from
};

} // namespace

/// JSON's numbers; None is -1.
static int64_t number(uint32_t value) {
  return value == None ? -1 : static_cast<int64_t>(value);
}

template <typename Range, typename Write>
void DataWriter::list(const char *name, const Range &range, Write write) {
  out.attributeArray(name, [&] {
    for (const auto &element : range)
      write(element);
  });
}

/// One number of every step.
template <typename Get>
void DataWriter::column(const char *name, Get get) {
  out.attributeArray(name, [&] {
    for (uint32_t step = 0; step != program.steps.size(); ++step)
      out.value(get(step));
  });
}

/// Where the input or output of a rank lies: [buffer, first slot, slots].
void DataWriter::place(uint32_t rank, BufferId buffer) {
  Location first = canonical(collective, {rank, buffer, 0}, program.subdivision);
  out.array([&] {
    out.value(static_cast<int64_t>(first.buffer));
    out.value(number(first.index));
    out.value(number(collective.size(rank, buffer) * program.subdivision));
  });
}

void DataWriter::buffers() {
  out.attributeArray("buffers", [&] {
    for (uint32_t buffer = 0; buffer != info.bufferCount(); ++buffer)
      out.value(json::fixUTF8(info.bufferName(static_cast<BufferId>(buffer))));
  });
  list("sizes", program.bufferSizes, [&](uint32_t size) { out.value(number(size)); });
  for (BufferId buffer : {InputBuffer, OutputBuffer})
    out.attributeArray(buffer == InputBuffer ? "inputs" : "outputs", [&] {
      for (uint32_t rank = 0; rank != collective.ranks; ++rank)
        place(rank, buffer);
    });
}

void DataWriter::threadBlocks() {
  list("threadBlocks", program.threadBlocks, [&](const ThreadBlock &block) {
    out.object([&] {
      out.attribute("rank", number(block.rank));
      out.attribute("channel", number(block.channel));
      out.attribute("sendPeer", static_cast<int64_t>(block.sendPeer));
      out.attribute("recvPeer", static_cast<int64_t>(block.recvPeer));
      out.attribute("firstStep", number(block.firstStep));
      out.attribute("stepCount", number(block.stepCount));
    });
  });
}

void DataWriter::steps() {
  out.attributeObject("steps", [&] {
    column("opcode", [&](uint32_t step) { return json::Value(name(program.steps[step].opcode)); });
    column("srcBuffer", [&](uint32_t step) { return static_cast<int64_t>(program.steps[step].srcBuffer); });
    column("srcIndex", [&](uint32_t step) { return number(program.steps[step].srcIndex); });
    column("dstBuffer", [&](uint32_t step) { return static_cast<int64_t>(program.steps[step].dstBuffer); });
    column("dstIndex", [&](uint32_t step) { return number(program.steps[step].dstIndex); });
    column("count", [&](uint32_t step) { return number(program.steps[step].count); });
    column("tick", [&](uint32_t step) { return number(replay.tick[step]); });
    column("sender", [&](uint32_t step) { return number(replay.messages.senderOf[step]); });
    column("receiver", [&](uint32_t step) { return number(replay.messages.receiverOf[step]); });
    column("site", [&](uint32_t step) { return number(program.steps[step].site); });
    column("waits", [&](uint32_t step) {
      json::Array waits; // of [thread block of the rank, step of the thread block]
      for (uint32_t i = 0; i != program.steps[step].waitCount; ++i) {
        const Wait &wait = program.waits[program.steps[step].waitBegin + i];
        waits.push_back(json::Array{number(wait.threadBlock), number(wait.step)});
      }
      return json::Value(std::move(waits));
    });
  });
  list("values", replay.values, [&](uint32_t value) { out.value(number(value)); });
  list("sums", replay.sums, [&](const std::pair<uint32_t, uint32_t> &sum) {
    out.value(json::Array{number(sum.first), number(sum.second)});
  });
}

void DataWriter::postcondition() {
  const Postcondition &post = collective.post;
  out.attributeObject("post", [&] {
    out.attributeArray("values", [&] {
      for (uint32_t value = 0; value != post.valueCount(); ++value)
        out.array([&] {
          for (uint32_t i = post.valueBegin[value]; i != post.valueBegin[value + 1]; ++i) {
            const Run &run = post.runs[i];
            out.value(json::Array{number(run.rank), number(run.index), static_cast<int64_t>(run.rankStride),
                                  static_cast<int64_t>(run.indexStride), number(run.length)});
          }
        });
    });
    list("rowOfRank", post.rowOfRank, [&](uint32_t row) { out.value(number(row)); });
    list("rowBegin", post.rowBegin, [&](uint32_t begin) { out.value(number(begin)); });
    list("rows", post.rows, [&](uint32_t value) { out.value(number(value)); });
  });
}

/// Index into `files`; steps that were not made from text have none.
uint32_t DataWriter::fileOf(SourceRange range) {
  if (!range.isValid())
    return None;
  unsigned id = sources.llvmManager().FindBufferContainingLoc(sources.pointers(range).Start);
  auto known = std::find(files.begin(), files.end(), id);
  if (known == files.end())
    known = files.insert(known, id);
  return static_cast<uint32_t>(known - files.begin());
}

/// The units of a browser's strings in UTF-8 text.
static int64_t utf16Length(llvm::StringRef text) {
  int64_t length = 0;
  for (char c : text)
    length += ((c & 0xc0) != 0x80) + ((c & 0xf8) == 0xf0);
  return length;
}

/// [file, line, column, end's line, end's column], all from 0, or null.
void DataWriter::site(SourceRange range, uint32_t file) {
  if (file == None) {
    out.value(nullptr);
    return;
  }
  out.array([&] {
    out.value(number(file));
    for (uint32_t offset : {range.begin, range.end}) {
      SourceManager::Place place = sources.place(offset);
      out.value(static_cast<int64_t>(place.line) - 1);
      out.value(utf16Length(sources.text({offset - (place.column - 1), offset})));
    }
  });
}

void DataWriter::source() {
  std::vector<uint8_t> used(info.sites.size());
  for (const Step &step : program.steps)
    used[step.site] = 1;
  out.attributeArray("sites", [&] {
    for (size_t i = 0; i != info.sites.size(); ++i)
      site(info.sites[i], used[i] != 0 ? fileOf(info.sites[i]) : None);
  });
  list("files", files, [&](unsigned id) {
    const llvm::MemoryBuffer *file = sources.llvmManager().getMemoryBuffer(id);
    out.object([&] {
      out.attribute("name", json::fixUTF8(file->getBufferIdentifier()));
      out.attribute("text", json::fixUTF8(file->getBuffer()));
    });
  });
}

void DataWriter::write() {
  out.object([&] {
    out.attribute("program", json::fixUTF8(info.name));
    out.attribute("collective", json::fixUTF8(collective.name));
    out.attribute("ranks", number(collective.ranks));
    out.attribute("protocol", name(info.protocol));
    out.attribute("subdivision", number(program.subdivision));
    out.attribute("slots", number(program.fifoSlots));
    out.attribute("ticks", number(replay.ticks));
    buffers();
    threadBlocks();
    steps();
    postcondition();
    source();
  });
}

std::string emit::pageData(const Program &program, const SourceManager &sources) {
  std::string plain;
  llvm::raw_string_ostream stream(plain);
  json::OStream out(stream);
  DataWriter(out, program, sources).write();
  stream.flush();
  std::string safe;
  for (char c : plain) { // text of the user must not end the script element; `<` occurs in strings only
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}
