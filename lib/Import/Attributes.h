// SPDX-License-Identifier: Apache-2.0
// What the attributes of an MSCCL element mean: numbers and words in their ranges, and an error at the value of each
// that is not.
#pragma once

#include "Xml.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

namespace gc3::imports {

/// A word of the files and what it stands for.
template <typename T>
struct Word {
  llvm::StringRef spelling;
  T meaning;
};

class Attributes {
public:
  Attributes(const XmlTag &tag, Diagnostics &diags) : tag(tag), diags(diags) {}

  /// The number that the attribute holds, if it is one of `first` to `last`; else, after an error, `first`. Where the
  /// attribute is missing, `fallback`, and an error if there is none.
  int64_t number(llvm::StringRef key, int64_t first, int64_t last, std::optional<int64_t> fallback = {}) const;
  /// Such a number where no others are possible than those of 32 bits.
  uint32_t count(llvm::StringRef key, uint32_t first, uint32_t last, std::optional<uint32_t> fallback = {}) const {
    return static_cast<uint32_t>(number(key, first, last, fallback));
  }
  bool flag(llvm::StringRef key, std::optional<bool> fallback) const {
    return number(key, 0, 1, fallback ? std::optional<int64_t>(*fallback) : std::nullopt) != 0;
  }
  /// The attribute's meaning among `words`. Nothing where it is missing, or, after an error, none of them.
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
  /// An error if the attribute is missing.
  bool require(llvm::StringRef key) const;

  void error(DiagId id, llvm::StringRef key, const std::string &message) const {
    diags.error(id, tag.place(key), message);
  }

  const XmlTag &tag;

private:
  void unknownWord(llvm::StringRef key, llvm::StringRef value, const std::vector<std::string> &words) const;

  Diagnostics &diags;
};

/// Tells of attributes that nobody reads, once for each name, and not for more than a few names.
class UnknownAttributes {
public:
  explicit UnknownAttributes(Diagnostics &diags) : diags(diags) {}
  void check(const XmlTag &tag, llvm::ArrayRef<llvm::StringRef> known);

private:
  static constexpr unsigned maxNames = 8;
  Diagnostics &diags;
  llvm::StringSet<> told;
};

} // namespace gc3::imports
