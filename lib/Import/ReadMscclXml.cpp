// SPDX-License-Identifier: Apache-2.0
// Reads the elements of an MSCCL file in their order: <algo>, its <gpu>s, their <tb>s, their <step>s. Checks all values
// of a file, so that one run reports all wrong ones. A misplaced element ends the import.
#include "MscclRank.h"
#include "gc3/IR/Read.h"
#include "gc3/Import/MscclXml.h"
#include "gc3/Support/Quantity.h"
#include "gc3/Support/SourceManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace gc3;
using namespace gc3::imports;
using namespace gc3::ir;

static constexpr size_t maxText = size_t(512) << 20; // Expat's buffers are twice as large, and limited to 2^30 bytes
static constexpr uint32_t maxChunks = 1u << 15;      // per buffer: offsets of the runtimes have 16 bits
static constexpr uint32_t maxChannel = 65535;

namespace {

class Reader {
public:
  Reader(Diagnostics &diags, uint64_t maxSlots) : diags(diags), maxSlots(maxSlots), unknown(diags) {}

  bool begin(const XmlTag &tag);
  bool end();
  MscclAlgorithm algorithm;

private:
  /// The element that contains the next one.
  enum Level : uint8_t { Text, Algo, Gpu, ThreadBlock, Step };

  void beginAlgo(const Attributes &tag);
  void readName(const Attributes &tag);
  void readCollective(const Attributes &tag);
  void readModes(const Attributes &tag);
  void readSizes(const Attributes &tag, bool inclusive);
  void beginGpu(const Attributes &tag);
  void beginThreadBlock(const Attributes &tag);
  int32_t peer(const Attributes &tag, const char *key);
  void checkNumber(const Attributes &tag, const char *key, size_t wanted, const char *what);
  void endAlgo();

  Diagnostics &diags;
  uint64_t maxSlots;
  UnknownAttributes unknown;
  Level level = Text;
  uint32_t skipped = 0; ///< number of open elements that are skipped
  SourceRange range;    ///< place of the root element
  uint32_t channels = 0;
  uint64_t scratch = 0; ///< scratch chunks of all ranks so far
  std::optional<MscclRank> rank;
};

} // namespace

/// Indexed by Level: the element that is allowed there, and its attributes.
static const struct {
  const char *name;
  std::vector<llvm::StringRef> attributes;
} elements[] = {
    {"algo",
     {"name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace", "outofplace", "minBytes", "maxBytes",
      "redop"}},
    {"gpu", {"id", "i_chunks", "o_chunks", "s_chunks"}},
    {"tb", {"id", "send", "recv", "chan"}},
    {"step", {"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"}},
};

void Reader::checkNumber(const Attributes &tag, const char *key, size_t wanted, const char *what) {
  if (!tag.require(key))
    return;
  unsigned before = diags.errorCount();
  int64_t number = tag.number(key, 0, UINT32_MAX);
  if (diags.errorCount() == before && static_cast<uint64_t>(number) != wanted)
    tag.error(DiagId::BadNumbering, key,
              std::string("expected ") + what + " " + std::to_string(wanted) + ", found " + std::to_string(number) +
                  "; they are numbered from 0 in their order");
}

/// Reads the name of the program. Names are words in the IR's text, so other characters become `_`.
void Reader::readName(const Attributes &tag) {
  const char *value = tag.tag.find("name");
  std::string name = value ? value : "algorithm";
  for (char &c : name)
    c = llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name[0]))
    name.insert(name.begin(), '_');
  algorithm.info.name = name;
  algorithm.info.nameRange = tag.tag.place("name");
}

void Reader::readCollective(const Attributes &tag) {
  static constexpr Word<const char *> names[] = {{"allreduce", "allreduce"},
                                                 {"allgather", "allgather"},
                                                 {"reduce_scatter", "reduce_scatter"},
                                                 {"reducescatter", "reduce_scatter"},
                                                 {"alltoall", "alltoall"},
                                                 {"broadcast", "broadcast"},
                                                 {"reduce", "reduce"},
                                                 {"custom", "custom"}};
  tag.require("coll");
  algorithm.info.collective.name = tag.word<const char *>("coll", names).value_or("custom");
  algorithm.collectiveRange = tag.tag.place("coll");
}

/// Reads whether the file serves in-place and out-of-place calls. A file without `outofplace` serves calls in place if
/// `inplace` is set, else calls out of place.
void Reader::readModes(const Attributes &tag) {
  unsigned before = diags.errorCount();
  algorithm.inPlace = tag.flag("inplace", false);
  algorithm.outOfPlace = tag.flag("outofplace", !algorithm.inPlace);
  if (diags.errorCount() == before && !algorithm.inPlace && !algorithm.outOfPlace)
    tag.error(DiagId::BadAttribute, "outofplace", "'inplace' and 'outofplace' are both 0: the file is for no call");
}

/// Reads the sizes of calls. RCCL's files have `outofplace`, and their range includes maxBytes; in msccl's files the
/// range excludes it. 0 means no limit.
void Reader::readSizes(const Attributes &tag, bool inclusive) {
  static constexpr int64_t most = std::numeric_limits<int64_t>::max();
  int64_t first = tag.number("minBytes", 0, most, 0);
  int64_t last = tag.number("maxBytes", 0, most, 0);
  ProgramInfo &info = algorithm.info;
  info.sizesRange = tag.tag.place("maxBytes");
  info.minBytes = static_cast<uint64_t>(first);
  bool noLimit = last == 0 || (!inclusive && last == most);
  info.maxBytes = noLimit ? ProgramInfo::NoLimit : static_cast<uint64_t>(last) + inclusive;
  if (info.minBytes >= info.maxBytes)
    tag.error(DiagId::BadAttribute, "maxBytes",
              "no call has " + std::to_string(first) + " bytes or more and " + (inclusive ? "at most " : "less than ") +
                  std::to_string(last));
}

void Reader::beginAlgo(const Attributes &tag) {
  static constexpr Word<Protocol> protocols[] = {
      {"Simple", Protocol::Simple}, {"LL", Protocol::LL}, {"LL128", Protocol::LL128}};
  range = tag.tag.range;
  readName(tag);
  readCollective(tag);
  tag.require("proto");
  algorithm.info.protocol = tag.word<Protocol>("proto", protocols).value_or(Protocol::Simple);
  algorithm.info.collective.ranks = tag.count("ngpus", 1, MaxRanks);
  algorithm.chunks = tag.count("nchunksperloop", 1, maxChunks);
  algorithm.chunksRange = tag.tag.place("nchunksperloop");
  channels = tag.count("nchannels", 1, maxChannel + 1, maxChannel + 1);
  readModes(tag);
  readSizes(tag, tag.tag.find("outofplace") != nullptr);
  if (uint64_t(algorithm.info.collective.ranks) * algorithm.chunks > maxSlots)
    tag.error(DiagId::SlotBudget, "nchunksperloop",
              "a buffer of all ranks would have more than " + quantity(maxSlots, "slot") + "; --max-slots allows more");
}

void Reader::beginGpu(const Attributes &tag) {
  checkNumber(tag, "id", algorithm.sizes.size(), "gpu");
  MscclAlgorithm::Sizes sizes{tag.count("i_chunks", 0, maxChunks, 0), tag.count("o_chunks", 0, maxChunks, 0),
                              tag.count("s_chunks", 0, maxChunks, 0)};
  scratch += sizes.scratch;
  if (scratch > maxSlots)
    tag.error(DiagId::SlotBudget, "s_chunks",
              "the scratch buffers of all ranks have more than " + quantity(maxSlots, "slot") +
                  "; --max-slots allows more");
  algorithm.sizes.push_back(sizes);
  rank.emplace(algorithm, diags);
}

int32_t Reader::peer(const Attributes &tag, const char *key) {
  int64_t own = static_cast<int64_t>(algorithm.sizes.size()) - 1;
  int64_t peer = tag.number(key, -1, int64_t(algorithm.info.collective.ranks) - 1, -1);
  if (peer == own)
    tag.error(DiagId::RankOutOfRange, key, "gpu " + std::to_string(own) + " has itself for a peer");
  return static_cast<int32_t>(peer);
}

void Reader::beginThreadBlock(const Attributes &tag) {
  Program &program = algorithm.program;
  auto own = static_cast<uint32_t>(algorithm.sizes.size()) - 1;
  checkNumber(tag, "id", program.threadBlocks.size() - program.rankBegin.back(), "tb");
  int32_t send = peer(tag, "send");
  int32_t recv = peer(tag, "recv");
  uint32_t channel = tag.count("chan", 0, channels - 1);
  auto site = static_cast<uint32_t>(algorithm.info.sites.size());
  algorithm.info.sites.push_back(tag.tag.range);
  rank->beginThreadBlock({own, channel, send, recv, static_cast<uint32_t>(program.steps.size()), 0, site});
}

/// Skips `<copy>` elements of older files in a `<gpu>`, as the runtimes do.
bool Reader::begin(const XmlTag &tag) {
  if (skipped != 0 || (level == Gpu && tag.name == "copy")) {
    ++skipped;
    return true;
  }
  if (level == Step || tag.name != elements[level].name) {
    std::string wanted = level == Step ? "</step>" : "<" + std::string(elements[level].name) + ">";
    diags.error(DiagId::Syntax, {tag.range.begin, tag.range.begin + 1 + static_cast<uint32_t>(tag.name.size())},
                "expected " + wanted + ", found another element");
    return false;
  }
  unknown.check(tag, elements[level].attributes);
  Attributes attributes(tag, diags);
  switch (level) {
  case Text: beginAlgo(attributes); break;
  case Algo: beginGpu(attributes); break;
  case Gpu: beginThreadBlock(attributes); break;
  case ThreadBlock:
    checkNumber(attributes, "s", rank->stepCount(), "step");
    rank->step(attributes);
    break;
  case Step: break;
  }
  level = static_cast<Level>(level + 1);
  return !diags.limitReached();
}

void Reader::endAlgo() {
  uint32_t ranks = algorithm.info.collective.ranks;
  if (!diags.hasErrors() && algorithm.sizes.size() != ranks)
    diags.error(DiagId::BadNumbering, range,
                "'ngpus' is " + std::to_string(ranks) + ", and there are " + std::to_string(algorithm.sizes.size()) +
                    " <gpu> elements");
}

bool Reader::end() {
  if (skipped != 0) {
    --skipped;
    return true;
  }
  level = static_cast<Level>(level - 1);
  switch (level) {
  case Text: endAlgo(); break;
  case Algo: rank->end(); break;
  case Gpu: rank->endThreadBlock(); break;
  case ThreadBlock:
  case Step: break;
  }
  return !diags.limitReached();
}

std::optional<MscclAlgorithm> gc3::imports::readMscclXml(SourceManager &sources, Diagnostics &diags,
                                                         llvm::StringRef name, llvm::StringRef text,
                                                         uint64_t maxSlots) {
  uint32_t base = text.size() > maxText ? 0 : sources.add(name, text);
  if (base == 0) {
    diags.error(DiagId::TooLarge, {},
                "'" + name.str() + "' has " + std::to_string(text.size() >> 20) + " MiB, and MSCCL XML is read up to " +
                    std::to_string(maxText >> 20));
    return std::nullopt;
  }
  unsigned before = diags.errorCount();
  Reader reader(diags, maxSlots);
  bool good = readXml(
      text, base, diags, [&](const XmlTag &tag) { return reader.begin(tag); }, [&] { return reader.end(); });
  if (!good || diags.errorCount() != before)
    return std::nullopt;
  return std::move(reader.algorithm);
}
