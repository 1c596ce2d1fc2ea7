// SPDX-License-Identifier: Apache-2.0
// The bytes that exchangers send to each other after the greetings. They come from a network, so the function that
// reads them checks everything. All functions are pure.
#pragma once

#include "net/Greeting.h"
#include "select/Exchange.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace gc3::net {

/// Rank 0 sends it when an exchange can't end.
struct Failure {
  std::string text;
};

/// A call of a rank waits for this exchange. So all ranks send their messages up to this exchange without the times
/// that they do not know.
struct Hurry {};

/// A call of a rank has stalled. So rank 0 compares the choices of all ranks.
struct Compare {};

/// Rank 0 asks each rank for the number of its calls, and for the digest of the choices of its first `asked` calls.
struct Question {
  uint64_t asked = 0;
};
struct Answer {
  uint64_t asked = 0;
  uint64_t calls = 0;   ///< of the rank; 0: its log does not go back to the calls of the question
  uint64_t choices = 0; ///< digest; 0 if the rank does not know it
};
/// The end of a comparison.
struct Verdict {
  std::string difference; ///< names the ranks whose choices differ; empty if none is known
};

/// What a rank sends after the greetings. Ranks send messages, hurries, wishes to compare and answers. Rank 0 sends
/// results, failures, hurries, questions and verdicts.
struct Frame {
  uint64_t exchange = 0; ///< its number, from 0; 0 in the frames of a comparison
  std::variant<select::Message, select::Exchange, Failure, Hurry, Compare, Question, Answer, Verdict> content;
};

/// Limit on the texts of errors; writeFrame() cuts the rest off.
inline constexpr size_t mostTextBytes = 512;
inline constexpr size_t mostFrameBytes = 1024;

/// Returns at most mostFrameBytes bytes.
std::vector<uint8_t> writeFrame(const Frame &frame);

struct ReadFrame {
  enum class State : uint8_t { Whole, Partial, Damaged };
  State state = State::Partial;
  size_t bytes = 0; ///< of the frame, if it is whole
  Frame frame;
};

/// Reads the first frame. `Partial` means that more bytes are necessary; mostFrameBytes bytes are always enough.
ReadFrame readFrame(Bytes bytes);

} // namespace gc3::net
