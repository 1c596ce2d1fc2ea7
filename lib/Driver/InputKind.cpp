// SPDX-License-Identifier: Apache-2.0
// Recognizes a file by its suffix and its first word.
#include "InputKind.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace gc3::driver;

/// Returns the first word of `text` after blanks and `//` comments.
static llvm::StringRef firstWord(llvm::StringRef text) {
  for (text = text.ltrim(); text.take_front(2) == "//"; text = text.ltrim())
    text = text.drop_front(std::min(text.find('\n'), text.size()));
  return text.take_until([](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
}

std::optional<From> gc3::driver::kindBySuffix(llvm::StringRef path) {
  return llvm::StringSwitch<std::optional<From>>(llvm::sys::path::extension(path))
      .Case(".gc3", From::Source)
      .Case(".gc3b", From::Bundle)
      .Case(".xml", From::MscclXml)
      .Case(".gc3-ir", From::GC3IR)
      .Case(".inst-dag", From::InstructionDag)
      .Default(std::nullopt);
}

From gc3::driver::kindByContent(llvm::StringRef content) {
  if (content.take_front(4) == "GC3B")
    return From::Bundle;
  llvm::StringRef word = firstWord(content);
  if (word.take_front() == "<")
    return From::MscclXml;
  return llvm::StringSwitch<From>(word)
      .Case("gc3-ir", From::GC3IR)
      .Case("instruction-dag", From::InstructionDag)
      .Default(From::Source);
}

From gc3::driver::kindOf(llvm::StringRef path, llvm::StringRef content) {
  From begun = kindByContent(content);
  return begun == From::Bundle ? begun : kindBySuffix(path).value_or(begun);
}
