// SPDX-License-Identifier: Apache-2.0
#include "FakeNccl.h"
#include "tuner/Table.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace gc3::test {

using namespace tuner::abi;

namespace {

constexpr int algorithmCount = 7, protocolCount = 3;
constexpr float ignored = -1;
using Costs = float[algorithmCount][protocolCount];

std::atomic<bool> isLogging{true};

[[noreturn]] void fail(const std::string &text) {
  std::fprintf(stderr, "load-tuner: %s\n", text.c_str());
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

void log(int level, unsigned long subsystems, const char *, int, const char *format, ...) {
  if (!isLogging)
    return;
  std::array<char, 1000> text{};
  va_list values;
  va_start(values, format);
  std::vsnprintf(text.data(), text.size(), format, values);
  va_end(values);
  std::printf("%s %#lx: %s\n", level == LogWarn ? "WARN" : "INFO", subsystems, text.data());
}

void setLogging(bool isOn) {
  isLogging = isOn;
}

void demandSuccess(Result result, const char *function) {
  if (result != Result::Success)
    fail(std::string(function) + " failed");
}

PluginFile::PluginFile(const std::string &path) : file(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!file)
    fail(dlerror());
}

PluginFile::~PluginFile() {
  dlclose(file);
}

int PluginFile::find(const std::string &prefix, int newest, const void *&address) const {
  for (int version = newest; version > 0; --version)
    if (address = dlsym(file, (prefix + std::to_string(version)).c_str()); address)
      return version;
  return 0;
}

Tuner::Tuner(const PluginFile &file, const std::string &nccl) {
  const void *address = nullptr;
  const int newest = nccl == "2.27" ? 4 : nccl == "2.28" || nccl == "2.29" ? 5 : nccl == "later" ? 7 : 6;
  found = file.find("ncclTunerPlugin_v", newest, address);
  switch (found) {
  case 4: v4 = static_cast<const TunerV4 *>(address); break;
  case 5: v5 = static_cast<const TunerV5 *>(address); break;
  case 6: v6 = static_cast<const TunerV6 *>(address); break;
  default: fail("there is no tuner plugin for NCCL " + nccl);
  }
}

const char *Tuner::name() const {
  return v6 ? v6->name : v5 ? v5->name : v4->name;
}

void *Tuner::init(size_t ranks, size_t nodes) const {
  void *context = nullptr;
  if (v4)
    demandSuccess(v4->init(ranks, nodes, log, &context), "init");
  else
    demandSuccess((v6 ? v6->init : v5->init)(&context, 7, ranks, nodes, log, nullptr, nullptr), "init");
  return context;
}

GetCollInfo Tuner::getCollInfo() const {
  return v6 ? v6->getCollInfo : v5 ? v5->getCollInfo : v4->getCollInfo;
}

void Tuner::finalize(void *context) const {
  demandSuccess((v6 ? v6->finalize : v5 ? v5->finalize : v4->destroy)(context), "finalize");
}

std::string Choice::text() const {
  return collective + " " + std::to_string(bytes) + ": " + nameOf(algorithm, protocol, ' ') +
         (channels == 0 ? "" : " on " + std::to_string(channels) + " channels");
}

void Communicator::ask(const std::string &collective, uint64_t bytes, float *costs, int &channels) const {
  const auto *name = std::find(std::begin(tuner::collectiveNames), std::end(tuner::collectiveNames), collective);
  demandSuccess(tuner.getCollInfo()(context, static_cast<int>(name - tuner::collectiveNames), bytes, 1,
                                    reinterpret_cast<float **>(costs), algorithmCount, protocolCount, 0, &channels),
                "getCollInfo");
}

double Communicator::timeOf(const Choice &choice) const {
  constexpr int rounds = 1'000'000;
  Costs costs;
  fillCosts(choice.collective, choice.bytes, costs);
  int channels = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i)
    ask(choice.collective, choice.bytes, &costs[0][0], channels);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / rounds;
}

Choice Communicator::choose(const std::string &collective, uint64_t bytes,
                            const std::vector<std::string> &without) const {
  Costs costs;
  fillCosts(collective, bytes, costs);
  for (int algorithm = 0; algorithm < algorithmCount; ++algorithm)
    for (int protocol = 0; protocol < protocolCount; ++protocol)
      if (std::find(without.begin(), without.end(), nameOf(algorithm, protocol, '/')) != without.end())
        costs[algorithm][protocol] = ignored;
  Choice choice{collective, bytes};
  ask(collective, bytes, &costs[0][0], choice.channels);
  int best = -1;
  const float *all = &costs[0][0];
  for (int i = 0; i < algorithmCount * protocolCount; ++i)
    if (all[i] != ignored && all[i] >= 0 && (best < 0 || all[i] < all[best]))
      best = i;
  choice.algorithm = best / protocolCount, choice.protocol = best % protocolCount;
  return choice;
}

} // namespace gc3::test
