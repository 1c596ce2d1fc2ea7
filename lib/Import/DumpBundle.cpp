// SPDX-License-Identifier: Apache-2.0
// Prints a bundle: its dispatch table, and every program as GC3-IR text.
#include "BundleReader.h"
#include "bundle/Times.h"
#include "gc3/IR/Print.h"
#include "gc3/Support/Quantity.h"
#include "gc3/Support/Utf8.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <array>

using namespace gc3;
using namespace gc3::ir;
namespace fbs = gc3::bundle::fbs;

/// Returns "proven" if all properties are proven, else the names of the proven properties.
static std::string proof(uint32_t verified) {
  static constexpr std::array names = {"structure", "no deadlock", "postcondition", "no races"}; // by bit
  if (verified == (1u << names.size()) - 1)
    return "proven";
  std::string text;
  for (size_t bit = 0; bit != names.size(); ++bit)
    if (verified >> bit & 1)
      text += std::string(text.empty() ? "proven only: " : " + ") + names[bit];
  return text.empty() ? "not proven" : text;
}

/// Prints the number of times, the first and the last one.
static void printTimes(llvm::raw_ostream &out, std::span<const fbs::TimePoint> times) {
  const auto print = [&](const fbs::TimePoint &point) {
    out << llvm::format("%.4g us at ", point.microseconds()) << quantity(point.bytes(), "byte");
  };
  print(times.front());
  if (times.size() == 1)
    return;
  out << " to ";
  print(times.back());
  out << " (" << quantity(times.size(), "time") << ")";
}

static void printTable(llvm::raw_ostream &out, const bundle::BundleFile &file) {
  out << "bundle by " << visible(file.manifest().producer()->str()) << ", " << file.bytes().size() << " bytes, "
      << quantity(file.programCount(), "program") << '\n';
  for (uint32_t i = 0; i != file.programCount(); ++i) {
    const fbs::Program &program = file.program(i);
    out << (program.form() ? program.form() : program.collective())->str() << " on " << program.ranks() << " ranks, ";
    if (program.nodes() != 0)
      out << program.nodes() << " nodes of " << program.ranks() / program.nodes() << ", ";
    out << program.min_bytes() << " to ";
    if (program.max_bytes() == ProgramInfo::NoLimit)
      out << "any number of";
    else
      out << "less than " << program.max_bytes();
    out << " bytes: " << program.name()->str() << (program.in_place() ? ", in place" : "")
        << (program.whole_slots() ? ", whole slots" : "") << ", slots " << program.min_fifo_slots() << " to "
        << program.fifo_slots() << ", " << proof(program.verified()) << ", digest "
        << llvm::format_hex(program.digest(), 18);
    if (const auto times = bundle::pointsOf(program.times()); !times.empty())
      printTimes(out << ", ", times);
    out << '\n';
  }
  if (file.manifest().baselines())
    for (const fbs::Baseline *baseline : *file.manifest().baselines()) {
      out << "NCCL for " << baseline->form()->str() << " on " << baseline->ranks() << " ranks: ";
      printTimes(out, bundle::pointsOf(baseline->times()));
      out << '\n';
    }
}

imports::BundleProblem gc3::imports::dumpBundle(llvm::raw_ostream &out, const std::string &path,
                                                const ReadOptions &options) {
  const auto opened = bundle::BundleFile::open(path.c_str());
  if (!opened.ok())
    return {DiagId::CannotRead, opened.outcome().message};
  const bundle::BundleFile &file = **opened;
  printTable(out, file);
  for (uint32_t i = 0; i != file.programCount(); ++i) {
    BundleReader reader(file, i, options);
    if (BundleProblem problem = reader.read(); !problem.empty())
      return problem;
    out << '\n';
    print(out, reader.program);
  }
  return {};
}
