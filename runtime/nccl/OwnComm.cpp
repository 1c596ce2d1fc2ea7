// SPDX-License-Identifier: Apache-2.0
#include "nccl/OwnComm.h"

#include "log/Log.h"
#include "nccl/Installed.h"

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace gc3::nccl {

void OwnComm::leave() {
  Comm unused = nullptr;
  {
    std::lock_guard lock(mutex);
    if (std::exchange(exists, false))
      unused = *comm;
  }
  if (unused)
    callInstalled<Function::CommDestroy>(unused);
}

static void tellOfWaiting(uint32_t ms, const char *question) {
  log::tellOnce("after " + std::to_string(ms) + " ms NCCL waits for other ranks of a communicator that does not block" +
                question);
}

Result OwnComm::ask(Result &state) const {
  std::lock_guard lock(mutex);
  return isAborted() ? Result::InvalidUsage : callInstalled<Function::CommGetAsyncError>(parent, &state);
}

Result OwnComm::askOwn(Result &state) const {
  std::lock_guard lock(mutex);
  state = Result::Success;
  return exists ? callInstalled<Function::CommGetAsyncError>(*comm, &state) : Result::Success;
}

/// What becomes of the parent's state where that is InProgress.
Result OwnComm::settle(Result state, const char *question) const {
  using std::chrono::milliseconds;
  const auto begun = std::chrono::steady_clock::now();
  bool isTold = patience.tellMs == 0;
  while (state == Result::InProgress) {
    if (isAborted())
      return Result::InvalidUsage;
    if (const Result asked = ask(state); asked != Result::Success)
      return asked;
    if (state != Result::InProgress)
      break;
    const auto waited = std::chrono::steady_clock::now() - begun;
    const bool isOver = patience.endMs != 0 && waited > milliseconds(patience.endMs);
    if (isOver || (!isTold && waited > milliseconds(patience.tellMs))) {
      tellOfWaiting(isOver ? patience.endMs : patience.tellMs, question);
      isTold = true;
    }
    if (isOver)
      return state;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return state;
}

/// NCCL 2.14's fields are enough; the others get their defaults. A split of a parent that does not block is Success at
/// once, but not done: only the parent's state says so.
Result OwnComm::begin(int rank) {
  std::unique_lock lock(mutex);
  if (isAborted())
    return Result::InvalidUsage;
  if (parentMayBlock) // until all ranks have come, or its abort
    lock.unlock();
  Config blocking{.size = sizeof(Config), .magic = configMagic, .version = configVersion, .blocking = 1};
  const Result result = callInstalled<Function::CommSplit>(parent, 0, rank, comm.get(), &blocking);
  return result == Result::Success ? Result::InProgress : result;
}

static void keepForEver(std::unique_ptr<Comm> comm) {
  static auto &all = *new std::vector<std::unique_ptr<Comm>>;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  all.push_back(std::move(comm));
}

Result OwnComm::make(int rank) {
  const Result result = settle(begin(rank), "; is gc3, with the same bundles, on all of them?");
  std::lock_guard lock(mutex);
  *aborted = isAborted() || result == Result::InProgress;
  exists = result == Result::Success && *comm;
  if (!isAborted())
    return result == Result::Success && !exists ? Result::InternalError : result;
  if (exists)
    end();
  else
    keepForEver(std::move(comm)); // NCCL may yet write it
  return Result::InvalidUsage;
}

Comm OwnComm::get() const {
  std::lock_guard lock(mutex);
  return exists ? *comm : nullptr;
}

void OwnComm::abort() {
  std::lock_guard lock(mutex);
  *aborted = true;
  end();
}

void OwnComm::end() {
  if (!std::exchange(exists, false))
    return;
  try {
    std::thread([own = *comm] {
      const Inside inside;
      callInstalled<Function::CommAbort>(own);
    }).detach();
  } catch (const std::system_error &) { // then what waits there ends with the process
  }
}

} // namespace gc3::nccl
