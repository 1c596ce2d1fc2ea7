// SPDX-License-Identifier: Apache-2.0
// What is behind the handles of gc3.h, and how errors leave the library.
#pragma once

#include "api/Backend.h"
#include "bundle/BundleFile.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

/// A loaded bundle.
struct gc3Bundle {
  std::shared_ptr<const gc3::bundle::BundleFile> file;
};

/// One rank.
struct gc3Comm {
  std::shared_ptr<gc3::api::Backend> backend;
  uint32_t rank;
  std::string lastError{};
  std::mutex noting{};                                        ///< guards it
  std::unordered_map<int, gc3::core::PreMulSum> operations{}; ///< that the user has made
  std::atomic<uint32_t> uses{1};                              ///< the user's, and those of calls under way
};

namespace gc3::api {

/// Keeps a handle, or null: it may be aborted while a call is under way, and is freed when that has returned.
class Use {
public:
  explicit Use(gc3Comm *comm) : comm(comm) {
    if (comm)
      ++comm->uses;
  }
  Use(Use &&other) noexcept : comm(std::exchange(other.comm, nullptr)) {}
  ~Use() { end(comm); }
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;
  gc3Comm *operator->() const { return comm; }
  gc3Comm *get() const { return comm; }

  static void end(gc3Comm *comm) {
    if (comm && --comm->uses == 0)
      delete comm;
  }

private:
  gc3Comm *comm;
};

/// Notes the text for gc3GetLastError, on the communicator where there is one and for the thread, and returns the code.
gc3Result_t report(gc3Comm *comm, const core::Outcome &outcome);
gc3Result_t report(gc3Comm *comm, gc3Result_t code, const char *text);

/// As report, for a call that is refused before it is noted: the thread's group, if there is one, then fails as a
/// whole.
gc3Result_t refuse(gc3Comm *comm, gc3Result_t code, const char *text);

/// Runs `body`, which returns an Outcome, so that no exception leaves it.
template <typename Body>
gc3Result_t guarded(gc3Comm *comm, Body body) {
  const Use use(comm);
  try {
    return report(comm, body());
  } catch (const std::bad_alloc &) {
    return report(comm, gc3SystemError, "out of memory");
  } catch (const std::exception &error) {
    return report(comm, gc3InternalError, error.what());
  } catch (...) {
    return report(comm, gc3InternalError, "unknown exception");
  }
}

/// What `op` means on the communicator, if the user has made it there.
void resolve(const gc3Comm &comm, gc3RedOp_t op, core::Request &request);

/// A call on one communicator: at once, or noted when the thread is in a group. `request.name` may go away when it
/// returns.
gc3Result_t enqueue(gc3Comm *comm, const core::Request &request);

} // namespace gc3::api
