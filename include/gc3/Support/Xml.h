// SPDX-License-Identifier: Apache-2.0
// Reads the elements of an XML text one by one, with their places. The parser is Expat, configured so that it expands
// no entities of the text and opens no files.
#pragma once

#include "gc3/Support/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace gc3 {

/// The start tag of an element. Valid only during the callback.
class XmlTag {
public:
  XmlTag(const char *name, const char *const *pairs, llvm::StringRef text, SourceRange range)
      : name(name), pairs(pairs), text(text), range(range) {}

  llvm::StringRef name;
  const char *const *pairs; ///< names and values of the attributes alternate; a null pointer ends them
  llvm::StringRef text;     ///< from `<` to `>`
  SourceRange range;        ///< place of `text`

  /// Returns the value of an attribute, or null.
  const char *find(llvm::StringRef key) const;
  /// Returns the place of an attribute's value, without its quotes. Returns the whole tag if there is no such
  /// attribute.
  SourceRange place(llvm::StringRef key) const;
};

/// Calls `begin` and `end` for the root element and each element inside it. Skips the text before the first `<`; blanks
/// and comments may follow the root element. Stops if a callback returns false; the callback must have reported the
/// error. `base` is the global offset of the text. Returns false after an error. Time and memory are linear in the
/// text.
bool readXml(llvm::StringRef text, uint32_t base, Diagnostics &diags, llvm::function_ref<bool(const XmlTag &)> begin,
             llvm::function_ref<bool()> end);

} // namespace gc3
