// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace gc3::sema {

/// Strings by number; equal strings have equal numbers.
class StringPool {
public:
  static constexpr size_t MaxLength = 65536;
  static constexpr uint64_t MaxTotal = uint64_t(256) << 20;

  int64_t add(llvm::StringRef text) {
    auto [entry, isNew] = ids.try_emplace(text, static_cast<int64_t>(texts.size()));
    if (isNew) {
      texts.push_back(entry->getKey());
      total += text.size() + 64;
    }
    return entry->getValue();
  }
  llvm::StringRef operator[](int64_t id) const { return texts[static_cast<size_t>(id)]; }
  bool full() const { return total > MaxTotal; }

private:
  llvm::StringMap<int64_t> ids;
  std::vector<llvm::StringRef> texts; // keys of `ids`, which stay where they are
  uint64_t total = 0;
};

} // namespace gc3::sema
