// SPDX-License-Identifier: Apache-2.0
// Converts attribute values to their meanings.
#include "Attributes.h"

using namespace gc3;
using namespace gc3::imports;

/// Returns a value in quotes for a message. Shortens a long value.
static std::string quoted(llvm::StringRef value) {
  static constexpr size_t longest = 24;
  return "'" + (value.size() > longest ? value.take_front(longest).str() + "..." : value.str()) + "'";
}

bool Attributes::require(llvm::StringRef key) const {
  if (tag.find(key))
    return true;
  diags.error(DiagId::BadAttribute, tag.range, "<" + tag.name.str() + "> needs an attribute '" + key.str() + "'");
  return false;
}

int64_t Attributes::number(llvm::StringRef key, int64_t first, int64_t last, std::optional<int64_t> fallback) const {
  const char *value = tag.find(key);
  if (!value) {
    if (!fallback)
      require(key);
    return fallback.value_or(first);
  }
  int64_t number = 0;
  bool isNumber = !llvm::StringRef(value).getAsInteger(10, number);
  if (isNumber && first <= number && number <= last)
    return number;
  error(DiagId::BadAttribute, key,
        "'" + key.str() + "' is a number from " + std::to_string(first) + " to " + std::to_string(last) + ", not " +
            quoted(value));
  return first;
}

void Attributes::unknownWord(llvm::StringRef key, llvm::StringRef value, const std::vector<std::string> &words) const {
  std::string list;
  for (size_t i = 0; i != words.size(); ++i)
    list += (i == 0 ? "'" : i + 1 == words.size() ? "' or '" : "', '") + words[i];
  error(DiagId::BadAttribute, key, "'" + key.str() + "' is " + list + "', not " + quoted(value));
}

void UnknownAttributes::check(const XmlTag &tag, llvm::ArrayRef<llvm::StringRef> known) {
  for (const char *const *pair = tag.pairs; *pair && reported.size() < maxNames; pair += 2)
    if (!llvm::is_contained(known, pair[0]) && reported.insert(pair[0]).second)
      diags.remark(tag.place(pair[0]),
                   "unknown attribute " + quoted(pair[0]) + " of <" + tag.name.str() + "> is ignored");
}
