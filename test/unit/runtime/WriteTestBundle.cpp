// SPDX-License-Identifier: Apache-2.0
// write-test-bundle FILE [RANKS]: writes a bundle with the programs of the tests. CTest and manual runs of gc3-run use
// it.
#include "Programs.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

int main(int argc, char **argv) {
  using namespace gc3::test;
  if (argc < 2) {
    std::fprintf(stderr, "usage: write-test-bundle FILE [RANKS]\n");
    return 2;
  }
  auto n = static_cast<uint32_t>(argc > 2 ? std::atoi(argv[2]) : 4);
  std::vector<ProgramSpec> programs = {
      ringAllReduce(n, true),  ringAllReduce(n, false, 2), writesInput(n),      allToAll(n, 1),
      allToAll(n, 3),          allGather(n, true),         allGather(n, false), reduceScatter(n, true),
      reduceScatter(n, false), broadcast(n, n / 2),        reduceTo(n, n / 2),  gather(n, n / 2),
      scatter(n, n / 2),       shiftReversed(n, 3)};
  if (n > 1)
    programs.push_back(plainRingAllReduce(n));
  std::ofstream(argv[1], std::ios::binary) << buildBundle(programs);
  return 0;
}
