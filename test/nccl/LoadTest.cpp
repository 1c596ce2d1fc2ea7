// SPDX-License-Identifier: Apache-2.0
// Tests the interposer with programs that load NCCL in different ways. Each command runs one program, and the test
// compares its output. CMake defines the paths. The programs load the printing NCCL. It runs all calls, because it
// lacks functions that gc3 needs, or because the build has no GPU support.
#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <string>

namespace {

/// Returns the output of `command` on stdout and stderr, in order, and its exit status if that is not 0.
std::string outputOf(const std::string &command) {
  std::string output;
  FILE *pipe = popen(("exec 2>&1; " + command).c_str(), "r");
  for (int c = 0; pipe && (c = std::fgetc(pipe)) != EOF;)
    output += static_cast<char>(c);
  int status = pipe ? pclose(pipe) : -1;
  return status ? output + "exit " + std::to_string(status) + "\n" : output;
}

const std::string preload = "LD_PRELOAD=" FRONT " ";

/// The lines that useNccl() prints: first the creation of the communicator, then the rest.
const std::string made = "NCCL CommInitRank(4, id, 3)\n";
const std::string afterMade = "NCCL AllReduce(0x0, 0x0, 262144, 7, 0, c0, 0x0)\n"
                              "NCCL AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)\n"
                              "NCCL GroupStart()\n"
                              "NCCL AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)\n"
                              "NCCL Send(0x0, 1, 0, 2, c0, 0x0)\n"
                              "NCCL GroupEnd()\n"
                              "NCCL Bcast(0x0, 2, 0, 3, c0, 0x0)\n"
                              "NCCL Broadcast(0x0, 0x0, 2, 0, 3, c0, 0x0)\n"
                              "NCCL AlltoAll(0x0, 0x0, 3, 0, c0, 0x0)\n"
                              "NCCL CommDestroy(c0)\n";
const std::string plain = made + afterMade;

/// `withLine` has the line that the interposer logs at the first collective call if GC3_BUNDLES is set.
const std::string why = "gc3: NCCL serves all calls: " WHY_NOT "\n";
const std::string withLine = made + why + afterMade;

} // namespace

TEST(Load, WithoutGc3) {
  EXPECT_EQ(outputOf(LINKED_USER), plain);
  EXPECT_EQ(outputOf(LOCAL_USER " " USER_MODULE), plain);
}

TEST(Load, PreloadedIntoAProgramThatLinksNccl) {
  EXPECT_EQ(outputOf(preload + LINKED_USER), plain);
  EXPECT_EQ(outputOf("GC3_BUNDLES=: " + preload + LINKED_USER), withLine);
}

TEST(Load, PreloadedIntoAProgramThatOpensNcclForItself) {
  EXPECT_EQ(outputOf("GC3_BUNDLES=: " + preload + LOCAL_USER " " USER_MODULE), withLine);
}

TEST(Load, LinkedInFrontOfNccl) {
  EXPECT_EQ(outputOf("GC3_BUNDLES=: " FRONT_LINKED_USER), withLine);
}

// A handle is valid only in the library that created it. So GC3_NCCL_LIB must not select another library than the
// program uses.
TEST(Load, TheNcclInUseComesFirst) {
  const std::string elsewhere = "GC3_NCCL_LIB=" OLD_FOLDER "/libnccl.so.2 GC3_BUNDLES=: " + preload;
  EXPECT_EQ(outputOf(elsewhere + LINKED_USER), withLine);
  EXPECT_EQ(outputOf(elsewhere + LOCAL_USER " " USER_MODULE), withLine);
}

TEST(Load, AnNcclOfAnotherNameIsFoundWhereItIsLinked) {
  EXPECT_EQ(outputOf("LD_LIBRARY_PATH=" NO_NCCL_FOLDER " " + preload + OTHER_LINKED_USER), plain);
}

TEST(Load, TheLogSaysThatNcclRunsAllCalls) {
  const std::string rest = " 2>&1 | grep '^gc3' | grep -v 'gc3: setting'";
  EXPECT_EQ(outputOf("GC3_DEBUG=INFO GC3_BUNDLES=: " + preload + LINKED_USER + rest), why);
  EXPECT_EQ(outputOf("GC3_DEBUG=info " + preload + LINKED_USER + rest),
            "gc3: GC3_BUNDLES is not set: NCCL serves all calls\n");
}

TEST(Load, TheLogHasEachSettingOnce) {
  const std::string output = outputOf("GC3_DEBUG=INFO GC3_BUNDLES=: NCCL_GRAPH_MIXING_SUPPORT=1 " + preload +
                                      LINKED_USER " 2>&1 | grep '^gc3: setting'");
  const std::string set = "gc3: setting GC3_BUNDLES=: (environment)\n"
                          "gc3: setting GC3_DEBUG=INFO (environment)\n"
                          "gc3: setting NCCL_GRAPH_MIXING_SUPPORT=1 (environment)\n"
                          "gc3: settings by default: GC3_NCCL_LIB (";
  EXPECT_EQ(output.substr(0, set.size()), set) << output;
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 4) << output;
  EXPECT_NE(output.find(", GC3_LL128 (replace), "), std::string::npos) << output;
}

// Variables such as GC3_CUDA are options of gc3's build. gc3 does not report them as unknown variables.
TEST(Load, UnknownVariablesAreWarnedOfOnce) {
  EXPECT_EQ(outputOf("GC3_BUNDLE=x GC3_CUDA=ON " + preload + LINKED_USER),
            made + "gc3: unknown variable GC3_BUNDLE; did you mean GC3_BUNDLES?\n" + afterMade);
}

TEST(Load, FunctionsThatNcclLacksAreErrors) {
  const std::string output = outputOf("LD_LIBRARY_PATH=" OLD_FOLDER " " + preload + LINKED_USER);
  const size_t missing = plain.find("NCCL AlltoAll");
  EXPECT_EQ(output, plain.substr(0, missing) + "gc3: the installed NCCL has no ncclAlltoAll\n" +
                        plain.substr(plain.find('\n', missing) + 1));
}

TEST(Load, NoNcclAtAllIsAnError) {
  EXPECT_EQ(outputOf("LD_LIBRARY_PATH=" NO_NCCL_FOLDER " " PATH_USER " " FRONT " communicate"),
            "ncclGetVersion -1\nncclGetVersion -1\npncclGetVersion -1\nversion 0\ntext none\nncclMemFree -1\n"
            "result -1\n0 ranks\n"
            "gc3: no NCCL found; set GC3_NCCL_LIB to the installed libnccl.so.2\n"
            "group 3\n");
}

#ifdef REPLACEMENT
namespace {

const std::string path = "ncclGetVersion 0\nncclGetVersion 0\npncclGetVersion 0\nversion 22809\n";

/// Returns the output of PathUser if there is no installed NCCL. `because` is the rest of gc3's log line.
std::string nothing(const std::string &because) {
  return "gc3: no NCCL found; " + because +
         "\nncclGetVersion 3\nncclGetVersion 3\npncclGetVersion 3\nversion 0\n"
         "text gc3: the installed NCCL has not been found, or lacks ncclGetErrorString\nncclMemFree 3\n";
}

} // namespace

TEST(Load, ByPathInNcclsPlace) {
  const std::string head = path +
                           "gc3: the installed NCCL has no ncclGetErrorString\n"
                           "text gc3: the installed NCCL has not been found, or lacks ncclGetErrorString\n"
                           "gc3: the installed NCCL has no ncclMemFree\n"
                           "ncclMemFree 3\n"
                           "NCCL CommInitRank(4, id, 1)\n"
                           "result 0\n"
                           "4 ranks\n" +
                           why +
                           "NCCL AllReduce(0x0, 0x0, 2, 0, 0, c0, 0x0)\n"
                           "NCCL AllReduce(0x0, 0x0, 2, 0, 0, c0, 0x0)\n"
                           "NCCL Send(0x0, 5, 6, 6, c0, 0x70)\n"
                           "NCCL GroupStart()\n";
  const std::string tail = "NCCL CommDestroy(c0)\n"
                           "NCCL GroupEnd()\n"
                           "group 0\n";
  EXPECT_EQ(outputOf("GC3_BUNDLES=: GC3_NCCL_LIB=" PRINTING " " PATH_USER " " REPLACEMENT " communicate"),
            head + "NCCL AlltoAll(0x0, 0x0, 2, 0, c0, 0x0)\n" + tail);
  EXPECT_EQ(
      outputOf("GC3_BUNDLES=: GC3_NCCL_LIB=" OLD_FOLDER "/libnccl.so.2 " PATH_USER " " REPLACEMENT " communicate"),
      head + "gc3: the installed NCCL has no ncclAlltoAll\n" + tail);
}

// NCCL sets environment variables from nccl.conf when it creates a communicator. gc3 has already read its settings to
// find NCCL, so it reads them again afterwards.
TEST(Load, VariablesOfNcclCountOnceItHasMadeACommunicator) {
  const std::string output = outputOf("GC3_DEBUG=INFO GC3_BUNDLES=: TEST_NCCL_CONF=0 GC3_NCCL_LIB=" PRINTING
                                      " LD_LIBRARY_PATH=" REPLACEMENT_FOLDER " " LINKED_USER);
  const std::string line = "gc3: setting NCCL_GRAPH_MIXING_SUPPORT=0 (changed by NCCL or the application)\n";
  const size_t initialized = output.find(made), changed = output.find(line);
  ASSERT_NE(changed, std::string::npos) << output;
  EXPECT_LT(initialized, changed);
  EXPECT_EQ(output.find("setting NCCL_GRAPH_MIXING_SUPPORT", changed + line.size()), std::string::npos);
}

// The interposer precedes the installed NCCL in the program's search path. NCCL's calls of its own exported functions
// also reach the interposer.
TEST(Load, InNcclsPlaceOnTheSearchPath) {
  EXPECT_EQ(outputOf("GC3_BUNDLES=: GC3_NCCL_LIB=" PRINTING " LD_LIBRARY_PATH=" REPLACEMENT_FOLDER " " LINKED_USER),
            withLine);
}

TEST(Load, InNcclsPlaceWithoutAnNccl) {
  EXPECT_EQ(outputOf(PATH_USER " " REPLACEMENT), nothing("set GC3_NCCL_LIB to the installed libnccl.so.2"));
  EXPECT_EQ(outputOf("GC3_NCCL_LIB=" REPLACEMENT " " PATH_USER " " REPLACEMENT),
            nothing("GC3_NCCL_LIB names '" REPLACEMENT "': not an NCCL library other than gc3"));
  EXPECT_EQ(outputOf("GC3_NCCL_LIB=/nowhere/libnccl.so.2 " PATH_USER " " REPLACEMENT),
            nothing("GC3_NCCL_LIB names '/nowhere/libnccl.so.2': /nowhere/libnccl.so.2: cannot open shared object "
                    "file: No such file or directory"));
}

// Functions of the installed NCCL that need no GPU return the same with gc3 as without it.
TEST(Load, BeforeTheInstalledNccl) {
#ifdef INSTALLED
  std::string direct = outputOf(PATH_USER " " INSTALLED);
  EXPECT_EQ(direct.substr(0, direct.find("version 2")), path.substr(0, path.find("version 2")));
  EXPECT_EQ(outputOf("GC3_NCCL_LIB=" INSTALLED " " PATH_USER " " REPLACEMENT), direct);
#else
  GTEST_SKIP() << "no NCCL is installed here";
#endif
}
#endif
