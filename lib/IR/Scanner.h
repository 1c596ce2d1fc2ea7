// SPDX-License-Identifier: Apache-2.0
// Splits the text of an IR into words, line by line. Blanks separate words, `//` begins a comment, and blank lines are
// ignored. Reports the first error with its place; every later call fails.
#pragma once

#include "gc3/Support/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

namespace gc3::ir {

class Scanner {
public:
  /// `base` is the global offset of the text's first byte. A zero byte must follow the text.
  Scanner(llvm::StringRef text, uint32_t base, Diagnostics &diags)
      : begin(text.begin()), end(text.end()), at(text.begin()), base(base), diags(diags) {}

  /// Moves to the first word of the next line that has one, or to the end of the text. The caller must have read the
  /// current line to its end.
  void nextLine();
  bool atEnd() const { return at == end; }
  bool atLineEnd() {
    skipBlanks();
    return at == end || *at == '\n' || (*at == '/' && rest().take_front(2) == "//");
  }

  /// Consumes `mark` if it comes next. `mark` is a punctuation mark, or a word that cannot be the beginning of a longer
  /// word.
  bool take(llvm::StringRef mark) {
    skipBlanks();
    if (rest().take_front(mark.size()) != mark)
      return false;
    at += mark.size();
    return true;
  }
  bool takeWord(llvm::StringRef word) {
    if (peekWord() != word)
      return false;
    at += word.size();
    return true;
  }
  /// Returns the next word without consuming it; empty if there is none.
  llvm::StringRef peekWord() {
    skipBlanks();
    return {at, static_cast<size_t>(wordEnd() - at)};
  }

  // The following functions report "expected ..., found ..." and return false if something else comes.
  bool expect(llvm::StringRef mark);
  bool expectWord(llvm::StringRef word);
  bool number(uint32_t &value, const char *what);
  bool number64(uint64_t &value, const char *what);
  bool name(llvm::StringRef &value, const char *what);
  /// Reads the arguments of a collective in parentheses, if they come next: `(n = 4, by = 1)`.
  bool arguments(std::string &value);
  bool endLine();

  bool fail(DiagId id, SourceRange range, const std::string &message);
  /// Reports "expected WHAT, found" and the next word or mark. Returns false.
  bool expected(const llvm::Twine &what);

  /// Returns the start of the next word or mark.
  uint32_t start() {
    skipBlanks();
    return offset(at);
  }
  /// Returns the range from `start` to the end of the last consumed word or mark.
  SourceRange since(uint32_t start) const { return {start, offset(at)}; }
  /// Returns the range of the current line without its comment. The line must have been read to its end.
  SourceRange line() const { return {offset(lineBegin), offset(at)}; }

private:
  static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  static bool isDigit(char c) { return c >= '0' && c <= '9'; }
  static bool isWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool isWordPart(char c) { return isWordStart(c) || isDigit(c); }
  void skipBlanks() {
    while (at != end && isBlank(*at))
      ++at;
  }
  uint32_t offset(const char *place) const { return base + static_cast<uint32_t>(place - begin); }
  llvm::StringRef rest() const { return {at, static_cast<size_t>(end - at)}; }
  const char *wordEnd() const {
    const char *last = at;
    if (last != end && isWordStart(*last))
      while (last != end && isWordPart(*last))
        ++last;
    return last;
  }

  const char *begin;
  const char *end;
  const char *at;
  const char *lineBegin = nullptr;
  uint32_t base;
  Diagnostics &diags;
};

} // namespace gc3::ir
