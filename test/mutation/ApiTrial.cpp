// SPDX-License-Identifier: Apache-2.0
#include "ApiTrial.h"
#include "core/Request.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::mutation;

ApiTrial::ApiTrial(const std::string &bytes, uint32_t slots, uint64_t seed) {
  info.size = sizeof(info);
  if (gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()) != gc3Success ||
      gc3BundleProgramInfo(bundle, 0, &info) != gc3Success) {
    problem = lastError("the bundle is refused");
    return;
  }
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.order = gc3OrderAdversarial;
  config.slots = slots;
  config.seed = seed;
  config.allowUnproven = 1;
  comms.resize(static_cast<size_t>(info.ranks));
  if (gc3HostCommInitAll(comms.data(), info.ranks, bundle, &config) != gc3Success)
    problem = lastError("no communicators");
}

ApiTrial::~ApiTrial() {
  for (gc3Comm_t comm : comms)
    gc3CommDestroy(comm);
  gc3BundleFree(bundle);
}

std::string ApiTrial::lastError(const char *what) const {
  return std::string(what) + ": " + gc3GetLastError(nullptr);
}

namespace {

/// The buffers of a rank. Both are inside `both`, and overlap if the call is in place.
struct Buffers {
  std::vector<Element> both;
  Element *send;
  Element *receive;
};

} // namespace

static Buffers makeBuffers(const Data &data, const gc3ProgramInfo_t &info, uint32_t rank, bool inPlace) {
  size_t input = data.input(rank).size();
  size_t output = data.outputElements(rank);
  int64_t shift = 0; // offset of the receive buffer from the send buffer, in elements
  if (!inPlace || input == 0 || output == 0)
    shift = static_cast<int64_t>(input);
  else if (const common::StandardCollective *standard = common::findStandard(info.collective))
    shift = standard->inPlaceOffset(rank, data.count());
  Buffers buffers;
  auto sendAt = static_cast<size_t>(std::max<int64_t>(0, -shift));
  auto receiveAt = static_cast<size_t>(std::max<int64_t>(0, shift));
  buffers.both.assign(std::max(sendAt + input, receiveAt + output) + 1, poison);
  buffers.send = buffers.both.data() + sendAt;
  buffers.receive = buffers.both.data() + receiveAt;
  std::copy(data.input(rank).begin(), data.input(rank).end(), buffers.send);
  return buffers;
}

std::string ApiTrial::call(const Data &data, bool inPlace) {
  if (!problem.empty())
    return problem;
  std::vector<Buffers> buffers;
  for (uint32_t rank = 0; rank != comms.size(); ++rank)
    buffers.push_back(makeBuffers(data, info, rank, inPlace));
  gc3GroupStart();
  gc3Result_t result = gc3Success;
  for (uint32_t rank = 0; rank != comms.size() && result == gc3Success; ++rank)
    result = gc3RunProgram(comms[rank], info.name, buffers[rank].send, buffers[rank].receive, data.count(), gc3Uint64,
                           gc3Sum, nullptr);
  gc3Result_t end = gc3GroupEnd();
  if (result != gc3Success || end != gc3Success)
    return lastError(gc3GetErrorString(result != gc3Success ? result : end));
  for (const Data::Promise &promise : data.promises())
    if (!std::equal(promise.elements.begin(), promise.elements.end(), buffers[promise.rank].receive + promise.begin))
      return "rank " + std::to_string(promise.rank) + " has the wrong elements in slot " +
             std::to_string(promise.slot) + " of its output";
  for (uint32_t rank = 0; rank != comms.size() && !inPlace; ++rank)
    if (!std::equal(data.input(rank).begin(), data.input(rank).end(), buffers[rank].send))
      return "the input of rank " + std::to_string(rank) + " was modified";
  return {};
}
