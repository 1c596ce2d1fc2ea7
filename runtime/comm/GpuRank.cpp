// SPDX-License-Identifier: Apache-2.0
#include "comm/GpuRank.h"

#include <thread>

namespace gc3::comm {

using core::Outcome;
using cuda::OnDevice;

GpuRank::GpuRank(const Setup &setup, ChildCommunicator &child, UserWindows &userWindows)
    : setup(setup), cuda(setup.drivers.cuda), nccl(setup.drivers.nccl), child(child), userWindows(userWindows),
      runner(cuda, setup.options.timeoutMs, setup.options.mixesGraphs) {}

std::string GpuRank::programName(uint32_t program) const {
  return "program '" + table->entry(program).name() + "'";
}

Outcome GpuRank::plan(const cuda::GpuProgram &program, const core::Shape &shape, const core::Request &request,
                      uint64_t capture, cuda::Runner::Plan &plan) {
  const OnDevice device(cuda, self.device);
  Outcome outcome = device.outcome();
  if (outcome.ok())
    outcome = runner.plan(program, shape, {&request, 1}, capture, plan);
  if (outcome.ok())
    userWindows.place(request, {rank(), team, runner.stream()}, plan);
  if (outcome.ok() && measured)
    measured->add(request, plan);
  if (outcome.ok() && capture != 0 && recorder && request.count != 0)
    recorder->planCapture(plan);
  return outcome;
}

Outcome GpuRank::enqueue(cuda::Runner::Plan &plan, cuda::Stream stream) {
  const OnDevice device(cuda, self.device);
  if (!device.outcome().ok())
    return device.outcome();
  return recorder ? recorder->enqueue(runner, plan, stream) : runner.enqueue(plan, stream);
}

void GpuRank::beginTime(cuda::CallTimes &times, uint64_t call, cuda::Stream stream) {
  if (const OnDevice device(cuda, self.device); device.outcome().ok())
    times.begin(call, stream);
}

void GpuRank::endTime(cuda::CallTimes &times, uint64_t call, cuda::Stream stream) {
  if (const OnDevice device(cuda, self.device); device.outcome().ok())
    times.end(call, stream);
}

void GpuRank::releaseNccl() {
  if (measured)
    measured->collect();
  if (recorder)
    recorder->collect();
  deviceComm = DeviceComm();
  windows.clear();
}

void GpuRank::awaitIdle() {
  for (core::Result<bool> idle = false; (idle = isIdle()).ok() && !*idle;)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  if (recorder)
    recorder->collect();
}

void GpuRank::forgetNccl() {
  if (loading)
    loading->window.forget();
  deviceComm.forget();
  for (Window &window : windows)
    window.forget();
}

} // namespace gc3::comm
