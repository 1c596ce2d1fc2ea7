// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

namespace gc3::nccl {

/// Set when a communicator is aborted, also while an engine takes it on: nothing of it may be touched any more.
using AbortFlag = std::shared_ptr<std::atomic<bool>>;

} // namespace gc3::nccl
