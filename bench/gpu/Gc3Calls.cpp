// SPDX-License-Identifier: Apache-2.0
#include "Gc3Calls.h"

#include "Replay.h"
#include "api/Init.h"

namespace bench {

namespace {

void check(gc3Result_t result, const std::string &what, gc3Comm_t comm = nullptr) {
  if (result != gc3Success)
    fail(what + ": " + gc3GetErrorString(result) + ": " + gc3GetLastError(comm));
}

} // namespace

Gc3Calls::Gc3Calls(const std::string &path, Graphs graphs) {
  check(gc3BundleLoad(&bundle, path.c_str()), path);
  program.size = sizeof(program);
  check(gc3BundleProgramInfo(bundle, 0, &program), path);
  comms.resize(static_cast<size_t>(program.ranks));
  const char *const mixing[] = {graphs == Graphs::Ordered ? "NCCL_GRAPH_MIXING_SUPPORT=1"
                                                          : "NCCL_GRAPH_MIXING_SUPPORT=0"};
  const gc3::core::Settings settings = gc3::core::settings().withNcclOf(gc3::core::Settings::read(mixing));
  check(gc3::api::initLoopback(comms.data(), program.ranks, bundle, nullptr, settings), path);
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
