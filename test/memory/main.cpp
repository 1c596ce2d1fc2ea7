// SPDX-License-Identifier: Apache-2.0
// memory-model: prints the tables of the checker.
// memory-model --update PAGE: writes them into a page, after its line `<!-- tables -->`.
// memory-model PROGRAM: prints an execution for each mutant of the program, or for the program if it is wrong.
#include "MemoryPage.h"
#include "Tables.h"

#include <fstream>
#include <iostream>

int main(int count, char **arguments) {
  using namespace gc3::memory;
  const std::string first = count > 1 ? arguments[1] : "";
  if (first.empty()) {
    std::cout << tables();
    return 0;
  }
  if (first == "--update" && count == 3) {
    const std::string page = pageWith(readPage(arguments[2]), tables());
    std::ofstream(arguments[2]) << page;
    return 0;
  }
  for (const Protocol &protocol : protocols())
    if (protocol.name == first) {
      std::cout << executionsOf(protocol);
      return 0;
    }
  std::cerr << "memory-model: there is no program '" << first << "'; the first table lists all programs\n";
  return 1;
}
