// SPDX-License-Identifier: Apache-2.0
// Times the host's work for a call on a GPU before the kernel is launched, with a fake CUDA runtime. The host selects
// the program and plans the call. Times planning for one rank, as if each rank had a GPU, and for all ranks, as if they
// shared one. Also times the same calls on the host executor. Repeats each measurement with a different count in every
// call, and with the same count in every call. Usage: bench-planning BUNDLE...
#include "FakeCuda.h"
#include "cuda/Options.h"
#include "cuda/Runner.h"
#include "gc3.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace gc3;

namespace {

constexpr uint64_t count = 1 << 16;
constexpr int samples = 9, callsPerSample = 400;

void check(const core::Outcome &outcome) {
  if (outcome.ok())
    return;
  std::fprintf(stderr, "bench-planning: %s\n", outcome.text.c_str());
  std::exit(1);
}

/// Returns the microseconds of one call: the median of samples. `call` gets a different number each time.
template <typename Function>
double microseconds(Function call) {
  std::vector<double> times;
  uint64_t number = 0;
  for (int s = 0; s < samples; ++s) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < callsPerSample; ++i)
      call(number++);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    times.push_back(time.count() / callsPerSample);
  }
  std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
  return times[samples / 2];
}

/// Plans calls of some ranks of a program.
class Planned {
public:
  Planned(const core::LoadedProgram &loaded, core::RankRange ranks) : loaded(loaded) {
    check(runner.prepare());
    cuda::SlotNeeds needs;
    needs.add(*loaded.program);
    needs.connections = loaded.program->connections().size();
    const auto protocol = static_cast<kernel::Protocol>(loaded.program->info().protocol());
    const cuda::GpuProgram::Terms terms{ranks, cuda::chooseSlots(protocol, needs, {}), cuda::fewestThreads};
    program = std::make_unique<cuda::GpuProgram>(test::FakeCuda::table(), runner.limits(), loaded, terms,
                                                 cuda::interpretersOf(test::FakeCuda::table()));
    check(program->reserve(false));
    requests.resize(ranks.size());
  }

  void plan(uint64_t elements) {
    // The buffers are never accessed.
    auto *const buffers = reinterpret_cast<std::byte *>(uint64_t{1} << 44);
    const uint64_t apart = uint64_t{1} << 40;
    for (size_t i = 0; i < requests.size(); ++i) {
      core::Request &request = requests[i];
      request.name = loaded.program->info().collective()->string_view();
      request.count = elements;
      request.send = buffers + 2 * i * apart;
      request.recv = buffers + (2 * i + 1) * apart;
    }
    cuda::Runner::Plan plan;
    check(runner.plan(*program, {}, requests, 0, plan));
  }

private:
  const core::LoadedProgram &loaded;
  cuda::Runner runner{test::FakeCuda::table(), 0, true};
  std::unique_ptr<cuda::GpuProgram> program;
  std::vector<core::Request> requests;
};

void printPlans(const core::LoadedProgram &loaded, core::RankRange ranks) {
  Planned planned(loaded, ranks);
  planned.plan(count + samples * callsPerSample); // allocates memory before the timed calls
  const double fresh = microseconds([&](uint64_t number) { planned.plan(count + number); });
  const double again = microseconds([&](uint64_t) { planned.plan(count); });
  std::printf(" %10.2f %10.2f", fresh, again);
}

/// Calls on the host executor. One thread makes the calls of all ranks, in the order of the ranks.
class HostCalls {
public:
  HostCalls(gc3Bundle_t bundle, const core::Program &program) : name(program.info().name()->str()) {
    comms.resize(program.ranks());
    gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
    config.allowUnproven = 1;
    check({gc3HostCommInitAll(comms.data(), static_cast<int>(comms.size()), bundle, &config), "no communicators"});
    for (size_t i = 0; i < 2 * comms.size(); ++i)
      buffers.emplace_back(comms.size() * most);
  }
  ~HostCalls() {
    for (gc3Comm_t comm : comms)
      gc3CommDestroy(comm);
  }
  HostCalls(const HostCalls &) = delete;
  HostCalls &operator=(const HostCalls &) = delete;

  void call(size_t elements) {
    gc3GroupStart();
    for (size_t r = 0; r < comms.size(); ++r)
      gc3RunProgram(comms[r], name.c_str(), buffers[2 * r].data(), buffers[2 * r + 1].data(), elements, gc3Float32,
                    gc3Max, nullptr);
    check({gc3GroupEnd(), gc3GetLastError(nullptr)});
  }

  static constexpr size_t few = 64, most = few + 128;

private:
  const std::string name;
  std::vector<gc3Comm_t> comms;
  std::vector<std::vector<float>> buffers;
};

void printHost(gc3Bundle_t bundle, const core::Program &program) {
  HostCalls calls(bundle, program);
  const size_t different = HostCalls::most - HostCalls::few; // more counts than the executor keeps prepared calls
  const double fresh = microseconds([&](uint64_t number) { calls.call(HostCalls::few + number % different); });
  const double again = microseconds([&](uint64_t) { calls.call(HostCalls::few); });
  std::printf(" %10.2f %10.2f", fresh, again);
}

void measure(gc3Bundle_t bundle, core::Selection &selection, const bundle::fbs::Program &info) {
  core::Request request;
  request.kind = core::CallKind::Collective;
  request.name = info.collective()->string_view();
  request.count = count;
  const core::Result<const core::LoadedProgram *> selected = selection.select(request);
  check(selected.outcome());
  const core::LoadedProgram &loaded = **selected;
  const double select = microseconds([&](uint64_t) { check(selection.select(request).outcome()); });
  std::printf("%-28s %5u %6zu %8.2f", loaded.program->info().name()->c_str(), info.ranks(),
              loaded.program->connections().size(), select);
  printHost(bundle, *loaded.program);
  printPlans(loaded, {0, 1});
  if (info.ranks() <= kernel::maxRanksPerLaunch)
    printPlans(loaded, {0, info.ranks()});
  std::printf("\n");
}

} // namespace

int main(int argc, char **argv) {
  test::FakeCuda fake;
  fake.threadsPerMultiprocessor = 1 << 20; // so that every program fits
  std::printf("%-28s %5s %6s %8s %10s %10s %10s %10s %10s %10s   (us)\n", "program", "ranks", "conns", "select", "host",
              "again", "one rank", "again", "all ranks", "again");
  for (int i = 1; i < argc; ++i) {
    std::unique_ptr<bundle::BundleFile> file;
    check(core::toOutcome(bundle::BundleFile::open(argv[i]).moveTo(file)));
    core::Selection selection(*file, file->program(0).ranks(), true);
    gc3Bundle_t bundle = nullptr;
    check({gc3BundleLoad(&bundle, argv[i]), gc3GetLastError(nullptr)});
    measure(bundle, selection, file->program(0));
    gc3BundleFree(bundle);
  }
}
