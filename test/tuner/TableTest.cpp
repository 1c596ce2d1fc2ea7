// SPDX-License-Identifier: Apache-2.0
// Tables as text: rows, errors, files.
#include "tuner/Table.h"
#include "CheckTable.h"
#include <fstream>
#include <gtest/gtest.h>

using namespace gc3;
using namespace gc3::tuner;

namespace {

const std::string header = "gc3-nccl-table 1\n";
const std::string table = header + "# collective ranks nodes bucket algorithm protocol channels microseconds\n"
                                   "allreduce 8 1 10 tree ll - 12.5\n"
                                   "allgather 16 2 20 ring ll128 4 ?\n"
                                   "reduce_scatter 8 1 63 nvls simple 64 0.25\n";

std::string errorOf(const std::string &text) {
  std::vector<Row> rows;
  return parseTable(text, rows);
}

std::string errorOfRow(const std::string &row) {
  const std::string error = errorOf(header + row);
  EXPECT_EQ(error.substr(0, 8), "line 2: ");
  return error.substr(std::min<size_t>(error.size(), 8));
}

} // namespace

TEST(Table, HasRows) {
  std::vector<Row> rows;
  ASSERT_EQ(parseTable(table, rows), "");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].collective, Collective::AllReduce);
  EXPECT_EQ(rows[0].bucket, 10);
  EXPECT_EQ(rows[0].arm.algorithm, Algorithm::Tree);
  EXPECT_EQ(rows[0].arm.protocol, Protocol::LL);
  EXPECT_EQ(rows[0].arm.channels, 0);
  EXPECT_EQ(rows[0].arm.time, 12.5f);
  EXPECT_EQ(rows[1].ranks, 16u);
  EXPECT_EQ(rows[1].nodes, 2u);
  EXPECT_EQ(rows[1].arm.channels, 4);
  EXPECT_EQ(rows[1].arm.time, 0);
  EXPECT_EQ(printTable(rows), table);
}

TEST(Table, IgnoresBlanksCommentsAndCarriageReturns) {
  std::vector<Row> rows;
  ASSERT_EQ(parseTable("\n # first\r\n\tgc3-nccl-table  1\r\n\r\n  broadcast\t2 1 0 ring simple - 1 \r\n#", rows), "");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].collective, Collective::Broadcast);
  EXPECT_EQ(parseTable(table + table, rows), "");
  EXPECT_EQ(rows.size(), 7u);
}

TEST(Table, RefusesOtherTexts) {
  EXPECT_EQ(errorOf(""), "the file is empty; a table begins with 'gc3-nccl-table 1'");
  EXPECT_EQ(errorOf("allreduce 8 1 10 tree ll - 12.5\n"), "line 1: a table begins with 'gc3-nccl-table 1'");
  EXPECT_EQ(errorOf("gc3-nccl-table 2\n"), "line 1: this gc3 reads only version 1 of tables");
  EXPECT_EQ(errorOf("#\ngc3-nccl-table\n"), "line 2: this gc3 reads only version 1 of tables");
}

TEST(Table, RefusesWrongRows) {
  EXPECT_EQ(errorOfRow("allreduce 8 1 10 tree ll -"),
            "a row has 8 words (collective ranks nodes bucket algorithm protocol channels microseconds), not 7");
  EXPECT_EQ(errorOfRow("allreduce 8 1 10 tree ll - 1 2").substr(0, 16), "a row has 8 word");
  EXPECT_EQ(errorOfRow("alltoall 8 1 10 tree ll - 1"),
            "unknown collective 'alltoall'; there are broadcast, reduce, allgather, reduce_scatter, allreduce");
  EXPECT_EQ(errorOfRow("reduce 1 1 10 tree ll - 1"), "ranks must be from 2 to 2147483647, not '1'");
  EXPECT_EQ(errorOfRow("reduce 8 9 10 tree ll - 1"), "nodes must be from 1 to 8, not '9'");
  EXPECT_EQ(errorOfRow("reduce 8 1 64 tree ll - 1"), "bucket must be from 0 to 63, not '64'");
  EXPECT_EQ(errorOfRow("reduce 8 1 1x tree ll - 1"), "bucket must be from 0 to 63, not '1x'");
  EXPECT_EQ(errorOfRow("reduce 8 1 10 star ll - 1"),
            "unknown algorithm 'star'; there are tree, ring, collnet-direct, collnet-chain, nvls, nvls-tree, pat");
  EXPECT_EQ(errorOfRow("reduce 8 1 10 tree LL - 1"), "unknown protocol 'LL'; there are ll, ll128, simple");
  EXPECT_EQ(errorOfRow("reduce 8 1 10 tree ll 0 1"), "channels must be from 1 to 64, not '0'");
  for (const char *time : {"0", "-1", "inf", "nan", "1e99", "1us", "*"})
    EXPECT_EQ(errorOfRow(std::string("reduce 8 1 10 tree ll - ") + time),
              std::string("microseconds must be a number above 0, or '?' if not measured, not '") + time + "'");
}

TEST(Table, LeavesChannelsThatNcclDoesNotLimitToNccl) {
  EXPECT_EQ(errorOf(header + "allreduce 8 1 10 nvls simple 4 1"), "");
  EXPECT_EQ(errorOfRow("allreduce 8 2 10 nvls simple 4 1"),
            "NCCL sets the channels of nvls on several nodes itself; write '-', not '4'");
  EXPECT_EQ(errorOfRow("allreduce 8 1 10 collnet-chain simple 4 1"),
            "NCCL sets the channels of collnet-chain itself; write '-', not '4'");
  EXPECT_EQ(errorOf(header + "allreduce 8 2 10 nvls simple - 1\nallreduce 8 2 10 collnet-direct simple - 1"), "");
}

TEST(Table, IsReadFromFiles) {
  const std::string path = testing::TempDir() + "gc3-tuner-table-test.txt";
  std::ofstream(path) << table;
  std::string text;
  std::vector<Row> rows;
  EXPECT_EQ(readTable(path, text, rows), "");
  EXPECT_EQ(text, table);
  EXPECT_EQ(rows.size(), 3u);
  std::ofstream(path, std::ios::app) << "x";
  EXPECT_EQ(readTable(path, text = "", rows).substr(0, path.size() + 26), path + ": line 6: a row has 8 word");
  std::remove(path.c_str());
  EXPECT_EQ(readTable(path, text = "", rows), "cannot read '" + path + "': No such file or directory");
  EXPECT_EQ(readTable(testing::TempDir(), text = "", rows), "cannot read '" + testing::TempDir() + "': Is a directory");
  EXPECT_EQ(readTable("/dev/zero", text = "", rows), "'/dev/zero' is larger than 64 MiB");
}

TEST(Table, BucketsArePowersOfTwo) {
  EXPECT_EQ(bucketOf(0), 0u);
  EXPECT_EQ(bucketOf(1), 0u);
  EXPECT_EQ(bucketOf(1023), 9u);
  EXPECT_EQ(bucketOf(1024), 10u);
  EXPECT_EQ(bucketOf(UINT64_MAX), 63u);
}

/// Texts that differ from a valid one in a few bytes are read or refused. The fuzzer checks the same property.
TEST(Table, ChangedTextsAreReadOrRefused) {
  const std::string words[] = {"allreduce", "8",  "1", "10",           "?", "-", "ring", "ll", "\n",
                               " ",         "64", "0", "collnet-chain"};
  uint32_t state = 1, accepted = 0;
  const auto below = [&](size_t limit) { return (state = state * 1664525 + 1013904223) / 65536 % limit; };
  for (int i = 0; i < 20'000; ++i) {
    std::string text = table;
    for (size_t changes = below(3); changes-- > 0;)
      text.replace(below(text.size()), below(6), words[below(std::size(words))]);
    ASSERT_EQ(test::checkTable(text, accepted), "") << text;
  }
  EXPECT_GT(accepted, 5'000u);
  EXPECT_LT(accepted, 15'000u);
}
