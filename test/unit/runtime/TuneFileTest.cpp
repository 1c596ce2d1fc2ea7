// SPDX-License-Identifier: Apache-2.0
// Tests the file of learned times: its text, each error and its line, and the replacement of files.
#include "select/TuneFile.h"
#include "CheckTuneFile.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace gc3::select;
namespace fs = std::filesystem;

namespace {

TuneFile sample() {
  return {"host, 2 processors",
          0x123456789abcdef,
          {{"shift(n = 4, by = 1)", "2B", false, 8, 2}, {"allreduce", "4B", true, 8, 1}},
          {{0, 63, "tree/LL", 1, 1e9f, 2, 0},
           {1, 12, "ring", 60, 35.2f, 0.04f, 1764217377},
           {1, 12, "nccl", 3, 41, 0, 1764217377},
           {1, 2, "ring", 9, 0.5f, 0.5f, 7}}};
}

const std::string sampleText = "gc3-learned 1\n"
                               "machine host, 2 processors\n"
                               "bundle 0x0123456789abcdef\n"
                               "# bucket arm calls median_us spread last_use\n"
                               "context ranks=8 hosts=1 type=4B inplace=1 allreduce\n"
                               "2 ring 9 0.5 0.5 7\n"
                               "12 nccl 3 41 0 1764217377\n"
                               "12 ring 60 35.2 0.04 1764217377\n"
                               "context ranks=8 hosts=2 type=2B inplace=0 shift(n = 4, by = 1)\n"
                               "63 tree/LL 1 1e+09 2 0\n";

/// Returns the message for the sample with the first `from` replaced by `to`.
std::string problemOf(const std::string &from, const std::string &to) {
  std::string text = sampleText;
  text.replace(text.find(from), from.size(), to);
  return readTuneText(text, "f").outcome().message;
}

/// A new folder, removed at the end.
class Folder {
public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "gc3-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char *name) const { return (path / name).string(); }
  size_t entries() const { return static_cast<size_t>(std::distance(fs::directory_iterator(path), {})); }

private:
  fs::path path;
};

} // namespace

TEST(TuneFile, TextIsSortedAndReadsAsTheSame) {
  EXPECT_EQ(writeTuneText(sample()), sampleText);
  const TuneResult read = readTuneText(sampleText + "\n# end", "f");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(writeTuneText(*read), sampleText);
  ASSERT_EQ(read->contexts.size(), 2u);
  EXPECT_EQ(read->contexts[1], sample().contexts[0]);
  EXPECT_EQ(read->contexts[0], sample().contexts[1]);
  ASSERT_EQ(read->rows.size(), 4u);
  const TuneRow &row = read->rows[2];
  EXPECT_EQ(row.context, 0u);
  EXPECT_EQ(row.bucket, 12u);
  EXPECT_EQ(row.arm, "ring");
  EXPECT_EQ(row.calls, 60u);
  EXPECT_EQ(row.microseconds, 35.2f);
  EXPECT_EQ(row.spread, 0.04f);
  EXPECT_EQ(row.lastUse, 1764217377);
  TuneFile odd = sample();
  odd.machine = "a\nb\xff";
  EXPECT_EQ(readTuneText(writeTuneText(odd), "f")->machine, "a?b?");
}

TEST(TuneFile, ErrorsHaveALine) {
  const std::string header = "f:1: the file does not begin with 'gc3-learned 1'";
  EXPECT_EQ(readTuneText("", "f").outcome().message, header);
  EXPECT_EQ(problemOf("gc3-learned", "gc3_learned"), header);
  for (const char *wrong : {"machin host", "machine", "machine \x1b", "# machine"})
    EXPECT_EQ(problemOf("machine host, 2 processors", wrong),
              std::string("f:") + (wrong[0] == '#' ? "3" : "2") + ": expected 'machine' and its name");
  for (const char *wrong : {"bundle 123456789abcdef0", "bundle 0x123456789abcdef", "bundle 0x0123456789abcdeg", "bund"})
    EXPECT_EQ(problemOf("bundle 0x0123456789abcdef", wrong), "f:3: expected 'bundle' and its digest: 0x and 16 digits");
  for (const auto &[from, to] : {std::pair("ranks=8", "ranks=0"),
                                 {"ranks=8", "rank=8"},
                                 {"ranks=8", "ranks=8x"},
                                 {"hosts=1", "hosts=0"},
                                 {"hosts=1", "hosts=9"},
                                 {"type=4B", "type="},
                                 {"inplace=1", "inplace=2"},
                                 {" allreduce", ""},
                                 {" allreduce", " a\x7f"}})
    EXPECT_EQ(problemOf(from, to), "f:5: expected 'context ranks=R hosts=H type=T inplace=0 COLLECTIVE', with at least "
                                   "one host, and at most one for each rank");
  for (const char *wrong :
       {"64 ring 9 0.5 0.5 7", "-1 ring 9 0.5 0.5 7", "2  9 0.5 0.5 7", "2 r\tng 9 0.5 0.5 7", "2 ring 0 0.5 0.5 7",
        "2 ring 9 0 0.5 7", "2 ring 9 inf 0.5 7", "2 ring 9 0.5 nan 7", "2 ring 9 0.5 -1 7", "2 ring 9 0.5 0.5 -7",
        "2 ring 9 0.5 0.5", "2 ring 9 0.5 0.5 7 8", "2"})
    EXPECT_EQ(problemOf("2 ring 9 0.5 0.5 7", wrong), "f:6: expected 'BUCKET ARM CALLS MEDIAN SPREAD SECONDS', with a "
                                                      "bucket of at most 63, calls and a median above 0");
  EXPECT_EQ(problemOf("context ranks=8 hosts=1", "#"), "f:6: a row needs a context before it");
  EXPECT_EQ(problemOf("12 ring", "12 nccl"), "f:8: an earlier line has the same bucket and arm");
  EXPECT_EQ(problemOf("hosts=2 type=2B inplace=0 shift(n = 4, by = 1)", "hosts=1 type=4B inplace=1 allreduce"),
            "f:9: an earlier line has the same context");
}

TEST(TuneFile, OfAnotherVersionMachineOrBundleIsIgnored) {
  const TuneStatus newer = readTuneText("gc3-learned 2\nanything", "f").outcome();
  EXPECT_EQ(newer.error, TuneError::OtherVersion);
  EXPECT_EQ(newer.message, "f:1: the file has version '2', this gc3 reads version 1");
  EXPECT_EQ(readTuneText("gc3-learned 1\n", "f").outcome().error, TuneError::Malformed);
  const TuneFile file = sample();
  EXPECT_EQ(reasonToIgnore(file, file.machine, file.bundle), "");
  EXPECT_EQ(reasonToIgnore(file, "host,\t4", file.bundle), "it is for the machine 'host, 2 processors', not 'host,?4'");
  EXPECT_EQ(reasonToIgnore(file, file.machine, 1), "it is for the bundle 0x0123456789abcdef, not 0x0000000000000001");
}

TEST(TuneFile, IsReplacedAsAWhole) {
  const Folder folder;
  const std::string path = folder.file("learned"), link = folder.file("link");
  EXPECT_EQ(loadTuneFile(path).outcome().error, TuneError::Missing);
  EXPECT_EQ(loadTuneFile(path).outcome().message, path + ": No such file or directory");
  EXPECT_EQ(saveTuneFile(path, sample()), "");
  ASSERT_TRUE(loadTuneFile(path).ok());
  EXPECT_EQ(writeTuneText(*loadTuneFile(path)), sampleText);
  fs::create_symlink("learned", link);
  TuneFile other = sample();
  other.rows.clear();
  EXPECT_EQ(saveTuneFile(link, other), "");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(writeTuneText(*loadTuneFile(path)), writeTuneText(other));
  // A temporary file of an earlier process with the same number is in the way, but stays as it is.
  const std::string left = path + "." + std::to_string(getpid()) + ".0.tmp";
  std::ofstream(left) << "old";
  EXPECT_EQ(saveTuneFile(path, sample()), "");
  EXPECT_EQ(fs::file_size(left), 3u);
  EXPECT_EQ(folder.entries(), 3u);
}

TEST(TuneFile, StaysAsItIsAfterAnError) {
  const Folder folder;
  const std::string path = folder.file("learned");
  TuneFile wrong = sample();
  wrong.rows[0].arm = "two words";
  const std::string problem = saveTuneFile(path, wrong);
  EXPECT_EQ(problem.substr(0, problem.find(path)), "cannot save what could not be read again: ");
  const std::string inNone = folder.file("none/learned");
  EXPECT_EQ(saveTuneFile(inNone, sample()), "cannot write '" + inNone + "': No such file or directory");
  EXPECT_EQ(folder.entries(), 0u);
  fs::create_directory(path);
  EXPECT_EQ(saveTuneFile(path, sample()), "cannot write '" + path + "': Is a directory");
  EXPECT_EQ(loadTuneFile(path).outcome().error, TuneError::System);
  EXPECT_EQ(loadTuneFile(path).outcome().message, path + ": Is a directory");
  EXPECT_EQ(folder.entries(), 1u);
  EXPECT_EQ(loadTuneFile("/dev/zero").outcome().message, "/dev/zero: more than 64 MiB");
}

TEST(TuneFile, MergesRowsByTheNumberOfCalls) {
  const TuneContext apart = sample().contexts[0], other{"allgather", "2B", false, 8, 2};
  TuneFile one = sample();
  // Fewer, as many and more calls; a new row; a new context, and one of its rows twice.
  const TuneFile two{one.machine,
                     one.bundle,
                     {other, one.contexts[1], apart},
                     {{1, 12, "ring", 59, 1, 1, 1},
                      {1, 12, "nccl", 3, 1, 1, 1},
                      {1, 2, "ring", 10, 1, 1, 1},
                      {2, 62, "tree/LL", 1, 1, 1, 1},
                      {0, 1, "ring", 1, 7, 1, 1},
                      {0, 1, "ring", 2, 8, 1, 1}}};
  TuneFile expected = sample();
  expected.contexts.push_back(other);
  expected.rows[3] = {1, 2, "ring", 10, 1, 1, 1};
  expected.rows.push_back({0, 62, "tree/LL", 1, 1, 1, 1});
  expected.rows.push_back({2, 1, "ring", 2, 8, 1, 1});
  mergeTuneFile(one, two);
  EXPECT_EQ(writeTuneText(one), writeTuneText(expected));
  mergeTuneFile(one, sample());
  mergeTuneFile(one, two);
  EXPECT_EQ(writeTuneText(one), writeTuneText(expected));
}

TEST(TuneFile, AddsToAFileOfTheSameMachineAndBundle) {
  const Folder folder;
  const std::string path = folder.file("learned");
  TuneFile ours = sample(), more = sample(), other = sample();
  ours.rows.erase(ours.rows.begin());
  EXPECT_EQ(addToTuneFile(path, ours), "");
  EXPECT_EQ(writeTuneText(*loadTuneFile(path)), writeTuneText(ours));
  more.rows.resize(1);
  EXPECT_EQ(addToTuneFile(path, more), "");
  EXPECT_EQ(writeTuneText(*loadTuneFile(path)), sampleText);
  other.bundle = 1, other.rows.resize(1);
  EXPECT_EQ(addToTuneFile(path, other), "");
  EXPECT_EQ(writeTuneText(*loadTuneFile(path)), writeTuneText(other));
  std::ofstream(path) << "notes of the user";
  EXPECT_EQ(addToTuneFile(path, ours), "cannot replace what is no file of learned times: " + path +
                                           ":1: the file does not begin with 'gc3-learned 1'");
  EXPECT_EQ(fs::file_size(path), 17u);
  EXPECT_EQ(folder.entries(), 2u); // the file and its lock
}

TEST(TuneFile, ThreadsAndProcessesLoseNothing) {
  const Folder folder;
  const std::string path = folder.file("learned");
  constexpr uint32_t writers = 3, rows = 20;
  const auto add = [&](uint32_t writer) {
    bool isAdded = true;
    for (uint32_t row = 0; row < rows; ++row) {
      TuneFile one = sample();
      one.rows = {{0, row, "arm" + std::to_string(writer), 1, 1, 0, 0}};
      isAdded = addToTuneFile(path, one).empty() && isAdded;
    }
    return isAdded;
  };
  const pid_t child = fork();
  if (child == 0)
    _exit(add(0) ? 0 : 1);
  std::array<bool, writers> areAdded{};
  std::vector<std::thread> threads;
  for (uint32_t writer = 1; writer < writers; ++writer)
    threads.emplace_back([&, writer] { areAdded[writer] = add(writer); });
  for (std::thread &thread : threads)
    thread.join();
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(areAdded[1] && areAdded[2]);
  EXPECT_EQ(loadTuneFile(path)->rows.size(), writers * rows);
}

/// Texts that differ from a valid one in a few bytes are read or refused. The fuzzer checks the same property.
TEST(TuneFile, ChangedTextsAreReadOrRefused) {
  uint32_t state = 1, accepted = 0;
  const auto below = [&](size_t limit) { return (state = state * 1664525 + 1013904223) / 65536 % limit; };
  const std::string characters = "0123456789 \n#=.-e\x7fxgc";
  for (int i = 0; i < 20000; ++i) {
    std::string text = sampleText;
    for (size_t edits = 1 + below(3); edits > 0; --edits)
      text[below(text.size())] = characters[below(characters.size())];
    ASSERT_EQ(gc3::test::checkTuneFile(text, accepted), "") << text;
  }
  EXPECT_GT(accepted, 1000u);
}
