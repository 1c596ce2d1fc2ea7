// SPDX-License-Identifier: Apache-2.0
// Predicts a program of an orbit (Orbit.h): bench-orbits FILE TOPOLOGY BYTES. Prints a line of JSON.
#include "Orbit.h"
#include "ReadTopology.h"
#include "cuda/Options.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace gc3;
using namespace gc3::simulate;

static int fail(const std::string &message) {
  std::fprintf(stderr, "bench-orbits: error: %s\n", message.c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return fail("the arguments are FILE TOPOLOGY BYTES");
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  std::string error;
  const std::optional<Orbit> orbit = parseOrbit(text.str(), error);
  if (!file || !orbit)
    return fail(std::string(argv[1]) + ":" + error);
  const auto topology = driver::readTopology(argv[2], error, topology::SwitchLinks::NoNetwork);
  if (!topology)
    return fail(error);
  const cuda::SlotNeeds needs{8, orbit->message, orbit->blocks.size()};
  const plan::SlotSizes slots = chooseSlots(kernel::Protocol::Simple, needs, {});
  Prediction prediction;
  error = simulateOrbit(*orbit, Fabric(*topology), slots, std::strtoull(argv[3], nullptr, 10), prediction);
  if (!error.empty())
    return fail(error);
  std::printf("{\"time\": %.15g, \"ranks\": %u, \"steps\": %llu, \"instructions\": %llu, \"thread_blocks\": %u, "
              "\"simulated_blocks\": %u}\n",
              prediction.time, orbit->ranks(), static_cast<unsigned long long>(orbit->steps()),
              static_cast<unsigned long long>(prediction.instructions), prediction.threadBlocks,
              prediction.simulatedBlocks);
  return 0;
}
