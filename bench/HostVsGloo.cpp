// SPDX-License-Identifier: Apache-2.0
// Compares gc3 between processes with Gloo, over TCP on the loopback interface. The same processes are gc3's ranks and
// Gloo's, and samples take turns. Gloo has no AllToAll in place, and no function for ReduceScatter.
#include "MpiRank.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <memory>

using namespace bench;

namespace {

constexpr int warmUps = 3;

class GlooRank {
public:
  /// All processes call this. They exchange addresses through files in `folder`.
  GlooRank(const MpiRank &rank, const std::string &folder)
      : buffers(rank.memory()), context(std::make_shared<gloo::rendezvous::Context>(rank.number(), rank.count())) {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = "127.0.0.1";
    std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(attributes);
    gloo::rendezvous::FileStore store(folder);
    context->connectFullMesh(store, device);
  }

  void call(const Point &point) {
    const size_t count = point.elements();
    switch (point.collective) {
    case Collective::AllReduce: return allReduce(point);
    case Collective::AllGather: return allGather(point);
    case Collective::AllToAll: {
      gloo::AlltoallOptions options(context);
      options.setInput(buffers.send, count);
      options.setOutput(buffers.recv, count);
      return alltoall(options);
    }
    case Collective::Broadcast: {
      gloo::BroadcastOptions options(context);
      options.setOutput(buffers.recv, count);
      options.setRoot(0);
      return broadcast(options);
    }
    case Collective::ReduceScatter: break; // Gloo has no such function
    }
  }

private:
  void allReduce(const Point &point) {
    gloo::AllreduceOptions options(context);
    if (!point.inPlace)
      options.setInput(buffers.send, point.elements());
    options.setOutput(buffers.recv, point.elements());
    options.setReduceFunction(static_cast<void (*)(void *, const void *, const void *, size_t)>(&gloo::sum<float>));
    allreduce(options);
  }
  void allGather(const Point &point) {
    gloo::AllgatherOptions options(context);
    if (!point.inPlace)
      options.setInput(buffers.send, point.block());
    options.setOutput(buffers.recv, point.elements());
    allgather(options);
  }

  const Buffers &buffers;
  std::shared_ptr<gloo::rendezvous::Context> context;
};

bool hasGloo(Collective collective, bool inPlace) {
  switch (collective) {
  case Collective::AllReduce:
  case Collective::AllGather: return true;
  case Collective::AllToAll: return !inPlace;
  case Collective::ReduceScatter: return false;
  case Collective::Broadcast: return inPlace;
  }
  return false;
}

void measure(MpiRank &rank, GlooRank &gloo, const Point &point, int samples) {
  const auto callGloo = [&] { gloo.call(point); };
  rank.checkGc3Calls(point);
  rank.checkCalls(point, "Gloo", rank.memory().recv, callGloo);
  const int ourCalls = callsPerSample(rank.timeGc3(point, warmUps)),
            theirCalls = callsPerSample(rank.time(warmUps, callGloo));
  std::vector<double> ourTimes, theirTimes;
  for (int s = 0; s < samples; ++s) {
    ourTimes.push_back(rank.timeGc3(point, ourCalls));
    theirTimes.push_back(rank.time(theirCalls, callGloo));
  }
  if (rank.number() != 0)
    return;
  const double gc3 = median(ourTimes), theirs = median(theirTimes);
  std::printf("%-13s %-12s %10zu  %10.2f %10.2f  %9.2f\n", nameOf(point.collective),
              point.inPlace ? "in place" : "out of place", point.bytes, gc3 * 1e6, theirs * 1e6, theirs / gc3);
  std::fflush(stdout);
}

} // namespace

/// Usage: host_vs_gloo BUNDLE SAMPLES SMALLEST LARGEST FACTOR FOLDER [COLLECTIVE]. Sizes are in bytes. Gloo's ranks use
/// the new FOLDER to find each other.
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const std::vector<Collective> collectives = collectivesNamed(argc > 7 ? argv[7] : nullptr);
  if (argc < 7 || collectives.empty())
    fail("BUNDLE SAMPLES SMALLEST LARGEST FACTOR FOLDER [COLLECTIVE]");
  const auto smallest = static_cast<size_t>(std::atoll(argv[3])), largest = static_cast<size_t>(std::atoll(argv[4]));
  const auto factor = static_cast<size_t>(std::max(2, std::atoi(argv[5])));
  {
    MpiRank rank(argv[1], true, largest);
    GlooRank gloo(rank, argv[6]);
    if (rank.number() == 0)
      std::printf("collective    placement         bytes     gc3, us   Gloo, us  Gloo/gc3\n");
    for (const Collective collective : collectives)
      for (const bool inPlace : {false, true})
        for (size_t bytes = smallest; hasGloo(collective, inPlace) && bytes <= largest; bytes *= factor)
          measure(rank, gloo, {collective, inPlace, bytes, rank.count()}, std::atoi(argv[2]));
  }
  MPI_Finalize();
}
