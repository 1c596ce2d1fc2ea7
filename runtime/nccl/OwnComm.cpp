// SPDX-License-Identifier: Apache-2.0
#include "nccl/OwnComm.h"

#include "core/Log.h"
#include "ncclapi/Installed.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace gc3::nccl {

/// NCCL's making of it, which may outlast our waiting.
struct OwnComm::Split {
  std::mutex mutex;
  Comm comm = nullptr;          ///< NCCL writes it when all ranks have come
  std::optional<Result> result; ///< none yet: the call has not returned
  std::atomic<bool> isUnderWay{false};

  void make(Comm of, int rank, const std::atomic<bool> &isUnwanted);
  bool end();
  std::optional<Result> returned() {
    std::lock_guard lock(mutex);
    return result;
  }
};

/// Ends what waits in NCCL, too. In a thread, since NCCL waits for kernels there that may hang.
static void abortAside(Comm comm) {
  try {
    std::thread([comm] {
      const Inside inside;
      callInstalled<Function::CommAbort>(comm);
    }).detach();
  } catch (const std::system_error &) { // then what waits there ends with the process
  }
}

/// NCCL 2.14's fields are enough; the others get their defaults.
void OwnComm::Split::make(Comm of, int rank, const std::atomic<bool> &isUnwanted) {
  Config blocking{.size = sizeof(Config), .magic = configMagic, .version = configVersion, .blocking = 1};
  isUnderWay = true; // before the look: who has given up looks at this
  const Result returned =
      isUnwanted ? Result::InvalidUsage : callInstalled<Function::CommSplit>(of, 0, rank, &comm, &blocking);
  std::lock_guard lock(mutex);
  result = returned;
  isUnderWay = false;
  if (isUnwanted)
    end();
}

/// It comes too late. False: it has not come yet.
bool OwnComm::Split::end() {
  const Comm made = __atomic_exchange_n(&comm, nullptr, __ATOMIC_ACQUIRE); // NCCL may be storing it
  if (made)
    abortAside(made);
  return made;
}

OwnComm::OwnComm(Comm parent, bool parentMayBlock, const Patience &patience)
    : parent(parent), parentMayBlock(parentMayBlock), patience(patience), split(std::make_shared<Split>()) {}

void OwnComm::leave() {
  std::unique_lock lock(mutex);
  const Comm unused = std::exchange(comm, nullptr);
  lock.unlock();
  if (unused)
    callInstalled<Function::CommDestroy>(unused);
}

static void tellOfWaiting(uint32_t ms, const char *question) {
  core::tellOnce("after " + std::to_string(ms) + " ms NCCL waits for other ranks of a communicator" + question);
}

Result OwnComm::ask(Result &state) const {
  std::lock_guard lock(mutex);
  return isAborted() ? Result::InvalidUsage : callInstalled<Function::CommGetAsyncError>(parent, &state);
}

Result OwnComm::askOwn(Result &state) const {
  std::lock_guard lock(mutex);
  state = Result::Success;
  return comm ? callInstalled<Function::CommGetAsyncError>(comm, &state) : Result::Success;
}

/// What becomes of what `ask` tells, where that is InProgress.
template <typename Ask>
Result OwnComm::settle(Ask ask, const char *question) const {
  using std::chrono::milliseconds;
  const auto begun = std::chrono::steady_clock::now();
  bool isTold = patience.tellMs == 0;
  for (;;) {
    Result state = Result::InProgress;
    if (const Result asked = isAborted() ? Result::InvalidUsage : ask(state); asked != Result::Success)
      return asked;
    if (state != Result::InProgress)
      return state;
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
}

Result OwnComm::settle() const {
  return settle([this](Result &state) { return ask(state); }, "");
}

/// Of a parent that blocks NCCL returns when all ranks have come: in a thread, so that we wait no longer than we want
/// to. Else at once, with a Success that only the parent's state makes true.
Result OwnComm::begin(int rank, const Engine &engine) {
  std::lock_guard lock(mutex);
  if (isAborted())
    return Result::InvalidUsage;
  if (!parentMayBlock)
    split->make(parent, rank, *aborted);
  else
    std::thread(engine.elsewhere([made = split, of = parent, rank, flag = aborted] {
      const Inside inside;
      made->make(of, rank, *flag);
    })).detach();
  return Result::Success;
}

/// NCCL may yet write to it.
static void keepForEver(std::shared_ptr<void> split) {
  static auto &all = *new std::vector<std::shared_ptr<void>>;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  all.push_back(std::move(split));
}

Result OwnComm::make(int rank, const Engine &engine) {
  if (const Result begun = begin(rank, engine); begun != Result::Success)
    return begun;
  const auto hasCome = [this](Result &state) {
    const std::optional<Result> returned = split->returned();
    if (returned == Result::Success || returned == Result::InProgress)
      return ask(state);
    state = returned.value_or(Result::InProgress);
    return Result::Success;
  };
  const Result result = settle(hasCome, "; is gc3, with the same bundles, on all of them?");
  std::lock_guard lock(mutex);
  std::lock_guard made(split->mutex);
  isGivenUp = isGivenUp || result == Result::InProgress;
  *aborted = isAborted() || isGivenUp;
  if (!isAborted()) {
    comm = result == Result::Success ? split->comm : nullptr;
    return result == Result::Success && !comm ? Result::InternalError : result;
  }
  if (!split->result || !split->end()) // else who makes the call ends it
    keepForEver(split);
  return Result::InvalidUsage;
}

Comm OwnComm::get() const {
  std::lock_guard lock(mutex);
  return comm;
}

void OwnComm::giveUp() {
  isGivenUp = true;
  abort();
}

bool OwnComm::isBeingMade() const {
  return split->isUnderWay;
}

void OwnComm::abort() {
  std::lock_guard lock(mutex);
  *aborted = true;
  if (comm)
    abortAside(std::exchange(comm, nullptr));
}

} // namespace gc3::nccl
