// SPDX-License-Identifier: Apache-2.0
// One line of help for each id, for --explain, for the rules of a SARIF log, and for docs/diagnostics.md.
#include "gc3/Support/Diagnostics.h"
#include <iterator>

using namespace gc3;

namespace {
struct Entry {
  DiagId id;
  std::string_view help;
};
} // namespace

static constexpr Entry entries[] = {
    {DiagId::CannotRead, "a file can't be read, or a bundle is damaged"},
    {DiagId::CannotWrite, "a file can't be written, or it would replace an input"},
    {DiagId::NotUtf8, "the text of a file is not UTF-8"},
    {DiagId::TooLarge,
     "a source of more than 8 MiB, the text of an IR of more than 256 MiB, or a function with too many variables"},
    {DiagId::Syntax, "the text does not follow the grammar; the message names the expected and the found token"},
    {DiagId::TooDeep, "nested too deep, or too long a chain of imports"},
    {DiagId::BadLiteral, "a number that is too large, an unknown escape, or an unpaired brace in a string"},
    {DiagId::UnknownName, "nothing of that name is known here"},
    {DiagId::Redefinition, "a name is defined, or a setting or clause given, twice"},
    {DiagId::ImportNotFound, "no file has the imported name: next to the importing file, along -I, or in std"},
    {DiagId::ImportCycle, "a file imports itself, perhaps through others"},
    {DiagId::UnknownParam, "-D sets a param that the file does not have"},
    {DiagId::BadParamValue, "the value of a param is not an expression, not of its type, or not in its list of values"},
    {DiagId::TypeMismatch, "a value has another type than its place needs"},
    {DiagId::WrongArguments, "a call has too many arguments, lacks one, or gives one twice"},
    {DiagId::NotAssignable, "only variables declared with 'var', and their elements, can be assigned"},
    {DiagId::Misplaced, "a statement is not allowed here: return, break, continue, or a setting"},
    {DiagId::MissingReturn, "a function can end without returning its value"},
    {DiagId::NotConstant, "a value is needed before it is known: a param uses a later one, or a setting uses a local"},
    {DiagId::Overflow, "the result does not fit into a 64-bit int"},
    {DiagId::DivisionByZero, "a division by zero"},
    {DiagId::BadOperand, "an operand is not valid: a shift outside 0 to 63, log2 of a number that is no power of two, "
                         "a range by 0, or min or max of an empty list"},
    {DiagId::IndexOutOfRange, "a list has no element of that index"},
    {DiagId::AssertFailed, "an assert of the program, or of a collective or function that it uses, does not hold"},
    {DiagId::Remark, "a remark of the program, which compiles"},
    {DiagId::StepBudget, "the evaluation takes too many steps, perhaps without an end; --max-steps allows more"},
    {DiagId::OperationBudget, "too many chunk operations, or too many instructions; --max-ops allows more"},
    {DiagId::SlotBudget,
     "buffers have too many chunks, or operations move or read too many of them; --max-slots allows more"},
    {DiagId::ListBudget, "lists have too many elements, or strings too many bytes, at one time"},
    {DiagId::RecursionLimit, "calls are nested too deep, perhaps without an end"},
    {DiagId::RankOutOfRange, "there is no such rank"},
    {DiagId::ChunkOutOfRange, "the buffer has no such chunk"},
    {DiagId::NoSuchBuffer, "this rank has no such buffer in this collective"},
    {DiagId::Uninitialised, "a chunk is read before anything was written to it"},
    {DiagId::StaleReference, "a reference is used after its data was overwritten"},
    {DiagId::CountMismatch, "operands have different numbers of chunks, or parts are not equal"},
    {DiagId::Overlap, "a copy overlaps its source, or a reduction overlaps its operand"},
    {DiagId::BadShape, "a collective lacks a clause, or has a buffer or a reduction without chunks"},
    {DiagId::BadAlias, "an alias does not place one buffer of a rank inside the other"},
    {DiagId::ConflictingEnsures, "a collective promises two values for one chunk"},
    {DiagId::Postcondition, "the program does not do what its collective promises"},
    {DiagId::NoProgram, "the file holds no program, or none of that name"},
    {DiagId::SizesOverlap, "two programs of one collective are for the same sizes"},
    {DiagId::SizesGap, "no program of a collective is for some sizes between those of two programs"},
    {DiagId::TwoMeanings,
     "two programs implement a collective of one name and arguments that promise different contents"},
    {DiagId::NotStandard, "a collective has the name of a standard one, but other buffers or promises"},
    {DiagId::BadDirective, "a channel, factor, size or thread block is out of range"},
    {DiagId::Subdivision, "parallel instances divide the chunks into too many slots"},
    {DiagId::ThreadBlockConflict, "a thread block would have more peers or channels than it can"},
    {DiagId::TooManyThreadBlocks, "a rank needs more thread blocks than the limit; --max-threadblocks allows more"},
    {DiagId::TooManyChannels, "the program needs more channels than the limit"},
    {DiagId::Unverified, "a program from an IR, MSCCL XML or a bundle deadlocks, races, or does not keep its promise"},
    {DiagId::BadAttribute, "an attribute of MSCCL XML is missing, unknown to the format, or out of range"},
    {DiagId::BadNumbering, "ranks, thread blocks or steps of MSCCL XML are not numbered 0, 1, 2, ... in order"},
    {DiagId::BadWait,
     "MSCCL XML waits for a step that does not exist or never signals its completion, or has a nop without a wait"},
    {DiagId::MergedReductions, "the runtimes merge consecutive reductions of MSCCL XML, and the result differs"},
    {DiagId::SeveralPrograms, "the output can hold only one program; --program chooses one"},
    {DiagId::Inexpressible, "MSCCL XML cannot express this"},
    {DiagId::RuntimeLimit, "the runtimes that read MSCCL XML would reject this"},
    {DiagId::PictureLimit, "too large for a picture; --max-picture allows more"},
    {DiagId::BadTopology,
     "--topology is not readable or seems incomplete, or a program sends between ranks that it does not connect"},
};

static constexpr bool areInOrder() {
  for (size_t i = 0; i != std::size(entries); ++i)
    if (static_cast<size_t>(entries[i].id) != i)
      return false;
  return std::size(entries) == static_cast<size_t>(DiagId::Count);
}
static_assert(areInOrder(), "each DiagId has its entry, in the order of the ids");

std::string_view gc3::help(DiagId id) {
  return entries[static_cast<size_t>(id)].help;
}
