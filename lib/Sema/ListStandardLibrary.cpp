// SPDX-License-Identifier: Apache-2.0
// Prints the output of `gc3c --list-std` from the files themselves: signatures from their syntax trees, descriptions
// from the comments in their text.
#include "Modules.h"
#include "gc3/Parse/Parse.h"
#include "gc3/Sema/StandardLibrary.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>

using namespace gc3;
using namespace gc3::sema;

using Lines = llvm::ArrayRef<llvm::StringRef>;

/// Returns the text of comment lines up to the first full stop that ends a sentence, on one line. An ellipsis does not
/// end a sentence.
static std::string firstSentence(Lines comment) {
  std::string text;
  for (llvm::StringRef line : comment)
    text += line.drop_front(2).trim().str() + ' ';
  size_t stop = text.find(". ");
  while (stop != std::string::npos && stop != 0 && text[stop - 1] == '.')
    stop = text.find(". ", stop + 1);
  return stop == std::string::npos ? llvm::StringRef(text).rtrim().str() : text.substr(0, stop + 1);
}

static bool isComment(llvm::StringRef line) {
  return line.take_front(2) == "//";
}

static Lines commentAtHead(Lines lines) {
  return lines.take_while(isComment);
}

/// Returns the comment lines directly above line `item`, which is counted from 1.
static Lines commentAbove(Lines lines, unsigned item) {
  Lines above = lines.take_front(item - 1);
  size_t count = 0;
  while (count != above.size() && isComment(above[above.size() - 1 - count]))
    ++count;
  return above.take_back(count);
}

static void listFile(llvm::raw_ostream &out, const EmbeddedFile &standard) {
  SourceManager sources;
  Diagnostics diags(sources, 0);
  std::unique_ptr<const ast::File> file = parse::parseFile(sources, diags, standard.name, standard.text);
  assert(file && "a file of the standard library has a syntax error");
  llvm::SmallVector<llvm::StringRef, 0> lines;
  standard.text.split(lines, '\n');
  out << standard.name << ": " << firstSentence(commentAtHead(lines)) << '\n';
  auto list = [&](const auto &item) {
    out << "  ";
    parse::printSignature(out, item);
    unsigned line = sources.place(item.name.range.begin).line;
    out << "\n    " << firstSentence(commentAbove(lines, line)) << '\n';
  };
  for (ast::ItemRef item : file->items) {
    if (item.kind == ast::ItemKind::Function)
      list(file->functions[item.index]);
    else if (item.kind == ast::ItemKind::Collective)
      list(file->collectives[item.index]);
  }
}

void gc3::sema::listStandardLibrary(llvm::raw_ostream &out) {
  for (const EmbeddedFile &file : standardFiles())
    listFile(out, file);
}
