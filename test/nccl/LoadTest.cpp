// SPDX-License-Identifier: Apache-2.0
// How programs come by NCCL, and the library in front with them: each line is one run of a program, with all that it
// prints. The paths are CMake's.
#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <string>

namespace {

/// What `command` prints to stdout and stderr, in the order in which it prints it, and its exit code if that is not 0.
std::string outputOf(const std::string &command) {
  std::string output;
  FILE *pipe = popen(("exec 2>&1; " + command).c_str(), "r");
  for (int c = 0; pipe && (c = std::fgetc(pipe)) != EOF;)
    output += static_cast<char>(c);
  int status = pipe ? pclose(pipe) : -1;
  return status ? output + "exit " + std::to_string(status) + "\n" : output;
}

const std::string preloadTest = "GC3_BUNDLES=: LD_PRELOAD=" TEST_FRONT " ";

/// The events of useNccl with an engine in front.
const std::string served = "NCCL CommInitRank(4, id, 3)\n"
                           "engine attach c0=3/4\n"
                           "engine run 7 AllReduce 1 MiB float sum on c0\n"
                           "NCCL AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)\n"
                           "NCCL GroupStart()\n"
                           "NCCL Send(0x0, 1, 0, 2, c0, 0x0)\n"
                           "NCCL GroupEnd()\n"
                           "engine run 7 AllReduce 8 B float sum on c0\n"
                           "NCCL AlltoAll(0x0, 0x0, 3, 0, c0, 0x0)\n"
                           "engine detach c0\n"
                           "NCCL CommDestroy(c0)\n";

/// And without one.
const std::string plain = "NCCL CommInitRank(4, id, 3)\n"
                          "NCCL AllReduce(0x0, 0x0, 262144, 7, 0, c0, 0x0)\n"
                          "NCCL AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)\n"
                          "NCCL GroupStart()\n"
                          "NCCL AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)\n"
                          "NCCL Send(0x0, 1, 0, 2, c0, 0x0)\n"
                          "NCCL GroupEnd()\n"
                          "NCCL AlltoAll(0x0, 0x0, 3, 0, c0, 0x0)\n"
                          "NCCL CommDestroy(c0)\n";

} // namespace

TEST(Load, WithoutUs) {
  EXPECT_EQ(outputOf(LINKED_USER), plain);
  EXPECT_EQ(outputOf(LOCAL_USER " " USER_MODULE), plain);
}

TEST(Load, PreloadedIntoAProgramThatLinksNccl) {
  EXPECT_EQ(outputOf(preloadTest + LINKED_USER), served);
  EXPECT_EQ(outputOf("LD_PRELOAD=" TEST_FRONT " " LINKED_USER), plain) << "no bundles, no engine";
  EXPECT_EQ(outputOf("LD_PRELOAD=" FRONT " " LINKED_USER), plain);
}

TEST(Load, PreloadedIntoAProgramThatOpensNcclForItself) {
  EXPECT_EQ(outputOf(preloadTest + LOCAL_USER " " USER_MODULE), served);
}

TEST(Load, LinkedInFrontOfNccl) {
  EXPECT_EQ(outputOf("GC3_BUNDLES=: " FRONT_LINKED_USER), served);
}

// The handles of one library mean nothing to another, so no setting may lead away from the one in use.
TEST(Load, TheNcclInUseComesFirst) {
  const std::string elsewhere = "GC3_NCCL_LIB=" OLD_FOLDER "/libnccl.so.2 " + preloadTest;
  EXPECT_EQ(outputOf(elsewhere + LINKED_USER), served);
  EXPECT_EQ(outputOf(elsewhere + LOCAL_USER " " USER_MODULE), served);
}

TEST(Load, AnNcclOfAnotherNameIsFoundWhereItIsLinked) {
  EXPECT_EQ(outputOf("LD_LIBRARY_PATH=" NO_NCCL_FOLDER " " + preloadTest + OTHER_LINKED_USER), served);
}

TEST(Load, TheLogSaysWhoServes) {
  const std::string rest = " 2>&1 | grep '^gc3' | grep -v 'gc3: setting'";
  EXPECT_EQ(outputOf("GC3_DEBUG=INFO GC3_BUNDLES=: LD_PRELOAD=" FRONT " " LINKED_USER + rest),
            "gc3: rank 3 of 4: a communicator is left to NCCL: " WHY_NOT "\n"
            "gc3: rank 3: AllReduce 1 MiB float sum: NCCL: " WHY_NOT "\n"
            "gc3: rank 3: AllReduce 12 B float sum: NCCL: " WHY_NOT "\n"
            "gc3: rank 3: AllReduce 8 B float sum: NCCL: " WHY_NOT "\n"
            "gc3: rank 3: AlltoAll 12 B int8: NCCL: " WHY_NOT "\n");
  EXPECT_EQ(outputOf("GC3_DEBUG=info " + preloadTest + LINKED_USER + rest),
            "gc3: rank 3: AllReduce 1 MiB float sum: even_program\n"
            "gc3: rank 3: AllReduce 12 B float sum: NCCL: an odd count\n"
            "gc3: rank 3: AllReduce 8 B float sum: even_program\n"
            "gc3: rank 3: AlltoAll 12 B int8: NCCL: an odd count\n");
  EXPECT_EQ(outputOf("GC3_DEBUG=INFO LD_PRELOAD=" FRONT " " LINKED_USER + rest),
            "gc3: GC3_BUNDLES is not set: NCCL serves all calls\n");
}

TEST(Load, TheLogHasEachSettingOnce) {
  const std::string output = outputOf("GC3_DEBUG=INFO GC3_BUNDLES=: NCCL_COMM_BLOCKING=1 LD_PRELOAD=" FRONT
                                      " " LINKED_USER " 2>&1 | grep '^gc3: setting'");
  const std::string set = "gc3: setting GC3_BUNDLES=: (environment)\n"
                          "gc3: setting GC3_DEBUG=INFO (environment)\n"
                          "gc3: setting NCCL_COMM_BLOCKING=1 (environment)\n"
                          "gc3: settings by default: GC3_NCCL_LIB (";
  EXPECT_EQ(output.substr(0, set.size()), set) << output;
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 4) << output;
  EXPECT_NE(output.find(", GC3_LL128 (replace), "), std::string::npos) << output;
}

// Options of the build are no settings, and no mistakes.
TEST(Load, UnknownVariablesAreWarnedOfOnce) {
  EXPECT_EQ(outputOf("GC3_BUNDLE=x GC3_CUDA=ON LD_PRELOAD=" FRONT " " LINKED_USER " 2>&1"),
            "gc3: unknown variable GC3_BUNDLE; did you mean GC3_BUNDLES?\n" + plain);
}

// As NCCL does with what it finds in nccl.conf.
TEST(Load, VariablesOfNcclCountWhenItHasMadeACommunicator) {
  const std::string output = outputOf("GC3_DEBUG=INFO FAKE_NCCL_BLOCKING=0 " + preloadTest + LINKED_USER);
  const std::string line = "gc3: setting NCCL_COMM_BLOCKING=0 (changed by NCCL or the application)\n";
  const size_t made = output.find("NCCL CommInitRank(4, id, 3)\n"), changed = output.find(line);
  ASSERT_NE(changed, std::string::npos) << output;
  EXPECT_LT(made, changed);
  EXPECT_EQ(output.find("setting NCCL_COMM_BLOCKING", changed + line.size()), std::string::npos);
  EXPECT_NE(output.find("a communicator is left to NCCL: it does not block\n"), std::string::npos) << output;
}

// NCCL serves then.
TEST(Load, BadBundlesAreToldOnce) {
  EXPECT_EQ(outputOf("GC3_BUNDLES=:/nowhere/a.gc3b:/nowhere/b.gc3b LD_PRELOAD=" FRONT " " LINKED_USER),
            "gc3: GC3_BUNDLES: '/nowhere/a.gc3b': can't open '/nowhere/a.gc3b': No such file or directory; NCCL serves "
            "all calls\n" +
                plain);
  EXPECT_EQ(outputOf("GC3_BUNDLES=" USER_MODULE " LD_PRELOAD=" FRONT " " LINKED_USER),
            "gc3: GC3_BUNDLES: '" USER_MODULE "': not a gc3 bundle: the file does not begin with 'GC3B'; NCCL serves "
            "all calls\n" +
                plain);
}

TEST(Load, FunctionsThatNcclLacksAreErrors) {
  std::string output = outputOf("LD_LIBRARY_PATH=" OLD_FOLDER " LD_PRELOAD=" TEST_FRONT " GC3_BUNDLES=: " LINKED_USER);
  size_t missing = served.find("NCCL AlltoAll");
  EXPECT_EQ(output, served.substr(0, missing) + "gc3: the installed NCCL has no ncclAlltoAll\n" +
                        served.substr(served.find('\n', missing) + 1));
}

TEST(Load, NoNcclAtAllIsAnError) {
  EXPECT_EQ(outputOf("LD_LIBRARY_PATH=" NO_NCCL_FOLDER " " PATH_USER " " TEST_FRONT " communicate"),
            "ncclGetVersion -1\nncclGetVersion -1\npncclGetVersion -1\nversion 0\ntext none\nncclMemFree -1\n"
            "gc3: there is no NCCL to call; set GC3_NCCL_LIB to the installed libnccl.so.2\n"
            "result 3\n0 ranks\ngroup 3\n");
}

#ifdef TEST_REPLACEMENT
namespace {

const std::string path = "ncclGetVersion 0\nncclGetVersion 0\npncclGetVersion 0\nversion 22809\n";

/// What PathUser prints where there is nothing behind it.
std::string nothing(const std::string &why) {
  return "gc3: there is no NCCL to call; " + why +
         "\nncclGetVersion 3\nncclGetVersion 3\npncclGetVersion 3\nversion 0\n"
         "text gc3: the installed NCCL has not been found, or lacks ncclGetErrorString\nncclMemFree 3\n";
}

} // namespace

TEST(Load, ByPathInNcclsPlace) {
  const std::string head = path + "gc3: the installed NCCL has no ncclGetErrorString\n"
                                  "text gc3: the installed NCCL has not been found, or lacks ncclGetErrorString\n"
                                  "gc3: the installed NCCL has no ncclMemFree\n"
                                  "ncclMemFree 3\n"
                                  "NCCL CommInitRank(4, id, 1)\n"
                                  "engine attach c0=1/4\n"
                                  "result 0\n"
                                  "4 ranks\n"
                                  "engine run 7 AllReduce 2 B int8 sum on c0\n"
                                  "NCCL AllReduce(0x0, 0x0, 2, 0, 0, c0, 0x0)\n"
                                  "NCCL Send(0x0, 5, 6, 6, c0, 0x70)\n"
                                  "NCCL GroupStart()\n";
  const std::string tail = "engine detach c0\n"
                           "NCCL CommDestroy(c0)\n"
                           "NCCL GroupEnd()\n";
  EXPECT_EQ(outputOf("GC3_BUNDLES=: GC3_NCCL_LIB=" FAKE " " PATH_USER " " TEST_REPLACEMENT " communicate"),
            head + "NCCL AlltoAll(0x0, 0x0, 2, 0, c0, 0x0)\n" + tail + "group 0\n");
  EXPECT_EQ(
      outputOf("GC3_BUNDLES=: GC3_NCCL_LIB=" OLD_FOLDER "/libnccl.so.2 " PATH_USER " " TEST_REPLACEMENT " communicate"),
      head + "gc3: the installed NCCL has no ncclAlltoAll\n" + tail + "group 3\n")
      << "a call that was kept and can't be handed over is an error of the group";
}

// In a program's search path instead of the installed one, where NCCL's own calls come back to it.
TEST(Load, InNcclsPlaceOnTheSearchPath) {
  EXPECT_EQ(outputOf("GC3_BUNDLES=: GC3_NCCL_LIB=" FAKE " LD_LIBRARY_PATH=" TEST_REPLACEMENT_FOLDER " " LINKED_USER),
            served);
}

TEST(Load, InNcclsPlaceWithNoneBehind) {
  EXPECT_EQ(outputOf(PATH_USER " " TEST_REPLACEMENT), nothing("set GC3_NCCL_LIB to the installed libnccl.so.2"));
  EXPECT_EQ(outputOf("GC3_NCCL_LIB=" TEST_REPLACEMENT " " PATH_USER " " TEST_REPLACEMENT),
            nothing("GC3_NCCL_LIB names '" TEST_REPLACEMENT "': not an NCCL of its own"));
  EXPECT_EQ(outputOf("GC3_NCCL_LIB=/nowhere/libnccl.so.2 " PATH_USER " " TEST_REPLACEMENT),
            nothing("GC3_NCCL_LIB names '/nowhere/libnccl.so.2': /nowhere/libnccl.so.2: cannot open shared object "
                    "file: No such file or directory"));
}

// What works without a GPU is as it is without us.
TEST(Load, BeforeTheInstalledNccl) {
#ifdef INSTALLED
  std::string direct = outputOf(PATH_USER " " INSTALLED);
  EXPECT_EQ(direct.substr(0, direct.find("version 2")), path.substr(0, path.find("version 2")));
  EXPECT_EQ(outputOf("GC3_NCCL_LIB=" INSTALLED " " PATH_USER " " TEST_REPLACEMENT), direct);
#else
  GTEST_SKIP() << "no NCCL is installed here";
#endif
}
#endif
