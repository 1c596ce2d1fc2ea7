// SPDX-License-Identifier: Apache-2.0
// Elements of an XML text, one by one, with their places. The parser is Expat; nothing is expanded or fetched.
#pragma once

#include "gc3/Support/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace gc3::imports {

/// The beginning of an element; valid while it is handed out.
class XmlTag {
public:
  XmlTag(const char *name, const char *const *pairs, llvm::StringRef text, SourceRange range)
      : name(name), pairs(pairs), text(text), range(range) {}

  llvm::StringRef name;
  const char *const *pairs; ///< names and values of the attributes in turn, then a null pointer
  llvm::StringRef text;     ///< from `<` to `>`
  SourceRange range;        ///< of the same

  /// The value of an attribute, or null.
  const char *find(llvm::StringRef key) const;
  /// Where the value of an attribute stands, without its quotes; all of the tag where there is no such attribute.
  SourceRange place(llvm::StringRef key) const;
};

/// Calls `begin` and `end` for each element of the one that is not inside another. What stands before the text's first
/// `<` is skipped; behind the element there may be blanks and comments. Stops when one of them returns false, which
/// must have been reported. `base` is the global offset of the text. False after an error. Linear; the memory is that
/// of the text, times a constant.
bool readXml(llvm::StringRef text, uint32_t base, Diagnostics &diags, llvm::function_ref<bool(const XmlTag &)> begin,
             llvm::function_ref<bool()> end);

} // namespace gc3::imports
