// SPDX-License-Identifier: Apache-2.0
// Prints a bundle: its dispatch table, and every program as GC3-IR text.
#include "BundleReader.h"
#include "gc3/IR/Print.h"
#include "gc3/Import/Bundle.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;
using namespace gc3::ir;
namespace fbs = gc3::bundle::fbs;

static void printTable(llvm::raw_ostream &out, const bundle::BundleFile &file) {
  out << "bundle by " << file.manifest().producer()->str() << ", " << file.bytes().size() << " bytes, "
      << file.programCount() << (file.programCount() == 1 ? " program\n" : " programs\n");
  for (uint32_t i = 0; i != file.programCount(); ++i) {
    const fbs::Program &program = file.program(i);
    out << program.collective()->str() << " on " << program.ranks() << " ranks, " << program.min_bytes() << " to ";
    if (program.max_bytes() == ProgramInfo::NoLimit)
      out << "any number of";
    else
      out << "less than " << program.max_bytes();
    out << " bytes: " << program.name()->str() << (program.in_place() ? ", in place" : "")
        << (program.whole_slots() ? ", whole slots" : "") << ", slots " << program.min_fifo_slots() << " to "
        << program.fifo_slots() << ", proven " << llvm::format_hex(program.verified(), 1) << ", digest "
        << llvm::format_hex(program.digest(), 18) << '\n';
  }
}

std::string gc3::imports::dumpBundle(llvm::raw_ostream &out, const std::string &path) {
  std::unique_ptr<bundle::BundleFile> file;
  if (bundle::BundleStatus status = bundle::BundleFile::open(path.c_str(), file); !status.ok())
    return status.message;
  printTable(out, *file);
  for (uint32_t i = 0; i != file->programCount(); ++i) {
    imports::BundleReader reader(*file, i, {});
    if (bundle::BundleStatus status = reader.read(); !status.ok())
      return status.message;
    out << '\n';
    print(out, reader.program);
  }
  return {};
}
