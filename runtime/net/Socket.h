// SPDX-License-Identifier: Apache-2.0
// What all parts of the exchanger do with Asio.
#pragma once

#include "core/Result.h"
#include "net/Endpoint.h"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <string>

namespace gc3::net {

using Tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;

/// Makes the socket send small messages at once. Programs that this process starts don't inherit it. Ignores errors.
void prepare(Tcp::socket &socket);

/// Moves an open socket to another context. Throws asio::system_error.
Tcp::socket moveTo(asio::io_context &context, Tcp::socket &socket);

asio::ip::address toAsio(const Address &address);

/// Runs handlers until `isDone()`. Returns gc3Timeout at the deadline, without a text. Polls `checkInterruption` every
/// 20 ms, and returns its error. Throws what handlers throw.
core::Outcome runUntil(asio::io_context &context, const std::function<bool()> &isDone, Clock::time_point deadline,
                       const std::function<core::Outcome()> &checkInterruption);

} // namespace gc3::net
