// SPDX-License-Identifier: Apache-2.0
#include "ucx/Library.h"

#include <dlfcn.h>
#include <string>

namespace gc3::ucx {

using core::Outcome;
using core::Result;

namespace {

constexpr const char *fileName = "libucp.so.0";

/// Finds a function in UCX or in the libraries that it needs. Sets `missing` if there is none.
template <typename Function>
void find(void *handle, const char *name, Function &function, const char *&missing) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (!function)
    missing = name;
}

Result<Library> load() {
  void *const handle = ::dlopen(fileName, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *const reason = ::dlerror();
    return Outcome{gc3SystemError, std::string("can't load UCX (Debian's libucx0): ") + (reason ? reason : "")};
  }
  Library found{};
  const char *missing = nullptr;
  find(handle, "ucp_config_read", found.readConfig, missing);
  find(handle, "ucp_config_modify", found.modifyConfig, missing);
  find(handle, "ucp_config_release", found.releaseConfig, missing);
  find(handle, "ucp_init_version", found.init, missing);
  find(handle, "ucp_cleanup", found.cleanUp, missing);
  find(handle, "ucp_worker_create", found.createWorker, missing);
  find(handle, "ucp_worker_destroy", found.destroyWorker, missing);
  find(handle, "ucp_worker_get_address", found.getAddress, missing);
  find(handle, "ucp_worker_release_address", found.releaseAddress, missing);
  find(handle, "ucp_worker_get_efd", found.getEvent, missing);
  find(handle, "ucp_worker_arm", found.arm, missing);
  find(handle, "ucp_worker_progress", found.progress, missing);
  find(handle, "ucp_worker_set_am_recv_handler", found.setHandler, missing);
  find(handle, "ucp_ep_create", found.connect, missing);
  find(handle, "ucp_ep_close_nbx", found.closeConnection, missing);
  find(handle, "ucp_am_send_nbx", found.send, missing);
  find(handle, "ucp_request_check_status", found.statusOf, missing);
  find(handle, "ucp_request_free", found.freeRequest, missing);
  find(handle, "ucs_status_string", found.describe, missing);
  if (missing)
    return Outcome{gc3SystemError,
                   std::string("the installed UCX is too old: ") + fileName + " has no function " + missing};
  return found;
}

} // namespace

const Result<Library> &library() {
  static const Result<Library> loaded = load();
  return loaded;
}

} // namespace gc3::ucx
