// SPDX-License-Identifier: Apache-2.0
#include "gc3/Support/DiagnosticsPrinter.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;

void DiagnosticsPrinter::print(const Diagnostics &diags, std::string_view input) {
  switch (format) {
  case DiagnosticsFormat::Text: diags.print(out, out.has_colors()); break;
  case DiagnosticsFormat::Json: diags.printJson(out, input); break;
  case DiagnosticsFormat::Sarif: log->add(diags, input); break;
  }
}
