// SPDX-License-Identifier: Apache-2.0
// What must hold for anything that a process of another host sends. The fuzzer checks it, and so does a unit test,
// which changes bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gc3::test {

/// Passes the bytes to a host::Transport as what another process has sent: frames of a length of one byte, a header
/// (host::HeaderImage), and data. A frame has the right token if its own is 0. Between the frames, a rank enters calls
/// and reads its messages. Returns the property that does not hold, or an empty string. Increments `accepted` for each
/// message and announcement that is accepted.
std::string checkTransport(std::span<const uint8_t> bytes, uint32_t &accepted);

} // namespace gc3::test
