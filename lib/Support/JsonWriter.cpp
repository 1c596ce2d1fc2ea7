// SPDX-License-Identifier: Apache-2.0
// Writes commas, nesting and escapes.
#include "gc3/Support/JsonWriter.h"
#include "gc3/Support/Utf8.h"
#include "llvm/Support/Format.h"

using gc3::JsonWriter;

void JsonWriter::separate() {
  if (!isFirst)
    out << ',';
  isFirst = false;
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

void JsonWriter::real(double number) {
  separate();
  out << llvm::format("%.9g", number);
}

void JsonWriter::boolean(bool value) {
  separate();
  out << (value ? "true" : "false");
}

void JsonWriter::null() {
  separate();
  out << "null";
}

void JsonWriter::open(char bracket) {
  separate();
  out << bracket;
  isFirst = true;
}

void JsonWriter::close(char bracket) {
  out << bracket;
  isFirst = false;
}

void JsonWriter::array(Contents contents) {
  open('[');
  contents();
  close(']');
}

void JsonWriter::object(Contents contents) {
  open('{');
  contents();
  close('}');
}

void JsonWriter::key(llvm::StringRef name) {
  separate();
  quote(name);
  out << ':';
  isFirst = true;
}
