// SPDX-License-Identifier: Apache-2.0
#include "FakeNccl.h"
#include "tuner/Table.h"
#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <utility>

namespace gc3::test {

using namespace tuner::abi;

namespace {

constexpr int algorithmCount = 7, protocolCount = 3;
constexpr float ignored = -1;
using Costs = float[algorithmCount][protocolCount];

std::atomic<bool> isLogging{true};

void log(int level, unsigned long subsystems, const char *, int, const char *format, ...) {
  if (!isLogging)
    return;
  std::va_list values;
  va_start(values, format);
  std::printf("%s %#lx: ", level == LogWarn ? "WARN" : "INFO", subsystems);
  std::vprintf(format, values);
  std::printf("\n");
  va_end(values);
}

/// Ends the process if a plugin returns an error: NCCL would fail the application's call.
void demandSuccess(Result result, const char *function) {
  if (result == Result::Success)
    return;
  std::fprintf(stderr, "load-tuner: %s failed\n", function);
  std::exit(1);
}

/// Trees only for allreduce, no reductions in switches or networks. Trees and LL have low latency, rings and Simple
/// much bandwidth.
void fillCosts(const std::string &collective, uint64_t bytes, Costs &costs) {
  std::fill_n(&costs[0][0], algorithmCount * protocolCount, ignored);
  constexpr float latency[protocolCount] = {10, 15, 30}, rate[protocolCount] = {10e3, 20e3, 40e3};
  for (int protocol = 0; protocol < protocolCount; ++protocol) {
    const float time = static_cast<float>(bytes) / rate[protocol];
    if (collective == "allreduce")
      costs[0][protocol] = latency[protocol] + 2 * time;
    costs[1][protocol] = 2 * latency[protocol] + time;
  }
}

std::string nameOf(int algorithm, int protocol, char between) {
  return std::string(tuner::algorithmNames[algorithm]) + between + std::string(tuner::protocolNames[protocol]);
}

} // namespace

void setLogging(bool isOn) {
  isLogging = isOn;
}

std::optional<TunerPlugin> TunerPlugin::open(const std::string &path, const std::string &nccl, std::string &error) {
  TunerPlugin plugin;
  plugin.file = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!plugin.file) {
    error = dlerror();
    return {};
  }
  const int newest = nccl == "2.27" ? 4 : nccl == "2.28" || nccl == "2.29" ? 5 : 6;
  for (int version = newest; version >= 2 && plugin.found.empty(); --version) {
    const std::string symbol = "ncclTunerPlugin_v" + std::to_string(version);
    const void *address = dlsym(plugin.file, symbol.c_str());
    if (!address)
      continue;
    plugin.found = symbol;
    if (version == 6)
      plugin.v6 = static_cast<const TunerV6 *>(address);
    if (version == 5)
      plugin.v5 = static_cast<const TunerV5 *>(address);
    if (version == 4)
      plugin.v4 = static_cast<const TunerV4 *>(address);
  }
  if (!plugin.v4 && !plugin.v5 && !plugin.v6) {
    error = path + " has no tuner plugin that NCCL " + nccl + " and this program know";
    return {};
  }
  return plugin;
}

TunerPlugin::TunerPlugin(TunerPlugin &&other) noexcept
    : file(std::exchange(other.file, nullptr)), found(std::move(other.found)), v4(other.v4), v5(other.v5),
      v6(other.v6) {}

TunerPlugin::~TunerPlugin() {
  if (file)
    dlclose(file);
}

const char *TunerPlugin::name() const {
  return v6 ? v6->name : v5 ? v5->name : v4->name;
}

void *TunerPlugin::init(size_t ranks, size_t nodes) const {
  void *context = nullptr;
  if (v4)
    demandSuccess(v4->init(ranks, nodes, log, &context), "init");
  else
    demandSuccess((v6 ? v6->init : v5->init)(&context, 7, ranks, nodes, log, nullptr, nullptr), "init");
  return context;
}

GetCollInfo TunerPlugin::getCollInfo() const {
  return v6 ? v6->getCollInfo : v5 ? v5->getCollInfo : v4->getCollInfo;
}

void TunerPlugin::finalize(void *context) const {
  demandSuccess((v6 ? v6->finalize : v5 ? v5->finalize : v4->destroy)(context), "finalize");
}

std::string Communicator::run(const std::string &collective, uint64_t bytes,
                              const std::vector<std::string> &without) const {
  Costs costs;
  fillCosts(collective, bytes, costs);
  for (int algorithm = 0; algorithm < algorithmCount; ++algorithm)
    for (int protocol = 0; protocol < protocolCount; ++protocol)
      if (std::find(without.begin(), without.end(), nameOf(algorithm, protocol, '/')) != without.end())
        costs[algorithm][protocol] = ignored;
  const auto *name = std::find(std::begin(tuner::collectiveNames), std::end(tuner::collectiveNames), collective);
  int channels = 0;
  demandSuccess(plugin.getCollInfo()(context, static_cast<int>(name - tuner::collectiveNames), bytes, 1,
                                     reinterpret_cast<float **>(costs), algorithmCount, protocolCount, 0, &channels),
                "getCollInfo");
  int chosen = -1;
  const float *all = &costs[0][0];
  for (int i = 0; i < algorithmCount * protocolCount; ++i)
    if (all[i] != ignored && all[i] >= 0 && (chosen < 0 || all[i] < all[chosen]))
      chosen = i;
  return collective + " " + std::to_string(bytes) + ": " + nameOf(chosen / protocolCount, chosen % protocolCount, ' ') +
         (channels == 0 ? "" : " on " + std::to_string(channels) + " channels");
}

} // namespace gc3::test
