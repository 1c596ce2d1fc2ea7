// SPDX-License-Identifier: Apache-2.0
// Tests the wiring of ranks, and the selection of programs by it.
#include "ApiGroup.h"

#include "api/Configs.h"
#include "api/HostBackend.h"
#include "core/Selection.h"

using namespace gc3;
using namespace gc3::test;
using core::RankOrder;
using core::Wiring;

namespace {

std::string textOf(const std::vector<uint64_t> &nodeOfRank) {
  return Wiring::of(nodeOfRank).text();
}

/// Returns AllReduces on four ranks: one for any wiring, a small one for one node, and one for two nodes.
std::vector<ProgramSpec> programs() {
  ProgramSpec any = plainRingAllReduce(4), near = ringAllReduce(4, true), far = ringAllReduce(4, true);
  any.name = "any";
  near.name = "near", near.nodes = 1, near.maxBytes = 1024;
  far.name = "far", far.nodes = 2;
  return {any, near, far};
}

gc3HostConfig_t onNodes(uint64_t nodes, const char *list = "") {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.programs = list;
  config.nodes = nodes;
  return config;
}

/// Returns the program that serves an AllReduce of `count` floats, or the error.
std::string chosen(const Group &group, size_t count) {
  const char *name = nullptr;
  const gc3Result_t result = gc3SelectProgram(group.comms[0], "allreduce", count, gc3Float32, -1, &name);
  return result == gc3Success ? name : gc3GetLastError(group.comms[0]);
}

/// Returns the programs that serve a small and a large AllReduce.
std::string chosen(uint64_t nodes, const char *list = "") {
  const Group group(programs(), 4, onNodes(nodes, list));
  return chosen(group, 4) + " " + chosen(group, 4096);
}

} // namespace

TEST(Wiring, Orders) {
  EXPECT_EQ(Wiring::of(std::vector<uint64_t>{7, 7, 3, 3}), (Wiring{2, 2, RankOrder::Blocked}));
  EXPECT_EQ(Wiring::of(std::vector<uint64_t>{7, 3, 7, 3}), (Wiring{2, 2, RankOrder::Cyclic, {0, 2, 1, 3}}));
  EXPECT_EQ(Wiring::of(std::vector<uint64_t>{7, 3, 3, 7}), (Wiring{2, 2, RankOrder::Other, {0, 2, 3, 1}}));
  EXPECT_EQ(Wiring::of(std::vector<uint64_t>{7, 7, 3}), (Wiring{2, 0, RankOrder::Blocked}));
  EXPECT_EQ(Wiring::of(std::vector<uint64_t>{7, 3, 5}), (Wiring{3, 1, RankOrder::Blocked})) << "each order is this one";
  EXPECT_EQ(Wiring::of(std::vector<uint64_t>{0, 0}), Wiring::ofBlocks(2, 1));
}

TEST(Wiring, Texts) {
  EXPECT_EQ(Wiring{}.text(), "unknown nodes");
  EXPECT_EQ(textOf({7, 7}), "1 node of 2 ranks");
  EXPECT_EQ(textOf({7, 3}), "2 nodes of 1 rank");
  EXPECT_EQ(textOf({7, 3, 7, 3}), "2 nodes of 2 ranks in cyclic order");
  EXPECT_EQ(textOf({7, 3, 3, 7}), "2 nodes of 2 ranks in no regular order");
  EXPECT_EQ(textOf({7, 7, 3}), "2 nodes with different numbers of ranks");
}

/// A program for the communicator's nodes precedes one for any wiring, if it is for the call's size.
TEST(Wiring, SelectsProgramsForTheNodes) {
  EXPECT_EQ(chosen(0), "near any") << "the ranks of a process share a node";
  EXPECT_EQ(chosen(1), "near any");
  EXPECT_EQ(chosen(2), "far far");
  EXPECT_EQ(chosen(4), "any any");
}

TEST(Wiring, ListsOfProgramsDoNotReplaceIt) {
  EXPECT_EQ(chosen(1, "near"), "near near") << "at any size";
  const Group group(programs(), 4, onNodes(1, "far"));
  EXPECT_EQ(chosen(group, 4).substr(0, chosen(group, 4).find(';', 120)),
            "no program for 'allreduce' on 4 ranks; program 'near' is not in GC3_PROGRAM; program 'any' is not in "
            "GC3_PROGRAM; program 'far' is for 2 nodes of 2 ranks, but the communicator has 1 node of 4 ranks");
}

TEST(Wiring, TheErrorListsTheNodesOfPrograms) {
  std::vector<ProgramSpec> far = {programs()[2]};
  const Group group(far, 4, onNodes(4));
  EXPECT_EQ(
      chosen(group, 4),
      "no program for 'allreduce' on 4 ranks; program 'far' is for 2 nodes of 2 ranks, but the communicator has 4 "
      "nodes of 1 rank; the bundle has:\n  'far': allreduce on 4 ranks, nodes 2 of 2");
}

TEST(Wiring, CallsByNameRunAnywhere) {
  Group group(programs(), 4, onNodes(1));
  Data data = ramp(4, 8), got = data;
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3RunProgram(comm, "far", data[r].data(), got[r].data(), 8, gc3Float32, gc3Sum, nullptr);
  }),
            gc3Success);
  EXPECT_EQ(got[3][1], 604);
}

TEST(Wiring, NodesMustDivideTheRanks) {
  const std::string bytes = buildBundle(programs());
  gc3Bundle_t bundle = nullptr;
  ASSERT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
  gc3Comm_t comms[4] = {};
  for (const uint64_t nodes : {uint64_t{3}, uint64_t{8}, UINT64_MAX}) {
    const gc3HostConfig_t config = onNodes(nodes);
    EXPECT_EQ(gc3HostCommInitAll(comms, 4, bundle, &config), gc3InvalidArgument);
    EXPECT_EQ(gc3GetLastError(nullptr),
              "the config has " + std::to_string(nodes) + " nodes, among which 4 ranks can't be divided equally");
  }
  gc3BundleFree(bundle);
}

TEST(Wiring, BundlesDescribeTheNodes) {
  const Group group(programs(), 4);
  std::vector<int> nodes;
  for (int i = 0; i < 3; ++i) {
    gc3ProgramInfo_t info{};
    info.size = sizeof info;
    EXPECT_EQ(gc3BundleProgramInfo(group.bundle, i, &info), gc3Success);
    nodes.push_back(info.nodes);
  }
  EXPECT_EQ(nodes, (std::vector<int>{0, 1, 2}));
}

namespace {

/// The programs of the test, and their selection on a wiring.
struct Selected {
  explicit Selected(const Wiring &wiring)
      : bytes(buildBundle(programs())), file(std::move(*bundle::BundleFile::openMemory(bytes.data(), bytes.size()))),
        selection(*file, 4, false) {
    selection.setWiring(wiring);
  }
  std::vector<uint32_t> arms() {
    core::Request request;
    request.name = "allreduce";
    request.count = 4096;
    return selection.arms(request)->programs;
  }
  const std::string bytes;
  const std::unique_ptr<bundle::BundleFile> file;
  core::Selection selection;
};

} // namespace

/// Online selection tries programs for other sizes, but not for other nodes.
TEST(Wiring, Arms) {
  EXPECT_EQ(Selected(Wiring::ofBlocks(4, 1)).arms(), (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(Selected(Wiring::ofBlocks(4, 2)).arms(), (std::vector<uint32_t>{2, 0}));
  EXPECT_EQ(Selected(Wiring{2, 2, RankOrder::Cyclic}).arms(), (std::vector<uint32_t>{0}));
  EXPECT_EQ(Selected(Wiring{}).arms(), (std::vector<uint32_t>{0}));
}

/// The ranks of an AllReduce have other numbers in the program if they are not in its order.
TEST(Wiring, RenumbersTheRanksOfAnAllReduce) {
  const Wiring cyclic = Wiring::of(std::vector<uint64_t>{7, 3, 7, 3});
  for (const bool isLoadedBefore : {false, true}) {
    Selected selected(Wiring{});
    if (isLoadedBefore) {
      EXPECT_TRUE(selected.selection.load(2).ok());
    }
    selected.selection.setWiring(cyclic);
    EXPECT_EQ(selected.arms(), (std::vector<uint32_t>{2, 0}));
    const core::Program &program = *selected.selection.programOf(2);
    std::vector<std::pair<int32_t, int32_t>> peers; // by rank: from and to; the ring is 0 2 1 3
    for (uint32_t r = 0; r < 4; ++r)
      peers.emplace_back(program.rank(r).threadBlocks[0].recv_peer(), program.rank(r).threadBlocks[0].send_peer());
    EXPECT_EQ(peers, (std::vector<std::pair<int32_t, int32_t>>{{3, 2}, {2, 3}, {0, 1}, {1, 0}}));
    EXPECT_EQ(program.connections().size(), 4u);
  }
  EXPECT_EQ(Selected(withoutPlaces(cyclic)).arms(), (std::vector<uint32_t>{0})) << "the program may be no AllReduce";
}

TEST(Wiring, RenumberedRanksGetTheSums) {
  const std::string bytes = buildBundle(programs());
  const std::shared_ptr<bundle::BundleFile> file =
      std::move(*bundle::BundleFile::openMemory(bytes.data(), bytes.size()));
  for (const std::vector<uint64_t> &nodeOfRank : {std::vector<uint64_t>{7, 3, 7, 3}, {7, 3, 3, 7}}) {
    api::HostBackendOptions options;
    options.call.wiring = Wiring::of(nodeOfRank);
    const auto backend = api::HostBackend::make(file, host::Site(4), nullptr, options);
    ASSERT_TRUE(backend.ok());
    gc3Comm_t comms[4];
    api::handOut(comms, *backend);
    const char *name = nullptr;
    EXPECT_EQ(gc3SelectProgram(comms[0], "allreduce", 10, gc3Float32, -1, &name), gc3Success);
    EXPECT_STREQ(name, "far");
    const Data data = ramp(4, 10);
    Data got = data;
    EXPECT_EQ(gc3GroupStart(), gc3Success);
    for (size_t r = 0; r < 4; ++r)
      EXPECT_EQ(gc3AllReduce(data[r].data(), got[r].data(), 10, gc3Float32, gc3Sum, comms[r], nullptr), gc3Success);
    EXPECT_EQ(gc3GroupEnd(), gc3Success);
    for (size_t r = 0; r < 4; ++r)
      EXPECT_EQ(got[r], (std::vector<float>{600, 604, 608, 612, 616, 620, 624, 628, 632, 636}));
    for (gc3Comm_t comm : comms)
      gc3CommDestroy(comm);
  }
}

/// The reason names the remedy if only the order of the ranks differs.
TEST(Wiring, OtherOrders) {
  const Selected selected(Wiring{2, 2, RankOrder::Cyclic});
  EXPECT_EQ(core::misfitText(selected.file->program(2), Wiring{2, 2, RankOrder::Cyclic}),
            "is for 2 nodes of 2 ranks, but the communicator has 2 nodes of 2 ranks in cyclic order: start consecutive "
            "ranks on each node, as with --distribution=block of Slurm");
}
