// SPDX-License-Identifier: Apache-2.0
// The functions of UCX that gc3 uses. A process loads UCX at the first use: gc3's libraries depend only on the C
// library, so that a process without UCX can load them.
#pragma once

#include "core/Result.h"

#include <ucp/api/ucp.h>

namespace gc3::ucx {

struct Library {
  decltype(&::ucp_config_read) readConfig;
  decltype(&::ucp_config_modify) modifyConfig;
  decltype(&::ucp_config_release) releaseConfig;
  decltype(&::ucp_init_version) init;
  decltype(&::ucp_cleanup) cleanUp;
  decltype(&::ucp_worker_create) createWorker;
  decltype(&::ucp_worker_destroy) destroyWorker;
  decltype(&::ucp_worker_get_address) getAddress;
  decltype(&::ucp_worker_release_address) releaseAddress;
  decltype(&::ucp_worker_get_efd) getEvent;
  decltype(&::ucp_worker_arm) arm;
  decltype(&::ucp_worker_progress) progress;
  decltype(&::ucp_worker_set_am_recv_handler) setHandler;
  decltype(&::ucp_ep_create) connect;
  decltype(&::ucp_ep_close_nbx) closeConnection;
  decltype(&::ucp_am_send_nbx) send;
  decltype(&::ucp_request_check_status) statusOf;
  decltype(&::ucp_request_free) freeRequest;
  decltype(&::ucs_status_string) describe;
};

/// Loads UCX, once in a process. gc3SystemError: it is not installed, or too old. The library stays loaded.
const core::Result<Library> &library();

} // namespace gc3::ucx
