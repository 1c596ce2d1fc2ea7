// SPDX-License-Identifier: Apache-2.0
// Commas, nesting and escapes.
#include "gc3/Support/JsonWriter.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"

using gc3::JsonWriter;

void JsonWriter::separate() {
  if (!isFirst)
    out << ',';
  isFirst = false;
}

/// The bytes of the character that begins `text`; 0 if none does.
static size_t characterLength(llvm::StringRef text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  const auto *end = reinterpret_cast<const llvm::UTF8 *>(text.end());
  return llvm::isLegalUTF8Sequence(begin, end) != 0 ? llvm::getNumBytesForUTF8(*begin) : 0;
}

void JsonWriter::quote(llvm::StringRef text) {
  out << '"';
  while (!text.empty()) {
    size_t length = characterLength(text);
    char first = text.front();
    if (length == 0)
      out << "\\ufffd";
    else if (first == '"' || first == '\\')
      out << '\\' << first;
    else if (first == '\n')
      out << "\\n";
    else if (first == '\t')
      out << "\\t";
    else if (first == '<' || static_cast<unsigned char>(first) < 0x20)
      out << llvm::format("\\u%04x", first);
    else
      out << text.take_front(length);
    text = text.drop_front(std::max<size_t>(length, 1));
  }
  out << '"';
}

void JsonWriter::value(int64_t number) {
  separate();
  out << number;
}

void JsonWriter::value(llvm::StringRef text) {
  separate();
  quote(text);
}

void JsonWriter::value(std::initializer_list<int64_t> numbers) {
  array([&] {
    for (int64_t number : numbers)
      value(number);
  });
}

void JsonWriter::boolean(bool value) {
  separate();
  out << (value ? "true" : "false");
}

void JsonWriter::null() {
  separate();
  out << "null";
}

void JsonWriter::nest(char open, Contents contents, char close) {
  separate();
  out << open;
  isFirst = true;
  contents();
  isFirst = false;
  out << close;
}

void JsonWriter::array(Contents contents) {
  nest('[', contents, ']');
}

void JsonWriter::object(Contents contents) {
  nest('{', contents, '}');
}

void JsonWriter::key(llvm::StringRef name) {
  separate();
  quote(name);
  out << ':';
  isFirst = true;
}
