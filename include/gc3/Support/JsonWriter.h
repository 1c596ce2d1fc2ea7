// SPDX-License-Identifier: Apache-2.0
// Streaming JSON writer. LLVM's writer is not used, because clang cannot compile LLVM 14's llvm/Support/JSON.h as
// C++20.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <initializer_list>

namespace gc3 {

/// Writes one JSON value without white space. Escapes `<`, so the output can be placed inside an HTML script element.
class JsonWriter {
public:
  using Contents = llvm::function_ref<void()>;

  explicit JsonWriter(llvm::raw_ostream &out) : out(out) {}

  void value(int64_t number);
  void value(llvm::StringRef text); ///< bytes that are not UTF-8 become U+FFFD
  void value(std::initializer_list<int64_t> numbers);
  void real(double number); ///< a finite number, with 9 digits
  void boolean(bool value); ///< not an overload of value(), because a pointer argument would choose it
  void null();
  void array(Contents contents);
  void object(Contents contents);
  /// Begins an array ('[') or object ('{') whose contents come from several places. The caller ends it with close().
  void open(char bracket);
  void close(char bracket);

  /// Writes the name of an object's next member. The caller then writes the member's value.
  void key(llvm::StringRef name);

private:
  void separate();
  void quote(llvm::StringRef text);

  llvm::raw_ostream &out;
  bool isFirst = true; // true if the next value needs no comma before it
};

} // namespace gc3
