// SPDX-License-Identifier: Apache-2.0
// The objects to which the handles of gc3.h point, and the conversion of errors to result codes.
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
  std::mutex errorMutex{};                                    ///< guards lastError
  std::unordered_map<int, gc3::core::PreMulSum> operations{}; ///< reductions that the application has created
  std::atomic<uint32_t> uses{1}; ///< number of users: the handle, and each running or deferred call
};

namespace gc3::api {

/// Keeps the object of a handle as long as a call uses it. If the application aborts the handle during the call, the
/// call's end frees the object. The handle can be null.
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

/// Stores an error's text for gc3GetLastError: as the last error of the thread, and of the communicator unless `comm`
/// is null. Returns the code.
gc3Result_t report(gc3Comm *comm, const core::Outcome &outcome);
gc3Result_t report(gc3Comm *comm, gc3Result_t code, const char *text);

/// Like report(), for a call that is refused before it is deferred. If the thread has an open group, the whole group
/// fails.
gc3Result_t refuse(gc3Comm *comm, gc3Result_t code, const char *text);

/// Runs `body`, which returns an Outcome, and converts exceptions to errors.
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

/// If the application has created operation `op` on the communicator, sets the request's operation and factor.
void resolve(const gc3Comm &comm, gc3RedOp_t op, core::Request &request);

/// Runs a call on one communicator at once, or defers it if the thread has an open group. `request.name` may become
/// invalid after this function returns.
gc3Result_t enqueue(gc3Comm *comm, const core::Request &request);

} // namespace gc3::api
