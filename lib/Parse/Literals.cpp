// SPDX-License-Identifier: Apache-2.0
// Reads integer literals: decimal or hexadecimal digits with `_` between them, and the suffixes of sizes.
#include "Literals.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace gc3;

/// Returns the factor of a suffix, or 0 if there is no such suffix.
static uint64_t suffixFactor(llvm::StringRef suffix) {
  return llvm::StringSwitch<uint64_t>(suffix)
      .Case("", 1)
      .Case("KB", 1000)
      .Case("MB", 1000 * 1000)
      .Case("GB", 1000 * 1000 * 1000)
      .Case("TB", 1000ull * 1000 * 1000 * 1000)
      .Case("KiB", 1ull << 10)
      .Case("MiB", 1ull << 20)
      .Case("GiB", 1ull << 30)
      .Case("TiB", 1ull << 40)
      .Default(0);
}

std::string parse::readInt(llvm::StringRef spelling, uint64_t &value) {
  llvm::StringRef rest = spelling;
  unsigned base = rest.consume_front("0x") || rest.consume_front("0X") ? 16 : 10;
  llvm::StringRef digits = rest.take_while([&](char c) { return c == '_' || llvm::hexDigitValue(c) < base; });
  llvm::StringRef suffix = rest.drop_front(digits.size());
  value = 0;
  if (digits.empty() || digits.front() == '_' || digits.back() == '_' || digits.contains("__"))
    return "'_' may stand between two digits only";
  uint64_t factor = suffixFactor(suffix);
  if (factor == 0 || (base == 16 && !suffix.empty()))
    return "'" + suffix.str() + "' is no size suffix; those are KiB MiB GiB TiB and KB MB GB TB, after decimal digits";
  constexpr uint64_t limit = uint64_t(1) << 63;
  bool overflow = false;
  for (char c : digits)
    if (c != '_')
      overflow |= __builtin_mul_overflow(value, uint64_t(base), &value) ||
                  __builtin_add_overflow(value, uint64_t(llvm::hexDigitValue(c)), &value);
  overflow |= __builtin_mul_overflow(value, factor, &value);
  if (overflow || value > limit)
    return "the number is too large; an int is less than 2^63";
  return "";
}
