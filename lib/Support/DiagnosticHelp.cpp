// SPDX-License-Identifier: Apache-2.0
// One line of help for each id, used by --explain, by the rules of a SARIF log, and so by docs/diagnostics.md.
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
    {DiagId::CannotWrite, "a file can't be written, or it would replace what is read"},
    {DiagId::NotUtf8, "the text of a file is not UTF-8"},
    {DiagId::TooLarge,
     "a source of more than 8 MiB, the text of an IR of more than 256, or a function with too many variables"},
    {DiagId::Syntax, "the text is not of the grammar: what was expected here, and what is there"},
    {DiagId::TooDeep, "nested too deep, or too long a chain of imports"},
    {DiagId::BadLiteral, "a number that is too large, an unknown escape, or an unpaired brace in a string"},
    {DiagId::UnknownName, "nothing of that name is known here"},
    {DiagId::Redefinition, "a name is defined, or a setting or clause given, twice"},
    {DiagId::ImportNotFound, "no file of that name to import, neither beside the file, nor along -I, nor in std"},
    {DiagId::ImportCycle, "a file imports itself, perhaps through others"},
    {DiagId::UnknownParam, "-D sets a param that the file does not have"},
    {DiagId::BadParamValue, "the value of a -D is no expression, or not of the param's type"},
    {DiagId::TypeMismatch, "a value of one type stands where another type is needed"},
    {DiagId::WrongArguments, "a call has an argument too many, lacks one, or gives one twice"},
    {DiagId::NotAssignable, "only variables, declared with 'var', and elements of theirs can be assigned"},
    {DiagId::Misplaced, "a statement stands where it can't: return, break, continue, or a setting"},
    {DiagId::MissingReturn, "a function can end without returning its value"},
    {DiagId::NotConstant, "a value is needed before it is known: a param of a later one, a setting of a local"},
    {DiagId::Overflow, "the result does not fit into a 64-bit int"},
    {DiagId::DivisionByZero, "a division by zero"},
    {DiagId::BadOperand, "no such shift, no power of two for log2, a range by 0, or min or max of nothing"},
    {DiagId::IndexOutOfRange, "a list has no element of that index"},
    {DiagId::AssertFailed, "an assert of the program, or of a collective or function that it uses, does not hold"},
    {DiagId::Remark, "what a remark of the program says; all is well"},
    {DiagId::StepBudget, "the program runs too long, perhaps without an end; --max-steps allows more"},
    {DiagId::OperationBudget, "too many chunk operations, or instructions made of them; --max-ops allows more"},
    {DiagId::SlotBudget, "buffers with too many chunks, or too many of them moved or read; --max-slots allows more"},
    {DiagId::ListBudget, "lists with too many elements, or strings with too many bytes, at one time"},
    {DiagId::RecursionLimit, "calls inside calls without an end"},
    {DiagId::RankOutOfRange, "there is no such rank"},
    {DiagId::ChunkOutOfRange, "the buffer has no such chunk"},
    {DiagId::NoSuchBuffer, "this rank has no such buffer in this collective"},
    {DiagId::Uninitialised, "a chunk is read before anything was written to it"},
    {DiagId::StaleReference, "a reference is used after its data was overwritten"},
    {DiagId::CountMismatch, "operands of different numbers of chunks, or parts that are not equal"},
    {DiagId::Overlap, "a copy onto a part of itself, or a reduction of chunks with themselves"},
    {DiagId::BadShape, "a collective lacks a clause, or has a buffer or a reduction of nothing"},
    {DiagId::BadAlias, "input and output of a rank don't lie inside one another as an alias says"},
    {DiagId::ConflictingEnsures, "a collective promises two values for one chunk"},
    {DiagId::Postcondition, "the program does not do what its collective promises"},
    {DiagId::NoProgram, "the file holds no program, or none of that name"},
    {DiagId::SizesOverlap, "two programs of one collective are for the same sizes"},
    {DiagId::NotStandard, "a collective has the name of a standard one, and other buffers or promises"},
    {DiagId::BadDirective, "a channel, factor, size or thread block out of range"},
    {DiagId::Subdivision, "parallel instances cut the chunks too fine"},
    {DiagId::ThreadBlockConflict, "one thread block is asked for more than one can do"},
    {DiagId::TooManyThreadBlocks, "a rank needs more thread blocks than there are; --max-threadblocks allows more"},
    {DiagId::TooManyChannels, "the program needs more channels than there are"},
    {DiagId::Unverified,
     "a program from an IR, MSCCL XML or a bundle does not end, races, or does not keep its promise"},
    {DiagId::BadAttribute,
     "an attribute of MSCCL XML that is missing, no word of the format, or a number out of range"},
    {DiagId::BadNumbering, "ranks, thread blocks or steps of MSCCL XML that are not 0, 1, 2, ... in their order"},
    {DiagId::BadWait,
     "MSCCL XML waits for what is not there, or for what never tells that it is done, or has a nop without a wait"},
    {DiagId::MergedReductions, "consecutive reductions of MSCCL XML that the runtimes run at once, and so otherwise"},
    {DiagId::SeveralPrograms, "what is written holds one program; --program chooses one"},
    {DiagId::Inexpressible, "MSCCL XML has no words for this"},
    {DiagId::RuntimeLimit, "the runtimes that read MSCCL XML would refuse this"},
    {DiagId::PictureLimit, "too large for a picture; --max-picture allows more"},
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
