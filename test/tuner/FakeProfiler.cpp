// SPDX-License-Identifier: Apache-2.0
#include "FakeProfiler.h"
#include "tuner/Table.h"
#include <algorithm>

namespace gc3::test {

using namespace tuner::abi;

namespace {

constexpr uint64_t groupCallEvent = 1 << 8; // NCCL has it since version 5
constexpr uint64_t communicatorId = 0xabc;
constexpr const char *collectives[] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"};
constexpr const char *algorithms[] = {"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr const char *protocols[] = {"LL", "LL128", "SIMPLE"};

} // namespace

Profiler::Profiler(const PluginFile &file, const std::string &nccl, const Shape &shape, int rank) {
  const void *address = nullptr;
  found = file.find("ncclProfiler_v", nccl == "2.27" ? 4 : nccl == "2.28" ? 5 : nccl == "later" ? 7 : 6, address);
  const int nodes = static_cast<int>(shape.nodes), ranks = static_cast<int>(shape.ranks);
  if (found == 4) {
    v4 = static_cast<const ProfilerV4 *>(address);
    demandSuccess(v4->init(&context, &mask, "name", communicatorId, nodes, ranks, rank, log), "init");
  } else if (found == 5 || found == 6) {
    v5 = static_cast<const ProfilerV5 *>(address);
    demandSuccess(v5->init(&context, communicatorId, &mask, "name", nodes, ranks, rank, log), "init");
  }
  demandSuccess(found < 4 || found > 6 ? Result::InternalError : Result::Success, "the search for a profiler plugin");
}

Profiler::~Profiler() {
  if (context)
    (v4 ? v4->finalize : v5->finalize)(context);
}

template <typename Functions, typename Kind>
void Profiler::send(const Functions &functions, const CollDescription &coll, uint64_t time) {
  uint64_t starts = 1000; // the second channel starts later
  const auto start = [&](uint64_t kind, void *parent) {
    EventDescription<Kind> description{};
    description.kind = static_cast<Kind>(kind), description.parent = parent;
    if (kind == CollEvent)
      description.coll = coll;
    if (kind == KernelEvent)
      description.kernel.start = starts++;
    void *event = &description;
    demandSuccess(functions.startEvent(context, &event, &description), "startEvent");
    return event;
  };
  const auto stop = [&](void *event) {
    if (event) // as NCCL does
      demandSuccess(functions.stopEvent(event), "stopEvent");
  };
  void *api = found > 4 ? start(groupCallEvent, nullptr) : nullptr;
  void *group = start(GroupEvent, nullptr);
  void *call = start(CollEvent, found > 4 ? api : group);
  stop(call);
  stop(group);
  stop(api);
  for (const uint64_t end : {1000 + time / 2, 1000 + time}) {
    void *kernel = start(KernelEvent, call);
    const StateArguments arguments{end};
    if (kernel)
      demandSuccess(functions.recordEventState(kernel, kernelStopped, &arguments), "recordEventState");
    stop(kernel);
  }
}

void Profiler::report(const Choice &choice, size_t ranks, unsigned number) {
  if ((mask & KernelEvent) == 0)
    return;
  const auto *name = std::find(std::begin(tuner::collectiveNames), std::end(tuner::collectiveNames), choice.collective);
  CollDescription coll{};
  coll.collective = collectives[name - tuner::collectiveNames];
  coll.datatype = "ncclFloat32", coll.count = choice.bytes / 4;
  if (choice.collective == "allgather" || choice.collective == "reduce_scatter")
    coll.count /= ranks;
  coll.channels = 2;
  coll.algorithm = algorithms[choice.algorithm], coll.protocol = protocols[choice.protocol];
  const uint64_t time = 10'000 * (3 * static_cast<uint64_t>(choice.algorithm) + choice.protocol + 1);
  if (v4)
    send<ProfilerV4, uint8_t>(*v4, coll, number % 4 == 3 ? 3 * time : time);
  else
    send<ProfilerV5, uint64_t>(*v5, coll, number % 4 == 3 ? 3 * time : time);
}

} // namespace gc3::test
