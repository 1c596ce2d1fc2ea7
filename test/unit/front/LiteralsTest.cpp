// SPDX-License-Identifier: Apache-2.0
// Tests integer literals: values and limits.
#include "Literals.h"
#include <gtest/gtest.h>

using gc3::parse::readInt;

static uint64_t value(const char *spelling) {
  uint64_t result = 0;
  EXPECT_EQ(readInt(spelling, result), "") << spelling;
  return result;
}

static bool isBad(const char *spelling) {
  uint64_t result = 0;
  return !readInt(spelling, result).empty();
}

TEST(Literals, Values) {
  EXPECT_EQ(value("0"), 0u);
  EXPECT_EQ(value("007"), 7u);
  EXPECT_EQ(value("1_000_000"), 1000000u);
  EXPECT_EQ(value("0xFf"), 255u);
  EXPECT_EQ(value("0X1_0"), 16u);
  EXPECT_EQ(value("32KiB"), 32768u);
  EXPECT_EQ(value("3MiB"), 3145728u);
  EXPECT_EQ(value("1GiB"), 1073741824u);
  EXPECT_EQ(value("2TiB"), 2199023255552u);
  EXPECT_EQ(value("5KB"), 5000u);
  EXPECT_EQ(value("5MB"), 5000000u);
  EXPECT_EQ(value("5GB"), 5000000000u);
  EXPECT_EQ(value("5TB"), 5000000000000u);
  EXPECT_EQ(value("9223372036854775808"), 1ull << 63);
}

TEST(Literals, Errors) {
  for (const char *spelling : {"9223372036854775809", "18446744073709551616", "99999999999999999999", "8388609TiB",
                               "12abc", "0x", "0xg", "1_", "1__2", "0x_1", "3kib", "0x1KiB"})
    EXPECT_TRUE(isBad(spelling)) << spelling;
}
