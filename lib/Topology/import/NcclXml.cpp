// SPDX-License-Identifier: Apache-2.0
// Reads NCCL's description of a machine: files that NCCL_TOPO_DUMP_FILE writes and NCCL_TOPO_FILE reads. Elements are
// cpu, pci (a switch, a GPU or a card, by its class), gpu, nvlink, nic and net. A file that a user wrote for
// NCCL_TOPO_FILE may name GPUs by their class alone, without NVLinks.
#include "Machine.h"
#include "gc3/Support/Xml.h"
#include "gc3/Topology/Import.h"
#include <algorithm>
#include <map>

namespace gc3::topology {

namespace {

using llvm::StringRef;

constexpr const char *figureOrigin = "NCCL's topology XML";
constexpr uint32_t mostLinks = 1024; ///< of a GPU
constexpr size_t deepest = 64;       ///< no machine has so many PCIe switches in a row

/// A device on PCIe. `outermost` is the number of the outermost pci element around it, if this is a switch.
struct Gpu {
  std::string bus; ///< in lower case
  uint32_t rank = 0, sm = 0;
  uint32_t outermost = Machine::None;
  double pcie = 0;    ///< GB/s; 0: unknown
  uint32_t links = 0; ///< NVLinks of all elements
};
struct Card {
  uint32_t outermost = Machine::None;
  double speed = 0; ///< GB/s; 0: unknown
};
struct NvLink {
  uint32_t gpu;
  std::string target; ///< its bus, in lower case
  uint32_t count;
  bool isToSwitch;
};

/// An open element. `gpu` and `card` are its device, or None.
struct Open {
  std::string name;
  uint32_t number = Machine::None; ///< of a pci element
  uint32_t gpu = Machine::None, card = Machine::None;
  Gpu element; ///< what a pci element says of its GPU
};

class NcclReader {
public:
  explicit NcclReader(Diagnostics &diags) : diags(diags) {}

  bool begin(const XmlTag &tag) {
    if (open.empty() && tag.name != "system")
      return fail(tag.range, "expected 'system', the root of NCCL's topology, found '" + tag.name.str() + "'");
    if (open.size() == deepest)
      return fail(tag.range, "nested too deeply");
    open.emplace_back().name = tag.name.str();
    if (tag.name == "pci")
      return beginPci(tag);
    if (tag.name == "gpu")
      return beginGpu(tag);
    if (tag.name == "nvlink")
      return beginNvLink(tag);
    return tag.name == "net" ? beginNet(tag) : true;
  }
  bool end() {
    open.pop_back();
    return true;
  }

  std::optional<Topology> convert(std::string &error);

private:
  bool fail(SourceRange range, const std::string &message) {
    diags.error(DiagId::BadAttribute, range, message);
    return false;
  }
  bool number(const XmlTag &tag, StringRef key, uint32_t most, uint32_t &value) {
    const char *text = tag.find(key);
    if (text && (StringRef(text).getAsInteger(10, value) || value > most))
      return fail(tag.place(key),
                  "'" + key.str() + "' must be a number up to " + std::to_string(most) + ", not '" + text + "'");
    return true;
  }

  Open *enclosing(StringRef name) {
    const auto found =
        std::find_if(open.rbegin() + 1, open.rend(), [&](const Open &each) { return each.name == name; });
    return found == open.rend() ? nullptr : &*found;
  }
  /// Returns the outermost pci element around the innermost one, or None.
  uint32_t outermostSwitch() const {
    const auto first = std::find_if(open.begin(), open.end(), [](const Open &each) { return each.name == "pci"; });
    const auto last = std::find_if(open.rbegin(), open.rend(), [](const Open &each) { return each.name == "pci"; });
    return first == open.end() || &*first == &*last ? Machine::None : first->number;
  }

  bool beginPci(const XmlTag &tag);
  bool beginGpu(const XmlTag &tag);
  bool beginNvLink(const XmlTag &tag);
  bool beginNet(const XmlTag &tag);
  void orderGpus();
  void addNvLinks(Machine &machine) const;
  void addCards(Machine &machine) const;

  Diagnostics &diags;
  std::vector<Open> open;
  uint32_t pciElements = 0;
  bool isDump = false; ///< the file has gpu elements, so it comes from a run of NCCL, with all its NVLinks
  std::vector<Gpu> gpus;
  std::vector<Card> cards;
  std::vector<NvLink> nvlinks;
};

/// Returns the rate in GB/s that NCCL uses: three quarters of the transfers of all lanes. Returns 0 if the speed is
/// unknown. "16.0 GT/s PCIe" and "16 GT/s" are spellings of one speed.
double pcieRate(const XmlTag &tag) {
  const char *speed = tag.find("link_speed"), *width = tag.find("link_width");
  double transfers = 0;
  unsigned lanes = 0;
  if (!speed || !width || StringRef(speed).split(' ').first.getAsDouble(transfers) ||
      StringRef(width).getAsInteger(10, lanes) || !(transfers > 0 && transfers <= 1024) || lanes > 64)
    return 0;
  return transfers * lanes / 8 * 0.75;
}

/// PCI classes 0x03 are displays and accelerators, classes 0x02 are network cards.
bool NcclReader::beginPci(const XmlTag &tag) {
  open.back().number = pciElements++;
  const char *text = tag.find("class"), *bus = tag.find("busid");
  const StringRef kind = text ? text : "";
  open.back().element = {StringRef(bus ? bus : "").lower(), 0, 0, outermostSwitch(), pcieRate(tag), 0};
  if (kind.startswith("0x03")) {
    open.back().gpu = static_cast<uint32_t>(gpus.size());
    gpus.push_back(open.back().element);
  } else if (kind.startswith("0x02")) {
    open.back().card = static_cast<uint32_t>(cards.size());
    cards.push_back({outermostSwitch(), 0});
  }
  if (gpus.size() > Machine::MaxGpus)
    return fail(tag.range, "the file has more than " + std::to_string(Machine::MaxGpus) + " GPUs");
  return true;
}

bool NcclReader::beginGpu(const XmlTag &tag) {
  Open *pci = enclosing("pci");
  if (!pci)
    return fail(tag.range, "'gpu' must be inside 'pci'");
  if (pci->gpu == Machine::None) { // without a class
    pci->gpu = static_cast<uint32_t>(gpus.size());
    gpus.push_back(pci->element);
  }
  Gpu &gpu = gpus[pci->gpu];
  open.back().gpu = pci->gpu;
  isDump = true;
  return number(tag, "sm", 999, gpu.sm) && number(tag, "rank", 1 << 20, gpu.rank);
}

bool NcclReader::beginNvLink(const XmlTag &tag) {
  const Open *gpu = enclosing("gpu");
  const char *target = tag.find("target"), *kind = tag.find("tclass");
  if (!gpu || gpu->gpu == Machine::None)
    return fail(tag.range, "'nvlink' must be inside 'gpu'");
  if (!target)
    return fail(tag.range, "'target' is missing");
  uint32_t count = 1;
  if (!number(tag, "count", mostLinks, count))
    return false;
  if ((gpus[gpu->gpu].links += count) > mostLinks)
    return fail(tag.range, "the GPU has more than " + std::to_string(mostLinks) + " NVLinks");
  nvlinks.push_back({gpu->gpu, StringRef(target).lower(), count, kind && StringRef(kind).startswith("0x0680")});
  return true;
}

/// `speed` is in Mbit/s. Ports of one card add up.
bool NcclReader::beginNet(const XmlTag &tag) {
  uint32_t speed = 0;
  if (!number(tag, "speed", 100'000'000, speed))
    return false;
  Open *pci = enclosing("pci");
  if (pci && pci->card != Machine::None) {
    cards[pci->card].speed += speed / 8000.0;
    return true;
  }
  cards.push_back({pci ? outermostSwitch() : Machine::None, speed / 8000.0});
  if (pci)
    pci->card = static_cast<uint32_t>(cards.size()) - 1;
  return true;
}

/// Sorts GPUs by rank. GPUs without ranks keep the order of the file.
void NcclReader::orderGpus() {
  std::vector<uint32_t> order(gpus.size()), place(gpus.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return gpus[a].rank < gpus[b].rank; });
  std::vector<Gpu> sorted;
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(std::move(gpus[order[i]]));
  }
  gpus = std::move(sorted);
  for (NvLink &link : nvlinks)
    link.gpu = place[link.gpu];
}

/// Both ends of a link list it; one is enough. A link whose target is neither a GPU of the file nor a switch leads to a
/// CPU or to a GPU that the job does not use.
void NcclReader::addNvLinks(Machine &machine) const {
  std::map<std::string, uint32_t> byBus;
  for (uint32_t gpu = 0; gpu < machine.gpus; ++gpu)
    byBus.insert({gpus[gpu].bus, gpu});
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> counts;
  for (const NvLink &link : nvlinks) {
    const auto target = byBus.find(link.target);
    if (target != byBus.end() && target->second != link.gpu)
      counts[{link.gpu, target->second}] += link.count;
    else if (target == byBus.end() && link.isToSwitch)
      machine.switchLinks[link.gpu] += link.count;
  }
  for (const auto &[ends, count] : counts)
    for (const uint32_t place : {ends.first * machine.gpus + ends.second, ends.second * machine.gpus + ends.first})
      machine.nvlinks[place] = std::max(machine.nvlinks[place], count);
}

/// Counts the cards on the PCIe switch of a GPU. If there is none, counts all cards.
void NcclReader::addCards(Machine &machine) const {
  const auto isNear = [&](const Card &card) {
    return card.outermost != Machine::None &&
           std::any_of(gpus.begin(), gpus.end(), [&](const Gpu &gpu) { return gpu.outermost == card.outermost; });
  };
  const bool isAnyNear = std::any_of(cards.begin(), cards.end(), isNear);
  for (const Card &card : cards)
    if (!isAnyNear || isNear(card)) {
      ++machine.cards;
      if (card.speed > 0)
        machine.card = machine.card > 0 ? std::min(machine.card, card.speed) : card.speed;
    }
}

std::optional<Topology> NcclReader::convert(std::string &error) {
  if (gpus.size() < 2) {
    error = "a topology needs at least 2 GPUs, but the file has " + std::to_string(gpus.size());
    return {};
  }
  orderGpus();
  Machine machine(static_cast<uint32_t>(gpus.size()));
  machine.origin = nvlinks.empty() ? std::string(figureOrigin) + ", which names no NVLinks" : figureOrigin;
  for (uint32_t gpu = 0; gpu < machine.gpus; ++gpu) {
    machine.sm = std::max(machine.sm, gpus[gpu].sm);
    machine.pcieSwitch[gpu] = gpus[gpu].outermost;
    if (gpus[gpu].pcie > 0)
      machine.pcie = machine.pcie > 0 ? std::min(machine.pcie, gpus[gpu].pcie) : gpus[gpu].pcie;
  }
  addNvLinks(machine);
  addCards(machine);
  Topology topology = toTopology(machine);
  if (!isDump)
    topology.warning = "the file names no NVLinks, as files for NCCL_TOPO_FILE may do, so the topology has PCIe only; "
                       "NCCL_TOPO_DUMP_FILE writes a file with NVLinks";
  return topology;
}

} // namespace

std::optional<Topology> parseNcclXml(const std::string &text, std::string &error) {
  error.clear();
  SourceManager sources;
  Diagnostics diags(sources);
  const uint32_t base = text.size() < 1 << 26 ? sources.add("topology", text) : 0;
  if (base == 0) {
    error = "the file has more than 64 MiB";
    return {};
  }
  NcclReader reader(diags);
  if (readXml(
          text, base, diags, [&](const XmlTag &tag) { return reader.begin(tag); }, [&] { return reader.end(); }))
    return reader.convert(error);
  const Diagnostic &first = diags.all().front();
  const unsigned line = first.range.isValid() ? sources.place(first.range.begin).line : 1;
  error = "line " + std::to_string(line) + ": " + first.message;
  return {};
}

} // namespace gc3::topology
