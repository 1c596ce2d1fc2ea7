// SPDX-License-Identifier: Apache-2.0
// Tests every error of the readers of other tools' files, and machines that differ from those in test/lit/Sim.
#include "gc3/Topology/Import.h"
#include "CheckTopology.h"
#include "gc3/Topology/Families.h"
#include <gtest/gtest.h>

using namespace gc3::topology;

namespace {

std::string importError(const std::string &text) {
  std::string error;
  EXPECT_FALSE(parseFile(text, "file", error)) << text;
  return error;
}

Topology read(const std::string &text) {
  std::string error;
  std::optional<Topology> topology = parseFile(text, "file", error);
  EXPECT_TRUE(topology) << error;
  return topology.value_or(Topology());
}

Topology named(const std::string &name) {
  std::string error;
  return gc3::topology::named(name, error).value_or(Topology());
}

/// Returns the table of GPUs that all have the same connection.
std::string uniform(unsigned gpus, const std::string &connection) {
  std::string text;
  for (unsigned gpu = 0; gpu < gpus; ++gpu)
    text += "\tGPU" + std::to_string(gpu);
  text += "\tCPU Affinity\n";
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    text += "GPU" + std::to_string(gpu);
    for (unsigned other = 0; other < gpus; ++other)
      text += "\t" + (gpu == other ? std::string(" X ") : connection);
    text += "\t0-15\n";
  }
  return text;
}

std::string gpu(unsigned number, const std::string &inside, const std::string &attributes = "sm=\"80\"") {
  return "<pci busid=\"" + std::to_string(number) + "\" class=\"0x030200\">\n<gpu " + attributes + ">" + inside +
         "</gpu>\n</pci>\n";
}

std::string machine(const std::string &inside) {
  return "<system version=\"1\">\n<cpu>\n" + inside + "</cpu>\n</system>\n";
}

} // namespace

TEST(NvidiaSmi, EqualLinksThatOneGpuCanHaveAreDirect) {
  const Topology topology = read(uniform(4, "NV4")); // HGX A100 with 4 GPUs
  EXPECT_TRUE(topology.switches.empty());
  ASSERT_EQ(topology.linkCount(), 12u);
  EXPECT_EQ(topology.links[0].bandwidth, 4u);
  EXPECT_EQ(topology.links[0].beta, 10);
}

TEST(NvidiaSmi, MoreLinksThanOneGpuCanHaveAreASwitch) {
  const Topology topology = read(uniform(16, "NV6")); // DGX-2
  ASSERT_EQ(topology.switches.size(), 1u);
  EXPECT_EQ(topology.switches[0].bandwidth, 6u);
  EXPECT_EQ(topology.switches[0].ports(), 16u);
  EXPECT_DOUBLE_EQ(topology.switches[0].beta, 1000.0 / 150);
}

TEST(NvidiaSmi, PairsOfNvLinksAlsoHavePcie) {
  const std::string table = "\tGPU0\tGPU1\tGPU2\tGPU3\n"
                            "GPU0\t X \tNV12\tSYS\tSYS\nGPU1\tNV12\t X \tSYS\tSYS\n"
                            "GPU2\tSYS\tSYS\t X \tNV12\nGPU3\tSYS\tSYS\tNV12\t X \n";
  const Topology topology = read(table);
  ASSERT_EQ(topology.switches.size(), 1u);
  EXPECT_EQ(topology.switches[0].kind, LinkKind::Pcie);
  EXPECT_EQ(topology.links[0].kind, LinkKind::NvLink);
  EXPECT_EQ(topology.links[0].bandwidth, 12u);
  EXPECT_EQ(findInconsistentBeta(topology), "");
}

TEST(NvidiaSmi, HasNoOtherErrors) {
  EXPECT_EQ(importError(""), "the text has no table of 'nvidia-smi topo -m', which begins with 'GPU0'");
  EXPECT_EQ(importError("\tGPU0\tmlx5_0\tCPU Affinity\n"),
            "line 1: a topology needs at least 2 GPUs, but the table has 1");
  EXPECT_EQ(importError(uniform(2, "NV4").substr(0, 40)), "the table has 1 rows of GPUs, but 2 columns");
  EXPECT_EQ(importError("GPU0 GPU1\nGPU1 X SYS\n"), "line 2: expected the row of 'GPU0', found 'GPU1'");
  EXPECT_EQ(importError("GPU0 GPU1\nGPU0 X\n"), "line 2: the row has 1 cells, but the table has 2 devices");
  EXPECT_EQ(importError("GPU0 GPU1\nGPU0 X FOO\n"), "line 2: unknown connection 'FOO'");
  EXPECT_EQ(importError("GPU0 GPU1\nGPU0 X NV4\nGPU1 NV2 X\n"),
            "line 3: 'GPU1' and 'GPU0' have 'NV2' here, but 'NV4' in line 2");
  std::string header;
  for (unsigned number = 0; number < 1025; ++number)
    header += " GPU" + std::to_string(number);
  EXPECT_EQ(importError(header + "\n"), "line 1: the table has 1025 GPUs; at most 1024 are read");
}

TEST(NcclXml, RanksOrderGpusAndSmSetsTheSpeed) {
  const std::string link = "<nvlink target=\"1\" count=\"2\" tclass=\"0x030200\"/>";
  const Topology topology = read(machine(gpu(1, "", "sm=\"60\" rank=\"1\"") + gpu(0, link, "sm=\"60\" rank=\"0\"")));
  ASSERT_EQ(topology.linkCount(), 2u); // one end is enough
  EXPECT_EQ(topology.links[0].from, 0u);
  EXPECT_EQ(topology.links[0].beta, 25);
}

TEST(NcclXml, AnUnknownTargetIsNoLink) {
  const Topology topology =
      read(machine(gpu(0, "<nvlink target=\"9\" count=\"2\" tclass=\"0x060400\"/>") + gpu(1, "")));
  ASSERT_EQ(topology.switches.size(), 1u);
  EXPECT_EQ(topology.switches[0].kind, LinkKind::Pcie);
}

/// NCCL compares bus ids as numbers.
TEST(NcclXml, TargetsMayHaveOtherCases) {
  const auto at = [](const std::string &bus, const std::string &inside) {
    return "<pci busid=\"" + bus + "\" class=\"0x030200\"><gpu sm=\"80\">" + inside + "</gpu></pci>\n";
  };
  const std::string link = "<nvlink target=\"0000:0B:00.0\" count=\"4\" tclass=\"0x030200\"/>";
  const Topology topology = read(machine(at("0000:0a:00.0", link) + at("0000:0b:00.0", "")));
  EXPECT_TRUE(topology.switches.empty());
  ASSERT_EQ(topology.linkCount(), 2u);
  EXPECT_EQ(topology.links[0].bandwidth, 4u);
}

/// GPUs of compute capability 12.0 are cards for PCIe, with the memory of a card. Those of 10.3 are like B200.
TEST(NcclXml, BlackwellCardsAreNoB200) {
  const auto pair = [](const std::string &sm, const std::string &inside) {
    return read(machine(gpu(0, inside, "sm=\"" + sm + "\"") + gpu(1, "", "sm=\"" + sm + "\"")));
  };
  const Topology card = pair("120", "");
  EXPECT_EQ(card.costs.memory, named("dgx-a100").costs.memory);
  EXPECT_EQ(card.network->beta, named("dgx-a100").network->beta);
  EXPECT_EQ(pair("103", "<nvlink target=\"1\" count=\"9\"/>").costs.memory, named("gb200-nvl72").costs.memory);
}

/// NCCL finds NVLinks when it runs, so a file for NCCL_TOPO_FILE need not name them. A dump has all that NCCL found.
TEST(NcclXml, WarnsOfGpusWithoutNvLinksInAFileForNccl) {
  const std::string byClass = "<pci class=\"0x030200\"/>\n";
  EXPECT_EQ(read(machine(byClass + byClass)).warning,
            "the file names no NVLinks, as files for NCCL_TOPO_FILE may do, so the topology has PCIe only; "
            "NCCL_TOPO_DUMP_FILE writes a file with NVLinks");
  EXPECT_EQ(read(machine(gpu(0, "") + gpu(1, ""))).warning, "");
  EXPECT_EQ(read(machine(gpu(0, "<nvlink target=\"1\" count=\"9\"/>") + gpu(1, ""))).warning, "");
  EXPECT_EQ(read(uniform(2, "PXB")).warning, "");
}

TEST(NcclXml, SeveralCardsOfAGpuCountAsOne) {
  std::string cards;
  for (unsigned card = 0; card < 4; ++card)
    cards += "<pci class=\"0x020000\"><nic><net speed=\"100000\"/></nic></pci>\n";
  const Topology topology = read(machine(gpu(0, "") + gpu(1, "") + cards));
  EXPECT_EQ(topology.network->cards, 2u);
  EXPECT_EQ(topology.network->beta, 40);
}

TEST(NcclXml, HasNoOtherErrors) {
  EXPECT_EQ(importError("<system>"), "line 1: invalid XML: no element found");
  EXPECT_EQ(importError("<a/>"), "line 1: expected 'system', the root of NCCL's topology, found 'a'");
  EXPECT_EQ(importError(machine(gpu(0, ""))), "a topology needs at least 2 GPUs, but the file has 1");
  EXPECT_EQ(importError("<system>\n<gpu/></system>"), "line 2: 'gpu' must be inside 'pci'");
  EXPECT_EQ(importError("<system>\n<nvlink/></system>"), "line 2: 'nvlink' must be inside 'gpu'");
  EXPECT_EQ(importError(machine(gpu(0, "<nvlink/>"))), "line 4: 'target' is missing");
  EXPECT_EQ(importError(machine(gpu(0, "", "sm=\"new\""))), "line 4: 'sm' must be a number up to 999, not 'new'");
  EXPECT_EQ(importError(machine(gpu(0, "", "rank=\"-1\""))), "line 4: 'rank' must be a number up to 1048576, not '-1'");
  EXPECT_EQ(importError(machine("<net speed=\"fast\"/>")),
            "line 3: 'speed' must be a number up to 100000000, not 'fast'");
  const std::string many = "<nvlink target=\"1\" count=\"1000\"/>";
  EXPECT_EQ(importError(machine(gpu(0, many + many))), "line 4: the GPU has more than 1024 NVLinks");
  std::string deep = "<system>", gpus;
  for (unsigned level = 0; level < 64; ++level)
    deep += "<pci>";
  EXPECT_EQ(importError(deep), "line 1: nested too deeply");
  for (unsigned number = 0; number < 1025; ++number)
    gpus += "<pci class=\"0x030200\"/>";
  EXPECT_EQ(importError(machine(gpus)), "line 3: the file has more than 1024 GPUs");
  EXPECT_EQ(importError("<" + std::string(1 << 26, ' ')), "the file has more than 64 MiB");
}

/// Replaces each character by one that has a meaning in some format.
TEST(Files, ChangedTextsAreReadOrRefused) {
  const std::string link = "<nvlink target=\"1\" count=\"2\" tclass=\"0x068000\"/>";
  const std::string card = "<pci class=\"0x02\"><net speed=\"100000\"/></pci>";
  uint32_t accepted = 0;
  for (const std::string &text : {uniform(3, "NV4"), uniform(3, "PXB"), machine(gpu(0, link) + gpu(1, link) + card)})
    for (size_t at = 0; at < text.size(); ++at)
      for (const char with : {'0', '9', ' ', '\n', '"', '<', '\x1b'}) {
        std::string changed = text;
        changed[at] = with;
        EXPECT_EQ(gc3::test::checkTopology(changed, accepted), "") << changed;
      }
  EXPECT_GT(accepted, 500u);
}
