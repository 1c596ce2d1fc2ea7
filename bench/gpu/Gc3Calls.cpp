// SPDX-License-Identifier: Apache-2.0
#include "Gc3Calls.h"

#include "Replay.h"

#include <cstdlib>

namespace bench {

namespace {

void check(gc3Result_t result, const std::string &what, gc3Comm_t comm = nullptr) {
  if (result != gc3Success)
    fail(what + ": " + gc3GetErrorString(result) + ": " + gc3GetLastError(comm));
}

} // namespace

Gc3Calls::Gc3Calls(const std::string &path, Graphs graphs) {
  setenv("NCCL_GRAPH_MIXING_SUPPORT", graphs == Graphs::Ordered ? "1" : "0", 1); // read when communicators are made
  check(gc3BundleLoad(&bundle, path.c_str()), path);
  program.size = sizeof(program);
  check(gc3BundleProgramInfo(bundle, 0, &program), path);
  comms.resize(static_cast<size_t>(program.ranks));
  check(gc3LoopbackCommInitAll(comms.data(), program.ranks, bundle, nullptr), path);
}

Gc3Calls::~Gc3Calls() {
  for (gc3Comm_t comm : comms)
    gc3CommDestroy(comm);
  gc3BundleFree(bundle);
}

void Gc3Calls::call(const Buffers &buffers, size_t count, cudaStream_t stream) {
  check(gc3GroupStart(), program.name);
  for (size_t rank = 0; rank < comms.size(); ++rank)
    check(gc3RunProgram(comms[rank], program.name, buffers.inputs[rank], buffers.outputs[rank], count, gc3Float32,
                        gc3Sum, stream),
          program.name, comms[rank]);
  check(gc3GroupEnd(), program.name);
}

void Gc3Calls::checkEnded() const {
  for (gc3Comm_t comm : comms) {
    gc3Result_t result = gc3Success;
    check(gc3CommGetAsyncError(comm, &result), program.name, comm);
    check(result, program.name, comm);
  }
}

} // namespace bench
