// SPDX-License-Identifier: Apache-2.0
// UTF-8 decoding and escapes, based on LLVM's character tables.
#include "gc3/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include <algorithm>

size_t gc3::characterLength(llvm::StringRef text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  const auto *end = reinterpret_cast<const llvm::UTF8 *>(text.end());
  return llvm::isLegalUTF8Sequence(begin, end) != 0 ? llvm::getNumBytesForUTF8(*begin) : 0;
}

/// Returns the code point of one complete character.
static llvm::UTF32 codePoint(llvm::StringRef character) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(character.begin());
  const auto *end = reinterpret_cast<const llvm::UTF8 *>(character.end());
  llvm::UTF32 code = 0;
  llvm::convertUTF8Sequence(&begin, end, &code, llvm::strictConversion);
  return code;
}

static std::string hex(uint64_t number) {
  return llvm::utohexstr(number, /*LowerCase=*/true);
}

static std::string escape(llvm::UTF32 code) {
  switch (code) {
  case '\n': return "\\n";
  case '\r': return "\\r";
  case '\t': return "\\t";
  default: break;
  }
  return code < 0x80 ? (code < 0x10 ? "\\x0" : "\\x") + hex(code) : "\\u{" + hex(code) + "}";
}

std::string gc3::visible(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    size_t length = characterLength(text);
    llvm::StringRef character = text.take_front(std::max<size_t>(length, 1));
    llvm::UTF32 code = length == 0 ? 0 : codePoint(character);
    if (length == 0)
      result += "\\x" + hex(static_cast<unsigned char>(text.front())); // 80 to ff
    else if (llvm::sys::unicode::isPrintable(static_cast<int>(code)))
      result += character;
    else
      result += escape(code);
    text = text.drop_front(character.size());
  }
  return result;
}
