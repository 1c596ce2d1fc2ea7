// SPDX-License-Identifier: Apache-2.0
// Parsers that the readers of the textual forms share; PrintParts.h has the printers.
#pragma once

#include "ReadPostcondition.h"
#include "gc3/IR/ChunkDag.h"

namespace gc3::ir {

/// Reads the common parts of GC3-IR and the Instruction DAG: names, the collective, buffers.
class ProgramReader {
public:
  /// `slots` is the number of slots in all buffers of earlier programs. The reader adds the slots of this program.
  ProgramReader(Scanner &scanner, const ReadOptions &options, uint64_t &slots)
      : scanner(scanner), options(options), info(std::make_shared<ProgramInfo>()), slots(slots) {}

  /// Reads the first line, whose first word is `level`, and the lines with the buffers and the postcondition.
  /// `fifoSlots` receives the `slots` setting of GC3-IR; null: the IR has no such setting.
  bool header(llvm::StringRef level, uint32_t *fifoSlots);
  /// Reads `rank R: input 3 ...`.
  bool rankLine(uint32_t rank);
  /// Evaluates the postcondition. Call after the last rank line.
  bool finishCollective();

  struct Slice {
    BufferId buffer = 0;
    uint32_t index = 0;
    uint32_t count = 0;
  };
  bool slice(Slice &slice);
  /// Reports that an operation reads and writes different numbers of slots, and returns false.
  bool countMismatch(uint32_t read, uint32_t written);
  /// Reads opcode and slices of an Instruction or a Step: `rrc input[0] -> input[0]`.
  template <typename Node>
  bool operation(Node &node) {
    Slice src, dst;
    if (!opcode(node.opcode) || (readsSrc(node.opcode) && !slice(src)) ||
        (writesDst(node.opcode) && !(scanner.expect("->") && slice(dst))))
      return false;
    if (readsSrc(node.opcode) && writesDst(node.opcode) && src.count != dst.count)
      return countMismatch(src.count, dst.count);
    node.srcBuffer = src.buffer;
    node.srcIndex = src.index;
    node.dstBuffer = dst.buffer;
    node.dstIndex = dst.index;
    node.count = std::max(src.count, dst.count);
    return true;
  }

  Scanner &scanner;
  const ReadOptions &options;
  std::shared_ptr<ProgramInfo> info;
  uint32_t subdivision = 1;
  std::vector<uint32_t> bufferSizes;

private:
  bool names(llvm::StringRef level);
  bool settings(uint32_t *fifoSlots);
  bool protocol();
  bool nodes();
  bool sizes();
  bool buffersLine();
  bool shape(BufferId buffer);
  bool alias(uint32_t rank);
  bool bufferSize(uint32_t rank);
  bool checkAlias(uint32_t rank, BufferId inner, uint32_t offset, SourceRange place);
  bool bufferId(BufferId &id);
  bool opcode(Opcode &opcode);
  uint32_t &sizeOf(uint32_t rank, BufferId buffer) { return bufferSizes[size_t(rank) * info->bufferCount() + buffer]; }

  std::vector<Promise> promises;
  uint64_t &slots; // number of slots in all buffers read so far
};

/// Adds the text to the sources and reads its programs. For each program, makes a Reader, whose run() stores the
/// program in the member `result`. Returns an empty vector after an error.
template <typename Reader, typename IR>
std::vector<IR> readPrograms(SourceManager &sources, Diagnostics &diags, llvm::StringRef name, llvm::StringRef text,
                             const ReadOptions &options, IR Reader::*result) {
  constexpr size_t mostBytes = size_t(256) << 20; // leaves memory for the programs
  uint32_t base = text.size() > mostBytes ? 0 : sources.add(name, text);
  if (base == 0) {
    diags.error(DiagId::TooLarge, {},
                "'" + name.str() + "' has " + std::to_string(text.size()) + " bytes; the text of an IR has at most " +
                    std::to_string(mostBytes));
    return {};
  }
  Scanner scanner(sources.text({base, base + static_cast<uint32_t>(text.size())}), base, diags);
  scanner.nextLine();
  if (scanner.atEnd())
    diags.error(DiagId::NoProgram, {}, "'" + name.str() + "' holds no program");
  std::vector<IR> programs;
  uint64_t slots = 0;
  while (!scanner.atEnd()) {
    Reader reader(scanner, options, slots);
    if (!reader.run())
      return {};
    programs.push_back(std::move(reader.*result));
  }
  return programs;
}

} // namespace gc3::ir
