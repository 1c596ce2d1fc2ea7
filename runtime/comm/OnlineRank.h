// SPDX-License-Identifier: Apache-2.0
// Online selection for one rank of a communicator on GPUs (docs/selection.md, "Streams"). Each rank has its own
// selectors. All ranks compute the same choices, because they choose in the order of the communicator's calls, and
// apply the same times before the same calls.
//
// Thread-safe. The functions of a call are called between Communicator::enter() and leave(), in this order: mustWait()
// until it returns false, choose(), and timed().
#pragma once

#include "comm/ProgramTable.h"
#include "core/SequentialSelection.h"
#include "cuda/CallTimes.h"
#include "cuda/InFlight.h"
#include "net/Exchanger.h"

#include <array>
#include <memory>
#include <mutex>
#include <optional>

namespace gc3::comm {

class OnlineRank {
public:
  using Kind = core::SequentialSelection::Kind;

  struct Terms {
    core::TuneOptions options;
    core::CommunicatorShape shape;
    uint32_t rank = 0;
    select::TuneFile earlier; ///< what earlier jobs have learned; identical on all ranks
  };
  /// `cuda` and `table` must outlive this object, and `inFlight` the last call of choose(). Only rank 0 logs changes of
  /// choices. `exchanger` is connected. It is null if the options freeze the choices, because then no rank measures
  /// times.
  OnlineRank(const cuda::Cuda &cuda, ProgramTable &table, Terms terms, const cuda::InFlight &inFlight,
             std::unique_ptr<net::Exchanger> exchanger);
  /// Calls stop(). No kernel may be running, because kernels write to the memory of times().
  ~OnlineRank();
  OnlineRank(const OnlineRank &) = delete;
  OnlineRank &operator=(const OnlineRank &) = delete;

  /// Prepares times(), on the thread's current device, and starts the exchanges. Their thread uses this device, too.
  core::Outcome start();
  /// Ends the exchanges. No call may be running.
  void stop();

  /// Returns the kind of a valid request. It has no family if the arm is fixed.
  Kind find(const core::Request &request);

  /// Applies the exchanges that are due. Returns true if one of them has not ended. Returns an error if ranks have made
  /// different choices, or if an exchange can't end.
  core::Result<bool> mustWait();
  /// Returns the arm for the next call. Its program is a number of the ProgramTable. Adds the call to the log, unless
  /// choices are frozen.
  core::Arm choose(const Kind &kind, const core::Request &request);
  /// Returns the arm of a call that is not in the log, because it is captured.
  core::Arm favourite(const Kind &kind);
  /// Returns the number under which `times` measures the last chosen call; no value if its time is not needed.
  std::optional<uint64_t> timed() const { return timedCall; }
  cuda::CallTimes &times() { return callTimes; }
  /// Begins to compare the choices of all ranks, because a call has stalled. Only the first call has an effect.
  void beginComparison();
  /// Returns what the comparison has found (net::Exchanger). No value while it runs.
  std::optional<std::string> comparison() const;
  /// Removes a program that the ranks could not load from the arms.
  void exclude(uint32_t program);

  core::OnlineSelection::Counters counters();
  /// Adds what was learned to the file at `path`; null: the file of the options.
  core::Outcome save(const char *path);
  /// Saves at the end of the communicator, if this rank is to do it. Only logs an error.
  void saveAtEnd() noexcept;

private:
  select::TuneFile learned();
  uint8_t flagsOf(const select::Call &call, const core::Request &request) const;
  void beginExchange();
  bool readTimes(select::Message &message);
  net::Answer lookBack(uint64_t asked);

  const core::TuneOptions options;
  const uint32_t rank;
  std::mutex mutex; ///< guards all members below, except callTimes and exchanger, which are thread-safe
  core::SequentialSelection selection;
  select::Schedule schedule{select::streamTerms};
  std::array<uint8_t, 2 * select::Message::mostTimes> flags{}; ///< of the last calls, by number
  std::optional<uint64_t> timedCall;
  const cuda::Cuda &cuda;
  int device = 0;
  bool isOnDevice = false; ///< the exchanger's thread, which alone uses this field
  cuda::CallTimes callTimes;
  const cuda::InFlight &inFlight;
  std::unique_ptr<net::Exchanger> exchanger; ///< declared last: its thread reads callTimes
};

} // namespace gc3::comm
