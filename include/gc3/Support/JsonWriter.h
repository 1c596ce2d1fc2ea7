// SPDX-License-Identifier: Apache-2.0
// A stream of JSON. Not LLVM's, as clang can't compile LLVM 14's llvm/Support/JSON.h as C++20.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <initializer_list>

namespace gc3 {

/// Writes one value, without white space. What it writes may stand inside a script element of HTML: a `<` is escaped.
class JsonWriter {
public:
  using Contents = llvm::function_ref<void()>;

  explicit JsonWriter(llvm::raw_ostream &out) : out(out) {}

  void value(int64_t number);
  void value(llvm::StringRef text); ///< what is no UTF-8 in it becomes U+FFFD
  void value(std::initializer_list<int64_t> numbers);
  void boolean(bool value); ///< not an overload of value(), which a pointer would choose
  void null();
  void array(Contents contents);
  void object(Contents contents);
  /// An array ('[') or object ('{') that ends with `close`, for contents that come from several places.
  void open(char bracket);
  void close(char bracket);

  /// The name of the next value, which is a member of an object.
  void key(llvm::StringRef name);

private:
  void separate();
  void quote(llvm::StringRef text);

  llvm::raw_ostream &out;
  bool isFirst = true; // nothing needs a comma before it
};

} // namespace gc3
