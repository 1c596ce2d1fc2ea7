// SPDX-License-Identifier: Apache-2.0
// Scans without copies, and reads every byte once or twice.
#include "Scanner.h"
#include "gc3/Common/CollectiveForm.h"
#include "llvm/ADT/StringExtras.h"

using namespace gc3;
using namespace gc3::ir;

void Scanner::nextLine() {
  while (atLineEnd() && at != end) {
    while (at != end && *at != '\n')
      ++at;
    at += at != end;
  }
  lineBegin = at;
}

bool Scanner::expect(llvm::StringRef mark) {
  return take(mark) || expected("'" + mark + "'");
}

bool Scanner::expectWord(llvm::StringRef word) {
  return takeWord(word) || expected("'" + word + "'");
}

bool Scanner::number64(uint64_t &value, const char *what) {
  skipBlanks();
  if (at == end || !isDigit(*at))
    return expected(what);
  const char *first = at;
  value = 0;
  bool overflow = false;
  for (; at != end && isDigit(*at); ++at)
    overflow |= __builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at - '0', &value);
  return !overflow || fail(DiagId::Overflow, since(offset(first)), "the number is larger than 2^64 - 1");
}

bool Scanner::number(uint32_t &value, const char *what) {
  uint32_t first = start();
  uint64_t wide = 0;
  if (!number64(wide, what))
    return false;
  value = static_cast<uint32_t>(wide);
  return wide <= UINT32_MAX || fail(DiagId::Overflow, since(first), "the number is larger than 2^32 - 1");
}

bool Scanner::name(llvm::StringRef &value, const char *what) {
  value = peekWord();
  at += value.size();
  return !value.empty() || expected(what);
}

bool Scanner::arguments(std::string &value) {
  if (!take("("))
    return true;
  const llvm::StringRef line = rest().take_until([](char c) { return c == '\n'; });
  const size_t close = common::findOutside(line, ')');
  if (close == llvm::StringRef::npos)
    return expected("arguments and ')'");
  const auto form = common::CollectiveForm::parse(("c(" + line.take_front(close + 1)).str());
  if (!form || !form->isWhole())
    return expected("arguments such as 'n = 4'");
  value = form->argumentsText();
  at += close + 1;
  return true;
}

bool Scanner::endLine() {
  return atLineEnd() || expected("the end of the line");
}

bool Scanner::fail(DiagId id, SourceRange range, const std::string &message) {
  diags.error(id, range, message);
  return false;
}

bool Scanner::expected(const llvm::Twine &what) {
  static constexpr ptrdiff_t longest = 24;
  std::string message = "expected " + what.str() + ", found ";
  uint32_t first = start();
  if (atLineEnd()) {
    const char *problem = at == end ? "the end of the text" : "the end of the line";
    return fail(DiagId::Syntax, {first, first}, message + problem);
  }
  if (!llvm::isPrint(*at))
    return fail(DiagId::Syntax, {first, first + 1}, message + "a character that does not belong here");
  const char *last = at;
  while (last != end && isWordPart(*last))
    ++last;
  last += last == at;
  auto found = llvm::StringRef(at, static_cast<size_t>(std::min(last - at, longest))).str();
  return fail(DiagId::Syntax, {first, offset(last)}, message + "'" + found + (last - at > longest ? "...'" : "'"));
}
