// SPDX-License-Identifier: Apache-2.0
#include "gc3/Support/DiagnosticsPrinter.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;

namespace {

/// A string stream that reports that it shows colors, because LLVM colors text only in such streams.
class ColoredText : public llvm::raw_string_ostream {
public:
  explicit ColoredText(std::string &text) : raw_string_ostream(text) { enable_colors(true); }
  bool has_colors() const override { return true; }
};

} // namespace

static void printColored(const Diagnostics &diags, llvm::raw_ostream &out) {
  std::string text;
  ColoredText colored(text);
  diags.print(colored, true);
  out << colored.str();
}

void DiagnosticsPrinter::print(const Diagnostics &diags, std::string_view input) {
  switch (format) {
  case DiagnosticsFormat::Text: color ? printColored(diags, out) : diags.print(out, false); break;
  case DiagnosticsFormat::Json: diags.printJson(out, input); break;
  case DiagnosticsFormat::Sarif: log->add(diags, input); break;
  }
}
