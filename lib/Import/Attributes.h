// SPDX-License-Identifier: Apache-2.0
// Converts the attributes of an MSCCL element: numbers and words within their ranges. Reports an error at each value
// that is not valid.
#pragma once

#include "gc3/Support/Xml.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

namespace gc3::imports {

/// A word of the file format, and its meaning.
template <typename T>
struct Word {
  llvm::StringRef spelling;
  T meaning;
};

class Attributes {
public:
  Attributes(const XmlTag &tag, Diagnostics &diags) : tag(tag), diags(diags) {}

  /// Returns the number in the attribute. If it is not in `first` to `last`, reports an error and returns `first`. If
  /// the attribute is missing, returns `fallback`. If there is no fallback either, reports an error and returns
  /// `first`.
  int64_t number(llvm::StringRef key, int64_t first, int64_t last, std::optional<int64_t> fallback = {}) const;
  /// Like number(), for ranges within 32 bits.
  uint32_t count(llvm::StringRef key, uint32_t first, uint32_t last, std::optional<uint32_t> fallback = {}) const {
    return static_cast<uint32_t>(number(key, first, last, fallback));
  }
  bool flag(llvm::StringRef key, std::optional<bool> fallback) const {
    return number(key, 0, 1, fallback ? std::optional<int64_t>(*fallback) : std::nullopt) != 0;
  }
  /// Returns the attribute's meaning among `words`, or nothing if the attribute is missing. If its value is not among
  /// them, reports an error and returns nothing.
  template <typename T>
  std::optional<T> word(llvm::StringRef key, llvm::ArrayRef<Word<T>> words) const {
    const char *value = tag.find(key);
    if (!value)
      return std::nullopt;
    std::vector<std::string> spellings;
    for (const Word<T> &word : words) {
      if (word.spelling == value)
        return word.meaning;
      spellings.push_back(word.spelling.str());
    }
    unknownWord(key, value, spellings);
    return std::nullopt;
  }
  /// Reports an error and returns false if the attribute is missing.
  bool require(llvm::StringRef key) const;

  void error(DiagId id, llvm::StringRef key, const std::string &message) const {
    diags.error(id, tag.place(key), message);
  }

  const XmlTag &tag;

private:
  void unknownWord(llvm::StringRef key, llvm::StringRef value, const std::vector<std::string> &words) const;

  Diagnostics &diags;
};

/// Warns about attributes that the importer ignores: once for each name, and for at most `maxNames` names.
class UnknownAttributes {
public:
  explicit UnknownAttributes(Diagnostics &diags) : diags(diags) {}
  void check(const XmlTag &tag, llvm::ArrayRef<llvm::StringRef> known);

private:
  static constexpr unsigned maxNames = 8;
  Diagnostics &diags;
  llvm::StringSet<> reported;
};

} // namespace gc3::imports
