// SPDX-License-Identifier: Apache-2.0
// The objects of gc3.h's handles, and the conversion of errors to result codes.
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
  std::atomic<uint32_t> uses{1};                              ///< one for the handle, and one for each running call
};

namespace gc3::api {

/// Keeps a handle's object, or null: the handle can be aborted during a call, and the object is freed after that call.
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

/// Stores the text for gc3GetLastError, for the thread and for the communicator unless it is null. Returns the code.
gc3Result_t report(gc3Comm *comm, const core::Outcome &outcome);
gc3Result_t report(gc3Comm *comm, gc3Result_t code, const char *text);

/// Like report(), for a call that is refused before it is deferred. If the thread is in a group, the whole group fails.
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

/// Sets the request's operation and factor if the application has created `op` on the communicator.
void resolve(const gc3Comm &comm, gc3RedOp_t op, core::Request &request);

/// Runs a call on one communicator at once, or defers it if the thread is in a group. `request.name` need not stay
/// valid after the return.
gc3Result_t enqueue(gc3Comm *comm, const core::Request &request);

} // namespace gc3::api
